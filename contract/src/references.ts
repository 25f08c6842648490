import * as z from 'zod';
import { Email, Id } from './fields.ts';

/*
 * In requests, a text can name a resource instead of its id: the email address of a user, or the number of a ticket
 * (docs/decisions/api-conventions.md). The server replaces these names with ids before a handler runs.
 */

/** The kind of resource that a reference identifies. */
export type ReferenceKind = 'user' | 'ticket';

/** The schemas of names, each with the kind of resource that it names. */
const kinds = new Map<z.core.$ZodType, ReferenceKind>();

/**
 * Declares that a request accepts the name of a resource instead of its id. The output type has no name, because handlers
 * get the id.
 * @param name the schema of the name
 * @param schema a union with the schemas of the id and the name
 */
export function reference<Name extends z.ZodType, Schema extends z.ZodType>(
  kind: ReferenceKind,
  name: Name,
  schema: Schema,
) {
  kinds.set(name, kind);
  type WithoutName = z.ZodType<Exclude<z.output<Schema>, z.output<Name>>, z.input<Schema>>;
  return schema as unknown as WithoutName;
}

export const EmailAddress = z
  .templateLiteral([z.string(), '@', z.string()])
  .refine((text) => Email.safeParse(text).success, { abort: true })
  .overwrite((text) => text.toLowerCase() as typeof text)
  .meta({
    description: 'The email address of a user, in upper or lower case. Requires the scope `users:read`.',
    format: 'email',
    maxLength: 254,
    example: 'jonas.weber@acme.example',
  });
export type EmailAddress = z.output<typeof EmailAddress>;

/** A reference to a user in a request body: an id or an email address (docs/decisions/api-conventions.md). */
export const NamedUser = reference(
  'user',
  EmailAddress,
  z
    .union([Id, EmailAddress], { error: 'must be an email address or a positive integer of at most 9007199254740991' })
    .meta({ id: 'UserReference', description: 'A reference to a user: an id or an email address.' }),
);

/** The place of references in a value. */
export interface ReferencePlace {
  kind: ReferenceKind;
  /** The names of the fields that lead to the references, from the outermost field. `*` stands for each array element. */
  path: readonly string[];
}

/** The schemas of an endpoint's requests. */
interface RequestSchemas {
  pathParams?: unknown;
  query?: unknown;
  body?: unknown;
}

/**
 * Returns the places at which the requests of an endpoint accept the name of a resource instead of its id. A path begins
 * with `params`, `query` or `body`.
 */
export function referencesIn({ pathParams, query, body }: RequestSchemas): ReferencePlace[] {
  return [...within('params', pathParams), ...within('query', query), ...within('body', body)];
}

/** Returns true if the requests of an endpoint accept the email addresses of users. */
export function acceptsAddresses(route: RequestSchemas): boolean {
  return referencesIn(route).some(({ kind }) => kind === 'user');
}

function placesOf(schema: unknown): ReferencePlace[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([name, field]) => within(name, field));
  }
  if (schema instanceof z.ZodArray) return within('*', schema.element);
  if (schema instanceof z.ZodPipe) return placesOf(schema.out);
  if (schema instanceof z.ZodUnion) {
    return schema.options.flatMap((option) => {
      const kind = kinds.get(option);
      return kind === undefined ? placesOf(option) : [{ kind, path: [] }];
    });
  }
  return schema instanceof z.ZodType && 'innerType' in schema.def ? placesOf(schema.def.innerType) : [];
}

function within(name: string, schema: unknown): ReferencePlace[] {
  return placesOf(schema).map(({ kind, path }) => ({ kind, path: [name, ...path] }));
}
