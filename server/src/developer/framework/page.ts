import type { Readable } from 'node:stream';
import type { UserRole } from '@itsm-api/contract';
import type { SafeHtml } from '@remix-run/html-template';
import type * as z from 'zod';
import type { AuditChanges, AuditTarget } from '../../resources/audit/audit-entry.ts';
import type { RequestContext, UserContext } from './request-context.ts';

/*
 * The types that declare pages and forms. `plugin.ts` implements what all pages share: session, role, CSRF token,
 * tenant, audit log and errors (docs/decisions/developer-area.md).
 */

/** A request for a page, with the parsed path parameters and query. */
export interface PageRequest<Visiting extends RequestContext = UserContext, Params = unknown, Query = unknown> {
  visit: Visiting;
  params: Params;
  query: Query;
  /** The path and query of the page. The page's forms send their data to this address. */
  address: string;
  /** The submitted forms that the page shows again, by form name. */
  sent: Readonly<Record<string, FormState | undefined>>;
}

/** The values and the errors of a submitted form. */
export interface FormState {
  values: Readonly<Record<string, readonly string[]>>;
  /** Error messages by field name. */
  errors: Readonly<Record<string, string>>;
  /** The labels of the rendered fields, by field name. */
  labels?: Map<string, string>;
  /** The error message for the whole form. */
  message?: string | undefined;
  /** The data that the form shows on the page, such as a preview. */
  found?: unknown;
}

/** A rendered page. */
export interface View {
  /** The heading and the window title. */
  title: string;
  body: SafeHtml;
  /** The interval in seconds at which the page refreshes while work is pending. */
  reload?: number | undefined;
  /**
   * Whether the page has content that a reload would lose. Such a page refreshes only with the script, which doesn't
   * reload the page but replaces single elements.
   */
  shownOnce?: boolean;
  /** The confirmation message of the form that redirected the browser to this page. `plugin.ts` sets this field. */
  confirmation?: string | undefined;
}

/** A file to download. */
export interface File {
  name: string;
  type: string;
  content: string | Buffer | Readable;
  /** The size of a stream in bytes, if it is known. */
  size?: number;
}

/** A file in a submitted form. The name is empty if the user has chosen no file. */
export interface UploadedFile {
  name: string;
  type: string;
  content: Buffer;
}

export type PageResponse = View | { file: File } | { redirect: string };

/** The result of a form without errors. */
export type FormResult =
  | {
      /** The subject of the confirmation message, such as the name of the resource. */
      subject?: string | null;
      /**
       * The changed object, for the audit entry. Undefined if the functions that the form calls write the audit entry,
       * as those for users, keys, webhooks and settings do.
       */
      target?: AuditTarget;
      changes?: AuditChanges;
      /** The path to which the server redirects the browser. */
      redirect: string;
      /** A value that the target page shows only once. */
      flash?: unknown;
      /** The confirmation message on the target page. Default: the audit action as text. */
      confirmation?: string;
    }
  | {
      /**
       * The data to show on the page, if the form doesn't redirect. The functions that the form calls write its audit
       * entries.
       */
      found: unknown;
    };

export interface Form<
  Visiting extends RequestContext = UserContext,
  Params = unknown,
  Fields = unknown,
  Checked = unknown,
> {
  /**
   * The schema of the submitted fields, or a function that returns the schema for a visitor. A field is a string, or an
   * array of strings if its name occurs several times.
   */
  fields: z.ZodType<Fields> | ((visit: Visiting) => z.ZodType<Fields>);
  /** The action in the audit log, or null if the form leaves no audit entry. */
  audit: string | null;
  /** The roles that may submit the form. Default: all roles that may open the page. */
  roles?: readonly UserRole[];
  /**
   * Whether the form uploads a file, whose field is an `UploadedFile`. Other forms don't accept multipart bodies. The
   * value `attachment` applies the limits of attachments.
   */
  upload?: boolean | 'attachment';
  /**
   * Whether the form changes credentials or sessions, or erases or redacts personal data. If so, its transaction uses a
   * database role with these rights.
   */
  ofAccount?: boolean;
  /**
   * Writes an uploaded file to the storage, instead of `check`. Runs outside of the workspace's concurrency limit,
   * because the storage can be slow.
   */
  store?(request: PageRequest<Visiting, Params> & { fields: Fields }): Promise<Checked>;
  /**
   * Runs before the transaction. Use it for slow checks, and for writes that must remain if the transaction is rolled
   * back.
   */
  check?(request: PageRequest<Visiting, Params> & { fields: Fields }): Promise<Checked>;
  /**
   * Runs the form. The form and its audit entry share one transaction.
   * @throws ApiError; the page shows the details next to the fields
   */
  run(request: PageRequest<Visiting, Params> & { fields: Fields; checked: Checked }): Promise<FormResult>;
}

export interface Page<Visiting extends RequestContext = UserContext, Params = unknown, Query = unknown> {
  /** The absolute path of the page. Parameters have the format `:name`. */
  path: string;
  /** The label in the navigation. If undefined, the navigation omits the page. */
  menu?: string;
  /** The roles that may open the page. If the value is `everyone`, the page needs no session. */
  roles: readonly UserRole[] | 'everyone';
  params?: z.ZodType<Params>;
  /** Whether the parameters are in the query, because they can be longer than a path parameter. */
  hasParamsInQuery?: boolean;
  query?: z.ZodType<Query>;
  show(request: PageRequest<Visiting, Params, Query>): Promise<PageResponse>;
  forms?: Record<string, AnyForm>;
}

// biome-ignore lint/suspicious/noExplicitAny: each page in a list of pages has its own types
type PageSpecific = any;
export type AnyForm = Form<PageSpecific, PageSpecific, PageSpecific, PageSpecific>;
export type AnyPage = Page<PageSpecific, PageSpecific, PageSpecific>;

/** Returns true if users with the role may open the page or submit the form. */
export function hasRole(roles: AnyPage['roles'], role: UserRole): boolean {
  return roles === 'everyone' || roles.includes(role);
}

/** Defines a page for signed-in users with one of the given roles. */
export function page<Params, Query>(
  definition: Page<UserContext, Params, Query> & { roles: readonly UserRole[] },
): AnyPage {
  return definition;
}

/** Defines a page that needs no session. */
export function openPage<Params, Query>(definition: Omit<Page<RequestContext, Params, Query>, 'roles'>): AnyPage {
  return { ...definition, roles: 'everyone' };
}

/** Defines a form for signed-in users. `params` is the schema of the page's parameters. */
export function form<Fields, Params, Checked>(
  definition: Form<UserContext, Params, Fields, Checked> & { params?: z.ZodType<Params> },
): AnyForm {
  return definition;
}

/** Defines a form that changes the credentials or sessions of the signed-in user. */
export function accountForm<Fields, Checked>(
  definition: Omit<Form<UserContext, unknown, Fields, Checked>, 'ofAccount'>,
): AnyForm {
  return { ...definition, ofAccount: true };
}

/** Defines a form that needs no session. */
export function openForm<Fields>(definition: Omit<Form<RequestContext, unknown, Fields>, 'audit' | 'roles'>): AnyForm {
  return { ...definition, audit: null };
}
