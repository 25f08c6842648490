import * as z from 'zod';

/**
 * Options of a zod refinement. With these options, the refinement runs even if a field is invalid, so the response
 * lists all errors of a body. The refinement doesn't run on a value of the wrong type.
 */
export const validateAll = {
  when: ({ issues }: z.core.ParsePayload) => {
    return issues.every(({ code, path = [] }) => code !== 'invalid_type' || path.length > 0);
  },
};

/** An id in JSON bodies and responses: a positive integer up to 2^53-1 (docs/decisions/api-conventions.md). */
export const Id = z.int({ error: positiveInteger }).min(1, { error: positiveInteger }).meta({
  description: 'The identifier. It is unique within its resource type, never changes and is never reused.',
  format: 'int64',
  example: 42,
});

/** The kind of resource that an id identifies. */
export type ResourceKind = 'user' | 'ticket' | 'team' | 'category' | 'project' | 'asset';

/** The schemas of ids of other resources, each with the kind of resource that it identifies. */
export const idKinds = z.registry<{ kind: ResourceKind }>();

/**
 * Declares which kind of resource an id identifies, so that MCP tools accept and show its name. Returns a copy of the
 * schema. Copies of this copy, such as those with another description, keep the kind.
 */
export function idOf<Schema extends z.ZodType>(kind: ResourceKind, schema: Schema): Schema {
  const copy = schema.clone();
  idKinds.add(copy, { kind });
  return copy;
}

export const UserId = idOf('user', Id);
export const TeamId = idOf('team', Id);
export const TicketId = idOf('ticket', Id);
export const ProjectId = idOf('project', Id);
export const AssetId = idOf('asset', Id);

/** The largest integer of 32 bits, which is enough for counts and durations. */
export const maxInt32 = 2 ** 31 - 1;

/** A count or a duration in a response. The OpenAPI document describes it as `int32`. */
export const Count = z.int().min(0).max(maxInt32);

/**
 * Returns a schema that parses a positive integer in a path or query, where every value is text. The schema accepts
 * only digits, and rejects `0x10`, `1e3`, ` 5` and `-1`.
 */
export function integerFromText(schema: z.ZodInt = Id) {
  return z.preprocess(numberFromText<number | string>, schema);
}

/** Converts an id from text to a number. Returns other values unchanged, because the schema validates them. */
export function numberFromText<Value extends number | string>(value: Value): Value | number {
  return typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value;
}

function positiveInteger(issue: { input?: unknown }): string | undefined {
  return issue.input === undefined ? 'is required' : 'must be a positive integer of at most 9007199254740991';
}

/**
 * Returns the schema of a text with `min` to `max` characters in a request. The schema rejects unpaired surrogates,
 * which PostgreSQL can't store. It also rejects control characters except tab, line feed and carriage return
 * (docs/decisions/api-conventions.md).
 */
export function text(min: number, max: number) {
  return z.string().min(min).max(max).refine(isClean, unclean);
}

/** Returns a schema that removes leading and trailing white space, and then applies the same rules as `text`. */
export function trimmedText(min: number, max: number) {
  return z.string().trim().min(min).max(max).refine(isClean, unclean);
}

/**
 * Returns the schema of a text that identifies something, such as a serial number. In addition to the rules of
 * `trimmedText`, the schema converts the text to the normalization form NFC, and rejects invisible characters
 * (docs/decisions/data-model.md#assets). Otherwise, different texts could look the same.
 */
export function identifyingText(min: number, max: number) {
  return z
    .string()
    .trim()
    .overwrite((value) => normalizeText(value, 'NFC'))
    .min(min)
    .max(max)
    .refine(isClean, unclean)
    .refine(isVisible, invisible);
}

/**
 * Converts a text to a normalization form of Unicode. Returns a text of more than 1,024 UTF-16 code units unchanged,
 * because the time can grow with the square of the length.
 */
export function normalizeText(value: string, form: 'NFC' | 'NFKC'): string {
  return value.length > 1024 ? value : value.normalize(form);
}

/**
 * Returns the schema of a filter by a text with at most `max` characters that `identifyingText` describes. The schema
 * keeps the normalization form and invisible characters, because rows of earlier releases can contain them. In another
 * form, a text can have up to four times as many characters.
 */
export function identifyingFilter(max: number) {
  return trimmedText(1, 4 * max);
}

const invisible = 'must not contain invisible characters, such as a zero-width space. Remove them.';

function isVisible(value: string): boolean {
  return !/\p{Default_Ignorable_Code_Point}/u.test(value);
}

const unclean =
  'must not contain control characters (except tab, line feed and carriage return) or unpaired surrogates';

function isClean(value: string): boolean {
  return value.isWellFormed() && !/[\p{Cc}--[\t\n\r]]/v.test(value);
}

/**
 * Returns the response schema of a text field. The schema has only the length limits of the request schema, because
 * earlier releases stored texts under looser rules.
 */
export function responseText(given: z.ZodString): z.ZodString {
  const schema = z
    .string()
    .min(given.minLength ?? 0)
    .max(given.maxLength ?? Number.POSITIVE_INFINITY);
  const meta = given.meta();
  return meta === undefined ? schema : schema.meta(meta);
}

const utf8 = new TextEncoder();

/**
 * Returns the schema of a long text.
 * @param what the description of the field, without the full stop
 * @param maxBytes the maximum length, in bytes in UTF-8
 */
export function longText(what: string, maxBytes = 65_535) {
  return z
    .string()
    .min(1)
    .refine(isClean, unclean)
    .max(maxBytes, { abort: true })
    .refine(
      // A UTF-16 code unit takes at most three bytes in UTF-8, so the check encodes only long texts.
      (value) => value.length * 3 <= maxBytes || utf8.encode(value).length <= maxBytes,
      `must be at most ${maxBytes} bytes in UTF-8`,
    )
    .meta({ description: `${what}. At most ${maxBytes} bytes in UTF-8.` });
}

/** The email address of a user. The schema converts it to lower case. */
export const UserEmail = z.email().max(254).toLowerCase();

export const Title = trimmedText(1, 255).meta({
  description: 'The title, on one line. The server removes leading and trailing white space.',
});
export const Description = longText('The full description');

/** A calendar date without a time, `YYYY-MM-DD` (docs/decisions/api-conventions.md). */
export const CalendarDate = z.iso
  .date({ abort: true })
  .refine((date) => date >= '0001-01-01', 'must not be before 0001-01-01')
  .meta({ example: '2026-11-20' });

/** A timestamp in a response, in UTC with milliseconds. */
export const Timestamp = z.iso
  .datetime({ precision: 3, error: 'must be a timestamp in UTC with milliseconds, such as 2026-11-20T10:00:00.000Z' })
  .meta({ example: '2026-11-20T10:00:00.000Z' });

const [firstMoment, lastMoment] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'].map(Date.parse) as [
  number,
  number,
];

const anyMoment = z.iso
  .datetime({ offset: true, abort: true })
  .refine((moment) => Date.parse(moment) >= firstMoment && Date.parse(moment) <= lastMoment, {
    error: 'must have a year from 1 to 9999',
    abort: true,
  });
const exampleMoment = { example: '2026-11-20T10:00:00Z' };

/**
 * A timestamp in requests, with any UTC offset and a year from 1 to 9999. The schema converts it to UTC and truncates
 * it to milliseconds.
 */
export const TimestampInput = anyMoment.overwrite((moment) => new Date(moment).toISOString()).meta(exampleMoment);

/**
 * A lower or upper bound of a time filter. Stored timestamps have whole milliseconds. The schema rounds a more precise
 * bound up, because a row at the rounded-down time is before the bound.
 */
export const TimestampBound = anyMoment
  .overwrite((moment) => {
    const isWithin = /\.\d{3}\d*[1-9]/.test(moment);
    return new Date(Math.min(Date.parse(moment) + Number(isWithin), lastMoment)).toISOString();
  })
  .meta(exampleMoment);

/** An entity tag as in the header `ETag` (RFC 9110 §8.8.3), including the quotation marks. */
export const Etag = z.string().meta({
  id: 'Etag',
  description:
    'The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`.',
  example: '"3-mi6l2n28"',
});

/**
 * The id of a resource in another system. It is unique among the workspace's resources of the same type
 * (docs/decisions/external-ids.md).
 */
export const ExternalId = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\x21-\x2b\x2d-\x7e]*$/, 'must contain only printable ASCII characters, without spaces and commas')
  .meta({
    description:
      'The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. ' +
      'Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas.',
    example: 'zendesk:4711',
  });

/** The key of a request form, such as `new-laptop` (docs/decisions/request-forms-design.md). */
export const FormKey = z
  .string()
  .max(40)
  .regex(
    /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/,
    'must start with a lower-case letter, and have only lower-case letters, digits and single hyphens between them',
  )
  .meta({ description: 'The key of the request form. It never changes.', example: 'laptop' });

/** The fields of every resource with a version (docs/decisions/optimistic-concurrency-design.md). */
export const versionFields = {
  createdAt: Timestamp.meta({ description: 'When the resource was created.' }),
  updatedAt: Timestamp.meta({ description: 'When the resource last changed.' }),
  etag: Etag,
};

const FieldName = text(1, 255);
const FieldText = text(0, 16_384);
const fieldNumbers = 'must be 0, or have an absolute value from 1e-9 to 1e15';
const FieldNumber = z
  .number()
  .refine((value) => value === 0 || (Math.abs(value) >= 1e-9 && Math.abs(value) <= 1e15), fieldNumbers)
  // Converts -0 to 0, because PostgreSQL doesn't store the sign.
  .overwrite((value) => value + 0);

const scalarTypes = 'must be a string, number, boolean or null';
const fieldTypes = `${scalarTypes}, or an array of these`;

/** Returns the schema of a custom field value. */
function fieldValue(text: z.ZodString, number: z.ZodNumber) {
  const scalars = [text, number, z.boolean(), z.null()] as const;
  const scalar = z.union(scalars).meta({
    id: 'CustomFieldScalar',
    description: 'A single value of a custom field. A number must be 0 or have an absolute value from 1e-9 to 1e15.',
  });
  return z.union([...scalars, z.array(scalar)], { error: fieldTypes }).meta({
    id: 'CustomFieldValue',
    description:
      'The value of a custom field: one value or an array. A number must be 0 or have an absolute value from 1e-9 to 1e15.',
  });
}

const GivenValue = fieldValue(FieldText, FieldNumber);

/**
 * Returns the validation message for an invalid single value, or undefined if the value is valid.
 * @param types the message for a value of the wrong type
 */
function faultOf(value: unknown, types: string): string | undefined {
  if (typeof value === 'string') return FieldText.safeParse(value).error?.issues[0]?.message;
  if (typeof value === 'number') return FieldNumber.safeParse(value).success ? undefined : fieldNumbers;
  return typeof value === 'boolean' || value === null ? undefined : types;
}

/**
 * A value of a custom field. Validation stops at the first error, because a plain union would try every type for every
 * array element, and could collect thousands of errors.
 */
export const CustomFieldValue = z.preprocess((value: z.input<typeof GivenValue>, { addIssue }) => {
  const isList = Array.isArray(value);
  for (const [index, each] of (isList ? value : [value]).entries()) {
    const message = faultOf(each, isList ? scalarTypes : fieldTypes);
    if (message === undefined) continue;
    addIssue({ code: 'custom', message, path: isList ? [index] : [] });
    return z.NEVER;
  }
  return value;
}, GivenValue);

const GivenMap = z.record(FieldName, CustomFieldValue);
/** A value of a custom field in a response. */
export const StoredFieldValue = fieldValue(responseText(FieldText), z.number());

const StoredMap = z.record(responseText(FieldName), StoredFieldValue);

/** The maximum number of bytes of the custom fields of a resource as JSON. */
export const maxCustomFieldBytes = 16_384;

const limitErrors = {
  keys: 'must have at most 50 keys',
  bytes: `must be at most ${maxCustomFieldBytes} bytes as JSON`,
};

function withinLimits<Map extends z.ZodType<Record<string, unknown>>>(map: Map, errors = limitErrors): Map {
  return map
    .refine((fields) => Object.keys(fields).length <= 50, { ...validateAll, error: errors.keys })
    .refine((fields) => utf8.encode(JSON.stringify(fields)).length <= maxCustomFieldBytes, {
      ...validateAll,
      error: errors.bytes,
    });
}

const customFieldsMeta = {
  id: 'CustomFields',
  description: 'The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON.',
  example: { costCentre: 'CC-104', buildings: ['north', 'south'] },
};

/** The custom fields in a request: at most 50 keys and 16 KiB as JSON (docs/decisions/data-model.md). */
export const CustomFields = withinLimits(GivenMap).meta(customFieldsMeta);
export type CustomFields = z.output<typeof CustomFields>;

/** The custom fields in an update. The merged result must be within the limits of `CustomFields`. */
export const CustomFieldsPatch = GivenMap.meta({
  id: 'CustomFieldsPatch',
  description:
    'The server merges these fields into the existing custom fields. ' +
    'A value replaces the existing value, and null removes the key. ' +
    'The result has at most 50 keys and 16 KiB as JSON.',
  example: { costCentre: 'CC-104', buildings: null },
});

/** The custom fields of a new resource, after null values were removed. Their values are already validated. */
export const FilledCustomFields = withinLimits(StoredMap);

/**
 * The custom fields after an update. The schema checks only the number of keys and the size, because new values are
 * already validated and stored values don't change.
 */
export const MergedCustomFields = withinLimits(StoredMap, {
  keys: `${limitErrors.keys} after the update. Set keys to null to remove them.`,
  bytes: `${limitErrors.bytes} after the update. Remove or shorten values.`,
});

/**
 * The custom fields in a response. The schema is looser than the request schema, because stored values may be older
 * than the current rules.
 */
export const StoredCustomFields = StoredMap.meta(customFieldsMeta);

/** The priority of a ticket, project or task (spec §2). */
export const Priority = z.enum(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL']).meta({
  id: 'Priority',
  description: 'The priority of a ticket, project or task.',
});
export type Priority = z.output<typeof Priority>;

/** The user and the API key that performed an action (docs/decisions/tickets.md). */
export const Actor = z
  .object({
    userId: UserId.meta({
      description: 'The user of the API key, or the user who was signed in to the developer area.',
    }),
    keyId: Id.nullable().meta({ description: 'The API key, or null if the action used no API key.' }),
    import: z.literal(true).optional().meta({ description: 'Present in activities if the API key is an import key.' }),
  })
  .nullable()
  .meta({
    id: 'Actor',
    description: 'The user and the API key that performed the action, or null for an action on the command line.',
    example: { userId: 1, keyId: 1 },
  });
export type Actor = z.output<typeof Actor>;
