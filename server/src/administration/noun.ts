import type { PageQuery } from '@itsm-api/contract';
import type * as z from 'zod';
import type { AuditTarget } from '../resources/audit/audit-entry.ts';
import type { CsvColumns } from '../resources/csv/csv-columns.ts';
import type { Importable } from '../resources/csv/csv-import.ts';
import type { Context } from '../resources/shared/context.ts';
import type { Page } from '../resources/shared/lists.ts';
import type { Rows } from '../resources/sync/change-feed.ts';

/*
 * The types of nouns that administrators manage. The command line and the developer area derive the commands and the
 * pages of a noun from its declaration, which contains the words for people. The types of the declaration come from the
 * schemas of the contract, so a wrong name of a field doesn't compile.
 *
 * Except for assets, only the command line and the developer area create and update these nouns, because API v1 has no
 * endpoints for it. The same applies to users and articles, which have no declaration.
 */

type NameOf<Schema extends z.ZodType> = keyof z.output<Schema> & string;

/** The words for a field in forms and in the help of the command line. */
export interface Field {
  label: string;
  /** The explanation of the option or argument. */
  about?: string;
  /** The syntax of the option, such as `--members <users>`. Default: derived from the name and the schema. */
  option?: string;
  /** The resource whose ids or email addresses completions suggest. */
  suggest?: 'users' | 'teams' | 'categories';
  /** The explanation in the form. */
  hint?: string;
  /** The height of the text area. Undefined if the field has a single line. */
  lines?: number;
  isDate?: boolean;
  /** The value of a new row, if the request contains none. */
  fallback?: string;
}

/** The style of a cell. With `entries`, each entry of an object is a line of its own. */
export type CellStyle = 'status' | 'time' | 'user' | 'warning' | 'entries';

/** A column of a list, or a line of the details of a row: a field, or a text that is derived from the row. */
export type Column<R extends z.ZodType = z.ZodObject> =
  | NameOf<R>
  | readonly [name: NameOf<R>, title: string, style?: CellStyle]
  | { title: string; style?: CellStyle; cell(row: z.output<R>): unknown };

/** Converts between the text that people type and the value in requests. `converter` creates it. */
export interface Converter<Row, Value> {
  schema: z.ZodType;
  /** @throws ApiError INVALID_REFERENCE */
  toValue(context: Context, typed: unknown): Value | Promise<Value>;
  toText(context: Context, row: Row): string | Promise<string>;
  /** Returns the lines that the form of a row offers as checkboxes, or undefined if there are too many. */
  choices?(context: Context, row: Row | undefined): Promise<readonly { value: string; label: string }[] | undefined>;
}

/** The functions that read and write a noun. The endpoints use the same functions. */
export interface Operations<
  R extends z.ZodObject = z.ZodObject,
  N extends z.ZodObject = z.ZodObject,
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  Key = z.output<R>,
> {
  list(context: Context, query: z.output<Q> & PageQuery): Promise<Page<z.output<R>>>;
  get(context: Context, key: Key): Promise<z.output<R>>;
  create(context: Context, input: z.output<N>): Promise<z.output<R>>;
  update(context: Context, key: Key, patch: z.output<P>): Promise<z.output<R>>;
  converters?: { readonly [Name in NameOf<N>]?: Converter<z.output<R>, z.output<N>[Name]> };
  /** The functions of exports and of the change feed. */
  rows?: Rows<z.output<R> & { id: number }>;
  /** Calls a function with the CSV format of imports. */
  csv?<Result>(use: <Line extends object, Input>(csv: Importable<Line, Input>) => Result): Result;
}

export type Verb = 'list' | 'show' | 'create' | 'update' | 'deactivate' | 'activate';

/** Words in the help of a command. Examples begin after the verb, and omit the tenant. */
interface VerbWords {
  summary?: string;
  details?: string;
  examples?: readonly string[];
}

/** The declaration of a noun. R, N, P and Q are the schemas of a row, a new row, a patch and the query of the list. */
export interface NounDeclaration<
  R extends z.ZodObject = z.ZodObject,
  N extends z.ZodObject = z.ZodObject,
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  K extends NameOf<R> = NameOf<R>,
> {
  /** The name in the addresses of pages. */
  path: string;
  /** Names for people, such as `ticket category` and `ticket categories`. */
  one: string;
  /** The name in sentences about one row, such as `category`. Default: `one`. */
  shortOne?: string;
  many: string;
  /** The type of the target in the audit log. */
  audit: AuditTarget['type'];
  /** Whether forms write the audit entries, because the operations write none. */
  isAuditedByForms?: boolean;
  schemas: { row: R; create: N; update: P; query: Q };
  /** The fields that identify a row. If a request can't set them, the server assigns them. */
  key: readonly K[];
  /** A key for examples, such as `3`. */
  example: string;
  /** The fields that name a row, such as `OFFICE, New office`. */
  title: readonly NameOf<R>[];
  /** All fields of requests, in the order of the forms. */
  fields: Readonly<Record<NameOf<N> | NameOf<P>, Field>>;
  /** Returns true if the form of a row shows the field. Default: always. */
  isShown?(row: z.output<R>, name: NameOf<N> | NameOf<P>): boolean;
  /** Whether the developer area defines the pages with forms, because they are more than the fields of the noun. */
  hasOwnForms?: boolean;
  /** The columns of the command `list`, of the page that lists rows, and the lines of `show` and of the page of a row. */
  table: readonly Column<R>[];
  list: readonly Column<R>[];
  card?: readonly Column<R>[];
  facts?: readonly Column<R>[];
  /** Users who belong to a row. Its page links to them. */
  people?: { title: string; ids(row: z.output<R>): readonly number[] };
  order: string;
  /** Whether a list has at most 100 rows, so that it needs no pages. */
  isShort?: boolean;
  /** The fields that the search covers. Undefined if the list has no search. */
  search?: string;
  filters?: readonly NameOf<Q>[];
  /** The text above the list. */
  lead: string;
  verbs?: Partial<Record<Verb, VerbWords>>;
  /** Returns the end of the sentence that reports a created or updated row, such as `with 2 members`. */
  outcome?(row: z.output<R>, verb: 'create' | 'update'): string;
  /** Returns the verb that users run after `create`. */
  next?(row: z.output<R>): Verb | undefined;
  /** Returns the changes that activate or deactivate a row. Default: changes of the field `active`. */
  activation?(row: z.output<R>, verb: 'activate' | 'deactivate'): z.output<P>;
  /** Calls a function with the columns of CSV files. Undefined if the noun has no imports. */
  csvColumns?<Result>(use: <Line extends object>(columns: CsvColumns<Line>) => Result): Result;
  /** Loads the operations on demand, because their modules load slowly. */
  load(): Promise<Operations<R, N, P, Q, Pick<z.output<R>, K>>>;
}

/** Checks the declaration of a noun against its schemas. */
export function declareNoun<
  R extends z.ZodObject,
  N extends z.ZodObject,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  K extends NameOf<R>,
>(noun: NounDeclaration<R, N, P, Q, K>): NounDeclaration {
  return noun;
}

/** Returns the operations of a noun whose rows have an id, from functions that take the id. */
export function administered<Id, Row, Patch, Others extends object>(
  functions: Others & {
    get(context: Context, id: Id): Promise<Row>;
    update(context: Context, id: Id, patch: Patch): Promise<Row>;
  },
) {
  return {
    ...functions,
    get: (context: Context, { id }: { id: Id }) => functions.get(context, id),
    update: (context: Context, { id }: { id: Id }, patch: Patch) => functions.update(context, id, patch),
  };
}

/** Creates a converter of a field. `toValue` converts the output of the schema. */
export function converter<Row, Value, Typed>(
  schema: z.ZodType<Typed>,
  toValue: (context: Context, typed: Typed) => Value | Promise<Value>,
  toText: Converter<Row, Value>['toText'],
  choices?: Converter<Row, Value>['choices'],
): Converter<Row, Value> {
  return { schema, toValue, toText, ...(choices && { choices }) };
}
