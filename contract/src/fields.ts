import * as z from 'zod';

/**
 * Runs a refinement of an object or array although something in it is wrong: all faults of a body are reported at once.
 * Zod skips it otherwise. A value of another type is not refined.
 */
export const despiteFaults = {
  when: ({ issues }: z.core.ParsePayload) => {
    return issues.every(({ code, path = [] }) => code !== 'invalid_type' || path.length > 0);
  },
};

/** A positive integer of at most 2^53-1, as in JSON bodies and answers (docs/decisions/api-conventions.md). */
export const Id = z.int({ error: positiveInteger }).min(1, { error: positiveInteger }).meta({
  description: 'Names it among all of its kind. It never changes, and is never used again.',
  format: 'int64',
  example: 42,
});

/**
 * A whole number from 1 in a path or a query, where everything arrives as text.
 * Only digits count: `0x10`, `1e3`, ` 5` and `-1` are refused.
 */
export function integerFromText(schema: z.ZodInt = Id) {
  return z.preprocess((value: number | string) => {
    return typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value;
  }, schema);
}

function positiveInteger(issue: { input?: unknown }): string | undefined {
  return issue.input === undefined ? 'is required' : 'must be a positive integer of at most 9007199254740991';
}

/**
 * Text of `min` to `max` characters as requests may send it: without half of a surrogate pair, which PostgreSQL
 * can't store, and without control characters but those that lay text out (docs/decisions/api-conventions.md).
 */
export function text(min: number, max: number) {
  return z.string().min(min).max(max).refine(isClean, unclean);
}

/** Like `text`, with the white space around it taken off first. */
export function trimmedText(min: number, max: number) {
  return z.string().trim().min(min).max(max).refine(isClean, unclean);
}

const unclean = 'must not contain control characters (but tab, line feed and carriage return) or half a surrogate pair';

function isClean(value: string): boolean {
  return value.isWellFormed() && !/[\p{Cc}--[\t\n\r]]/v.test(value);
}

/**
 * The text of a request as answers hold it. What is stored is answered, also what was taken when less was refused:
 * only the lengths are promised.
 */
export function answered(given: z.ZodString): z.ZodString {
  const schema = z
    .string()
    .min(given.minLength ?? 0)
    .max(given.maxLength ?? Number.POSITIVE_INFINITY);
  const meta = given.meta();
  return meta === undefined ? schema : schema.meta(meta);
}

const utf8 = new TextEncoder();

/**
 * Text of a page or more: as many bytes in UTF-8 as it may have characters.
 * @param what says what it is, without the full stop
 */
export function longText(what: string) {
  return z
    .string()
    .min(1)
    .refine(isClean, unclean)
    .max(longest, { abort: true })
    .refine(
      // No character takes more than three bytes for each of its UTF-16 units.
      (value) => value.length * 3 <= longest || utf8.encode(value).length <= longest,
      `must take at most ${longest} bytes as UTF-8`,
    )
    .meta({ description: `${what}; at most ${longest} bytes in UTF-8.` });
}

const longest = 65_535;

export const Title = trimmedText(1, 255).meta({
  description: 'What it is about, in a line. White space around it is taken off.',
});
export const Description = longText('What it is about, at length');

/** A calendar date without a time, `YYYY-MM-DD` (docs/decisions/api-conventions.md). */
export const CalendarDate = z.iso
  .date({ abort: true })
  .refine((date) => date >= '0001-01-01', 'must not be before 0001-01-01')
  .meta({ example: '2026-11-20' });

/** A moment as the API answers it: UTC with milliseconds. */
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
    error: 'must be between the years 1 and 9999',
    abort: true,
  });
const exampleMoment = { example: '2026-11-20T10:00:00Z' };

/** A moment as the API accepts it: with any offset, between the years 1 and 9999 in UTC. Read as UTC, to the millisecond. */
export const TimestampInput = anyMoment.overwrite((moment) => new Date(moment).toISOString()).meta(exampleMoment);

/**
 * A moment that a list begins at or ends before. Rows are made at whole milliseconds: one that is within a millisecond is
 * behind the row that was made at its beginning.
 */
export const TimestampBound = anyMoment
  .overwrite((moment) => {
    const isWithin = /\.\d{3}\d*[1-9]/.test(moment);
    return new Date(Math.min(Date.parse(moment) + Number(isWithin), lastMoment)).toISOString();
  })
  .meta(exampleMoment);

/** When a resource was made and last changed; every resource has both. */
export const timestamps = {
  createdAt: Timestamp.meta({ description: 'When it was made.' }),
  updatedAt: Timestamp.meta({ description: 'When it last changed.' }),
};

const FieldName = text(1, 255);
const FieldText = text(0, 16_384);
const fieldNumbers = 'must be 0 or have a magnitude from 1e-9 to 1e15';
const FieldNumber = z
  .number()
  .refine((value) => value === 0 || (Math.abs(value) >= 1e-9 && Math.abs(value) <= 1e15), fieldNumbers)
  // Without the sign of a zero, which PostgreSQL doesn't keep.
  .overwrite((value) => value + 0);

const fieldFault = `must be a string, number, boolean, null or an array of those; a string ${unclean}, a number ${fieldNumbers}`;

/** What each field of a map holds. */
function fieldValue(text: z.ZodString, number: z.ZodNumber) {
  const scalars = [text, number, z.boolean(), z.null()] as const;
  const scalar = z.union(scalars).meta({
    id: 'CustomFieldScalar',
    description: 'A single value of a custom field. A number is 0, or has a magnitude from 1e-9 to 1e15.',
  });
  return z.union([...scalars, z.array(scalar)], { error: fieldFault }).meta({
    id: 'CustomFieldValue',
    description: 'What a custom field holds: a value, or several. A number is 0, or has a magnitude from 1e-9 to 1e15.',
  });
}

const GivenValue = fieldValue(FieldText, FieldNumber);

function isScalar(value: unknown): boolean {
  if (typeof value === 'string') return FieldText.safeParse(value).success;
  if (typeof value === 'number') return FieldNumber.safeParse(value).success;
  return typeof value === 'boolean' || value === null;
}

/**
 * A value, refused at the first fault: a union tries all of its kinds on each of thousands of values, and notes what is wrong
 * with every one.
 */
const CheckedValue = z.preprocess((value: z.input<typeof GivenValue>, { addIssue }) => {
  const index = Array.isArray(value) ? value.findIndex((each) => !isScalar(each)) : -1;
  if (Array.isArray(value) ? index === -1 : isScalar(value)) return value;
  addIssue({ code: 'custom', message: fieldFault, path: index === -1 ? [] : [index] });
  return z.NEVER;
}, GivenValue);

const GivenMap = z.record(FieldName, CheckedValue);
const StoredMap = z.record(answered(FieldName), fieldValue(answered(FieldText), z.number()));

function withinLimits<Map extends z.ZodType<Record<string, unknown>>>(map: Map): Map {
  return map
    .refine((fields) => Object.keys(fields).length <= 50, { ...despiteFaults, error: 'must have at most 50 keys' })
    .refine((fields) => utf8.encode(JSON.stringify(fields)).length <= 16_384, {
      ...despiteFaults,
      error: 'must take at most 16384 bytes as JSON',
    });
}

const customFieldsMeta = {
  id: 'CustomFields',
  description: "The workspace's own fields: at most 50 keys, and 16 KiB as JSON.",
  example: { costCentre: 'CC-104', tags: ['vip', 'floor-3'] },
};

/** A workspace's own fields: at most 50 keys and 16 KiB as JSON (docs/decisions/data-model.md). */
export const CustomFields = withinLimits(GivenMap).meta(customFieldsMeta);
export type CustomFields = z.output<typeof CustomFields>;

/** The custom fields of an update. The limits of `CustomFields` hold for what comes of merging them. */
export const CustomFieldsPatch = GivenMap.meta({
  id: 'CustomFieldsPatch',
  description:
    "Merged into the workspace's own fields that are there: a key given replaces, a key given as null is removed. At most " +
    '50 keys, and 16 KiB as JSON, may come of it.',
  example: { costCentre: 'CC-104', tags: null },
});

/** What comes of merging an update into what is stored. The values given were looked at, those stored are kept. */
export const MergedCustomFields = withinLimits(StoredMap);

/** The custom fields of an answer: whatever is stored. */
export const StoredCustomFields = StoredMap.meta(customFieldsMeta);

/** The priorities of tickets, projects and tasks (spec §2). */
export const Priority = z.enum(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL']).meta({
  id: 'Priority',
  description: 'How urgent it is.',
});
export type Priority = z.output<typeof Priority>;

/** Who did something (docs/decisions/tickets.md). */
export const Actor = z
  .object({
    userId: Id.meta({ description: 'The user who created the key, or who was signed in to the developer area.' }),
    keyId: Id.nullable().meta({ description: 'The key; null where none was needed.' }),
  })
  .nullable()
  .meta({
    id: 'Actor',
    description: 'Who did it; null where it was done on the command line.',
    example: { userId: 1, keyId: 1 },
  });
export type Actor = z.output<typeof Actor>;
