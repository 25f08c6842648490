import type { Readable } from 'node:stream';
import type { UserRole } from '@itsm-api/contract';
import type { SafeHtml } from '@remix-run/html-template';
import type * as z from 'zod';
import type { RequestContext, UserContext } from './request-context.ts';

/*
 * The types that declare pages and forms. `plugin.ts` implements the common behavior of all pages: session, role, CSRF
 * token, tenant, audit log and errors (docs/decisions/developer-area.md).
 */

/** A request for a page, with the parsed path parameters and query. */
export interface PageRequest<Visiting extends RequestContext = UserContext, Params = unknown, Query = unknown> {
  visit: Visiting;
  params: Params;
  query: Query;
  /** The path and query of the page, which are the target of its forms. */
  address: string;
  /** The submitted forms that the page renders again, by form name. */
  sent: Readonly<Record<string, FormState | undefined>>;
}

/** The values and the errors of a submitted form. */
export interface FormState {
  values: Readonly<Record<string, readonly string[]>>;
  /** Error messages by field name. */
  errors: Readonly<Record<string, string>>;
  /** The labels of the rendered fields, by field name. */
  labels?: Map<string, string>;
  /** The error message for the form as a whole. */
  message?: string | undefined;
  /** The result of a form that only reads data, such as a preview. */
  found?: unknown;
}

/** A rendered page. */
export interface View {
  /** The heading and the window title. */
  title: string;
  body: SafeHtml;
  /** The refresh interval of the page in seconds, while work is pending. */
  reload?: number | undefined;
  /**
   * Whether the page has content that a reload would lose. If so, only the script refreshes the page, because the
   * script replaces single elements.
   */
  shownOnce?: boolean;
  /** The confirmation message of the form that redirected to this page. `plugin.ts` sets this field. */
  confirmation?: string | undefined;
}

/** A file to download. */
export interface File {
  name: string;
  type: string;
  content: string | Buffer | Readable;
}

export type PageResponse = View | { file: File } | { redirect: string };

/** The result of a form that succeeded. */
export type FormResult =
  | {
      /** The subject of the audit entry, such as the name of the resource. */
      subject?: string | null;
      /** The path to redirect the browser to. */
      redirect: string;
      /** A value that the target page shows only once. */
      flash?: unknown;
      /** The confirmation message on the target page. By default, it is the audit action as text. */
      confirmation?: string;
    }
  | {
      /** The data that the page shows, from a form that only reads. */
      found: unknown;
    };

export interface Form<
  Visiting extends RequestContext = UserContext,
  Params = unknown,
  Fields = unknown,
  Checked = unknown,
> {
  /** The schema of the submitted fields. Fields are strings, or arrays of strings for repeated names. */
  fields: z.ZodType<Fields>;
  /** The action in the audit log, or null if the form writes no audit entry. */
  audit: string | null;
  /** The roles that may submit the form. By default, all roles of the page. */
  roles?: readonly UserRole[];
  /** Whether the form uploads a file. Other forms don't accept multipart bodies. */
  upload?: boolean;
  /**
   * Whether the form changes credentials or sessions. Its transaction then uses a database role that may change them.
   */
  ofAccount?: boolean;
  /** Runs before the transaction. Use it for slow checks, and for writes that must remain after a rollback. */
  check?(request: PageRequest<Visiting, Params> & { fields: Fields }): Promise<Checked>;
  /**
   * Runs the form, in one transaction with its audit entry. @throws ApiError; the page shows its details next to the
   * fields
   */
  run(request: PageRequest<Visiting, Params> & { fields: Fields; checked: Checked }): Promise<FormResult>;
}

export interface Page<Visiting extends RequestContext = UserContext, Params = unknown, Query = unknown> {
  /** The absolute path of the page, with `:name` for parameters. */
  path: string;
  /** The label in the navigation. The navigation doesn't list pages without a label. */
  menu?: string;
  /** The roles that may open the page. `everyone` means that the page needs no session. */
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

/** Defines a page for signed-in users that have one of the given roles. */
export function page<Params, Query>(
  definition: Page<UserContext, Params, Query> & { roles: readonly UserRole[] },
): AnyPage {
  return definition;
}

/** Defines a page that needs no session. */
export function openPage<Params, Query>(definition: Omit<Page<RequestContext, Params, Query>, 'roles'>): AnyPage {
  return { ...definition, roles: 'everyone' };
}

/** Defines a form for signed-in users. `params` is the schema of the path parameters of the page. */
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
