import * as z from 'zod';

/** A positive integer of at most 2^53-1, as in JSON bodies and answers (docs/decisions/identifiers.md). */
export const Id = z
  .int({ error: positiveInteger })
  .min(1, { error: positiveInteger })
  .meta({ description: 'A positive integer.', example: 42 });

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
 * Text of `min` to `max` UTF-16 units that PostgreSQL can store: NUL and lone surrogates are refused here,
 * since they would fail there (docs/decisions/text-and-dates.md).
 */
export function text(min: number, max: number) {
  return z.string().min(min).max(max).refine(isStorable, 'must not contain NUL or half of a surrogate pair');
}

/** Like `text`, with the white space around it taken off first. */
export function trimmedText(min: number, max: number) {
  return z.string().trim().min(min).max(max).refine(isStorable, 'must not contain NUL or half of a surrogate pair');
}

function isStorable(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

export const Title = trimmedText(1, 255);
export const Description = text(1, 65_535);

/** A calendar date without a time, `YYYY-MM-DD` (docs/decisions/text-and-dates.md). */
export const CalendarDate = z.iso
  .date({ abort: true })
  .refine((date) => date >= '0001-01-01', 'must not be before 0001-01-01')
  .meta({ example: '2026-11-20' });

/** A moment as the API answers it: UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ example: '2026-11-20T10:00:00.000Z' });

/** A moment as the API accepts it: with any offset, between the years 1 and 9999 in UTC. Read as UTC. */
export const TimestampInput = z.iso
  .datetime({ offset: true, abort: true })
  .refine(
    (moment) => {
      const time = Date.parse(moment);
      return time >= Date.parse('0001-01-01T00:00:00Z') && time <= Date.parse('9999-12-31T23:59:59.999Z');
    },
    { error: 'must be between the years 1 and 9999', abort: true },
  )
  .overwrite((moment) => new Date(moment).toISOString())
  .meta({ example: '2026-11-20T10:00:00Z' });

/** When a resource was made and last changed; every resource has both. */
export const timestamps = { createdAt: Timestamp, updatedAt: Timestamp };

// Without the sign of a zero, which PostgreSQL doesn't keep.
const CustomFieldScalar = z.union([text(0, 16_384), z.number().overwrite((value) => value + 0), z.boolean(), z.null()]);

const CustomFieldMap = z.record(
  text(1, 255),
  z.union([CustomFieldScalar, z.array(CustomFieldScalar)], {
    error: 'must be a string, number, boolean, null or an array of those, without NUL or half a surrogate pair',
  }),
);

const utf8 = new TextEncoder();

/** A workspace's own fields: at most 50 keys and 16 KiB as JSON (docs/decisions/custom-fields.md). */
export const CustomFields = CustomFieldMap.refine(
  (fields) => Object.keys(fields).length <= 50,
  'must have at most 50 keys',
)
  .refine((fields) => utf8.encode(JSON.stringify(fields)).length <= 16_384, 'must take at most 16384 bytes as JSON')
  .meta({
    id: 'CustomFields',
    description: 'At most 50 keys and 16 KiB as JSON; values are strings, numbers, booleans, null or arrays of those.',
    example: { costCentre: 'CC-104', tags: ['vip', 'floor-3'] },
  });
export type CustomFields = z.output<typeof CustomFields>;

/** The custom fields of an update. The limits of `CustomFields` hold for what comes of merging them. */
export const CustomFieldsPatch = CustomFieldMap.meta({
  id: 'CustomFieldsPatch',
  description: 'Merged into what is there: a key given replaces, a key given as null is removed.',
  example: { costCentre: 'CC-104', tags: null },
});

/** The priorities of tickets, projects and tasks (spec §2). */
export const Priority = z.enum(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL']).meta({ id: 'Priority' });
export type Priority = z.output<typeof Priority>;
