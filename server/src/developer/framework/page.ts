import type { Readable } from 'node:stream';
import type { UserRole } from '@itsm-api/contract';
import type { SafeHtml } from '@remix-run/html-template';
import type * as z from 'zod';
import type { RequestContext, UserContext } from './request-context.ts';

/*
 * What a page of the developer area must say of itself. All that holds for every page (session, role, CSRF, the tenant, the
 * audit log, errors) is done by `area.ts` for what is declared here (docs/decisions/developer-area.md).
 */

/** What a page is asked for, and by whom. */
export interface PageRequest<Visiting extends RequestContext = UserContext, Params = unknown, Query = unknown> {
  visit: Visiting;
  params: Params;
  query: Query;
  /** The page's own address, with its query: where its forms are sent. */
  address: string;
  /** What was sent and refused, or shown, by the name of its form. */
  sent: Readonly<Record<string, FormState | undefined>>;
}

/** A form as it came back: what was typed, and what is wrong with it. */
export interface FormState {
  values: Readonly<Record<string, readonly string[]>>;
  /** By the name of the field. */
  errors: Readonly<Record<string, string>>;
  /** What fields are called by whoever sees them, as far as they were drawn. */
  labels?: Map<string, string>;
  /** What is wrong with no field in particular. */
  message?: string | undefined;
  /** What the form has found out, where it changes nothing. */
  found?: unknown;
}

/** A page to be seen. */
export interface View {
  /** What the page is about, in the title of the window and as its heading. */
  title: string;
  body: SafeHtml;
  /** Refreshes the page every this many seconds, while work is pending. */
  reload?: number | undefined;
  /** Whether it shows what is gone when it is loaded anew: then it is left to the script to look at it again. */
  shownOnce?: boolean;
  /** Confirms what the form before this page did; `area.ts` sets it. */
  confirmation?: string | undefined;
}

/** A file to download. */
export interface File {
  name: string;
  type: string;
  content: string | Buffer | Readable;
}

export type PageResponse = View | { file: File } | { redirect: string };

/** What a form has done. */
export type FormResult =
  | {
      /** What it was done to, as the audit log calls it. */
      subject?: string | null;
      /** Where the visitor goes from here. */
      redirect: string;
      /** What that page shows once, and not again when it is reloaded. */
      flash?: unknown;
      /** Confirms the change on that page, instead of the words of the audit log. */
      confirmation?: string;
    }
  | {
      /** Nothing was changed: the page is shown with this. */
      found: unknown;
    };

export interface Form<
  Visiting extends RequestContext = UserContext,
  Params = unknown,
  Fields = unknown,
  Checked = unknown,
> {
  /** What is typed: each field as text, or as texts where there are several of one name. */
  fields: z.ZodType<Fields>;
  /** What the audit log calls it; null where it changes nothing. */
  audit: string | null;
  /** Who may send it, where that is fewer than may see the page. */
  roles?: readonly UserRole[];
  /** Whether a file comes with it: no other form may be sent in parts. */
  upload?: boolean;
  /** Whether it changes how or where the visitor is signed in: its transaction has the right to, which requests have not. */
  ofAccount?: boolean;
  /** Finds out what takes long, or is kept whatever becomes of the form: before the transaction. */
  check?(asked: PageRequest<Visiting, Params> & { fields: Fields }): Promise<Checked>;
  /** Does it, within one transaction with the audit entry. @throws ApiError whose details stand beside the fields */
  run(asked: PageRequest<Visiting, Params> & { fields: Fields; checked: Checked }): Promise<FormResult>;
}

export interface Page<Visiting extends RequestContext = UserContext, Params = unknown, Query = unknown> {
  /** From `/`, with `:name` for parameters. */
  path: string;
  /** As the navigation calls it; a page without is reached from others. */
  menu?: string;
  /** Who may see it. */
  roles: readonly UserRole[] | 'everyone';
  params?: z.ZodType<Params>;
  query?: z.ZodType<Query>;
  show(asked: PageRequest<Visiting, Params, Query>): Promise<PageResponse>;
  forms?: Record<string, AnyForm>;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of pages holds each with types of its own
type Own = any;
export type AnyForm = Form<Own, Own, Own, Own>;
export type AnyPage = Page<Own, Own, Own>;

/** A page for those who are signed in, in a role. */
export function page<Params, Query>(
  definition: Page<UserContext, Params, Query> & { roles: readonly UserRole[] },
): AnyPage {
  return definition;
}

/** A page for everybody, signed in or not. */
export function openPage<Params, Query>(definition: Omit<Page<RequestContext, Params, Query>, 'roles'>): AnyPage {
  return { ...definition, roles: 'everyone' };
}

/** A form of a page for those who are signed in; `params` are those of the page. */
export function form<Fields, Params>(
  definition: Form<UserContext, Params, Fields> & { params?: z.ZodType<Params> },
): AnyForm {
  return definition;
}

/** A form by which the visitor changes how or where they are signed in. */
export function accountForm<Fields, Checked>(
  definition: Omit<Form<UserContext, unknown, Fields, Checked>, 'ofAccount'>,
): AnyForm {
  return { ...definition, ofAccount: true };
}

/** A form of a page for everybody. */
export function openForm<Fields>(definition: Omit<Form<RequestContext, unknown, Fields>, 'audit' | 'roles'>): AnyForm {
  return { ...definition, audit: null };
}
