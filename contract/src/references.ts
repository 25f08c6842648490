import * as z from 'zod';
import { Id, idKinds, type ResourceKind, UserEmail } from './fields.ts';

/*
 * In requests, a text can name a resource instead of its id: the email address of a user, or the number of a ticket
 * (docs/decisions/api-conventions.md). The server replaces these names with ids before a handler runs.
 */

/** The kind of resource that a reference identifies. */
export type ReferenceKind = Extract<ResourceKind, 'user' | 'ticket'>;

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

export const EmailReference = z
  .templateLiteral([z.string(), '@', z.string()])
  .refine((text) => UserEmail.safeParse(text).success, { abort: true })
  .overwrite((text) => text.toLowerCase() as typeof text)
  .meta({
    description: 'The email address of a user, in upper or lower case. Requires the scope `users:read`.',
    format: 'email',
    maxLength: 254,
    example: 'jonas.weber@acme.example',
  });
export type EmailReference = z.output<typeof EmailReference>;

/** A reference to a user in a request body: an id or an email address (docs/decisions/api-conventions.md). */
export const UserReference = reference(
  'user',
  EmailReference,
  z
    .union([Id, EmailReference], {
      error: 'must be an email address or a positive integer of at most 9007199254740991',
    })
    .meta({ id: 'UserReference', description: 'A reference to a user: an id or an email address.' }),
);

/** The place of references in a value. */
export interface ReferencePath<Kind extends string = ReferenceKind> {
  kind: Kind;
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
export function referencesIn({ pathParams, query, body }: RequestSchemas): ReferencePath[] {
  const schema = z.object({ params: toSchema(pathParams), query: toSchema(query), body: toSchema(body) });
  return placesIn(schema, (each) => kinds.get(each));
}

function toSchema(schema: unknown): z.ZodType {
  return schema instanceof z.ZodType ? schema : z.undefined();
}

/** Returns the kind of resource that a schema identifies by id or name, or undefined for other schemas. */
export function resourceKindOf(schema: z.ZodType): ResourceKind | undefined {
  return kinds.get(schema) ?? idKinds.get(schema)?.kind;
}

/** Returns true if the requests of an endpoint accept the email addresses of users. */
export function acceptsEmails(route: RequestSchemas): boolean {
  return referencesIn(route).some(({ kind }) => kind === 'user');
}

/**
 * Returns the places in a value at which a schema accepts values of certain kinds.
 * @param kindOf returns the kind of the values that a schema describes, or undefined for other schemas
 */
export function placesIn<Kind extends string>(
  schema: unknown,
  kindOf: (schema: z.ZodType) => Kind | undefined,
): ReferencePath<Kind>[] {
  if (!(schema instanceof z.ZodType)) return [];
  const kind = kindOf(schema);
  if (kind !== undefined) return [{ kind, path: [] }];
  const within = (name: string, inner: unknown) =>
    placesIn(inner, kindOf).map(({ kind, path }) => ({ kind, path: [name, ...path] }));
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, field]) => within(name, field));
  if (schema instanceof z.ZodArray) return within('*', schema.element);
  if (schema instanceof z.ZodPipe) return placesIn(schema.out, kindOf);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => placesIn(option, kindOf));
  return 'innerType' in schema.def ? placesIn(schema.def.innerType, kindOf) : [];
}
