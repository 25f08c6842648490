import type { Readable } from 'node:stream';
import type { UserRole } from '@itsm-api/contract';
import type { SafeHtml } from '@remix-run/html-template';
import type * as z from 'zod';
import type { RequestContext, UserContext } from './request-context.ts';

/*
 * Declarations of pages and forms. `plugin.ts` adds what all of them share: session, role, CSRF token, tenant, audit log and
 * errors (docs/decisions/developer-area.md).
 */

/** A request for a page, with parsed parameters. */
export interface PageRequest<Visiting extends RequestContext = UserContext, Params = unknown, Query = unknown> {
  visit: Visiting;
  params: Params;
  query: Query;
  /** The path of the page with its query, which is the target of its forms. */
  address: string;
  /** The submitted forms to render again, by form name. */
  sent: Readonly<Record<string, FormState | undefined>>;
}

/** A submitted form: its values and its errors. */
export interface FormState {
  values: Readonly<Record<string, readonly string[]>>;
  /** Error messages by field name. */
  errors: Readonly<Record<string, string>>;
  /** The labels of rendered fields, by field name. */
  labels?: Map<string, string>;
  /** The error of the form as a whole. */
  message?: string | undefined;
  /** The result of a form that changes nothing. */
  found?: unknown;
}

/** A rendered page. */
export interface View {
  /** The heading and the window title. */
  title: string;
  body: SafeHtml;
  /** The refresh interval while work is pending. Seconds. */
  reload?: number | undefined;
  /** Whether a reload loses content. Then only the script refreshes the page, which replaces single parts. */
  shownOnce?: boolean;
  /** The confirmation of the form that redirected here. `plugin.ts` sets it. */
  confirmation?: string | undefined;
}

/** A file to download. */
export interface File {
  name: string;
  type: string;
  content: string | Buffer | Readable;
}

export type PageResponse = View | { file: File } | { redirect: string };

/** The result of a form. */
export type FormResult =
  | {
      /** The subject of the audit entry. */
      subject?: string | null;
      /** The path to redirect to. */
      redirect: string;
      /** A value that the target page shows once, and not after a reload. */
      flash?: unknown;
      /** The confirmation on the target page. By default, it is derived from the audit action. */
      confirmation?: string;
    }
  | {
      /** The result of a form that changed nothing, for the page to show. */
      found: unknown;
    };

export interface Form<
  Visiting extends RequestContext = UserContext,
  Params = unknown,
  Fields = unknown,
  Checked = unknown,
> {
  /** Parses the fields: strings, or arrays of strings for repeated names. */
  fields: z.ZodType<Fields>;
  /** The audit action, or null if the form writes no audit entry. */
  audit: string | null;
  /** The roles that may send the form, if not all roles of the page. */
  roles?: readonly UserRole[];
  /** Whether the form contains a file. Only such forms accept multipart bodies. */
  upload?: boolean;
  /** Whether the form changes credentials or sessions. Its transaction then uses a database role with these permissions. */
  ofAccount?: boolean;
  /** Runs before the transaction, for slow checks and for writes that must survive a rollback. */
  check?(request: PageRequest<Visiting, Params> & { fields: Fields }): Promise<Checked>;
  /** Runs in one transaction with the audit entry. @throws ApiError whose details are shown next to the fields */
  run(request: PageRequest<Visiting, Params> & { fields: Fields; checked: Checked }): Promise<FormResult>;
}

export interface Page<Visiting extends RequestContext = UserContext, Params = unknown, Query = unknown> {
  /** The absolute path, with `:name` for parameters. */
  path: string;
  /** The label in the navigation. Pages without it are linked from other pages. */
  menu?: string;
  /** The roles that may open the page. */
  roles: readonly UserRole[] | 'everyone';
  params?: z.ZodType<Params>;
  query?: z.ZodType<Query>;
  show(request: PageRequest<Visiting, Params, Query>): Promise<PageResponse>;
  forms?: Record<string, AnyForm>;
}

// biome-ignore lint/suspicious/noExplicitAny: each page in a list of pages has its own types
type PageSpecific = any;
export type AnyForm = Form<PageSpecific, PageSpecific, PageSpecific, PageSpecific>;
export type AnyPage = Page<PageSpecific, PageSpecific, PageSpecific>;

/** Defines a page for signed-in users with one of its roles. */
export function page<Params, Query>(
  definition: Page<UserContext, Params, Query> & { roles: readonly UserRole[] },
): AnyPage {
  return definition;
}

/** Defines a page that needs no session. */
export function openPage<Params, Query>(definition: Omit<Page<RequestContext, Params, Query>, 'roles'>): AnyPage {
  return { ...definition, roles: 'everyone' };
}

/** Defines a form for signed-in users. `params` are the parameters of the page. */
export function form<Fields, Params>(
  definition: Form<UserContext, Params, Fields> & { params?: z.ZodType<Params> },
): AnyForm {
  return definition;
}

/** Defines a form that changes the credentials or the sessions of the signed-in user. */
export function accountForm<Fields, Checked>(
  definition: Omit<Form<UserContext, unknown, Fields, Checked>, 'ofAccount'>,
): AnyForm {
  return { ...definition, ofAccount: true };
}

/** Defines a form that needs no session. */
export function openForm<Fields>(definition: Omit<Form<RequestContext, unknown, Fields>, 'audit' | 'roles'>): AnyForm {
  return { ...definition, audit: null };
}
