import { maxInt32 } from '@itsm-api/contract';
import * as z from 'zod';

/** Returns the hover text of a field or parameter: its description, its limits and its default value. */
export function factsOf(schema: z.ZodType): string {
  const { description = '' } = outermost(schema, 'description') ?? {};
  const { default: value } = outermost(schema, 'default') ?? { default: defaultOf(schema) };
  const facts = [
    sentence(String(description)),
    sentence(limitsOf(unwrap(schema))),
    value === undefined ? '' : `Default: ${JSON.stringify(value)}.`,
  ];
  return facts.filter((fact) => fact !== '').join(' ');
}

type Words = { description?: unknown; default?: unknown };

/**
 * Returns the metadata that contains the property `word`. Searches the schema first, and then the schemas inside it,
 * from the outermost to the innermost.
 */
function outermost(schema: z.ZodType, word: keyof Words): Words | undefined {
  const meta = schema.meta() as Words | undefined;
  if (meta?.[word] !== undefined) return meta;
  const inner = innerOf(schema);
  return inner && outermost(inner, word);
}

function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodPipe) return schema.out as z.ZodType;
  return 'innerType' in schema.def ? (schema.def.innerType as z.ZodType) : undefined;
}

/** Removes the `optional`, `nullable`, `default` and preprocessing wrappers from a schema. */
function unwrap(schema: z.ZodType): z.ZodType {
  const inner = innerOf(schema);
  return inner === undefined ? schema : unwrap(inner);
}

function defaultOf(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodDefault) return schema.def.defaultValue;
  const inner = innerOf(schema);
  return inner && defaultOf(inner);
}

const formats: Record<string, string> = {
  datetime: 'A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`',
  date: 'A date, `YYYY-MM-DD`',
  email: 'An email address',
  url: 'A URL',
};

function limitsOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodArray) {
    const element = unwrap(schema.element as z.ZodType);
    const many = range(check(schema, 'min_length'), check(schema, 'max_length'), 'items');
    return [many, element instanceof z.ZodEnum ? '' : limitsOf(element)].filter(Boolean).join('. ');
  }
  if (schema instanceof z.ZodNumber) {
    const { minValue, maxValue } = schema;
    return range(finite(minValue), finite(maxValue), '');
  }
  const { format, minLength, maxLength } = schema as Partial<z.ZodString>;
  const known = formats[format ?? ''] ?? '';
  return [known, range(minLength ?? undefined, maxLength ?? undefined, 'characters')].filter(Boolean).join(', ');
}

/** Returns the minimum or maximum length of an array, or undefined if the schema doesn't limit it. */
function check(schema: z.ZodArray, kind: 'min_length' | 'max_length'): number | undefined {
  for (const { _zod } of schema.def.checks ?? []) {
    const def = _zod.def as { check: string; minimum?: number; maximum?: number };
    if (def.check === kind) return def.minimum ?? def.maximum;
  }
  return undefined;
}

/**
 * Returns the minimum or maximum of a number. Returns undefined if the schema doesn't set it, or if it is only the
 * limit of a number type: of safe integers or of 32 bits.
 */
function finite(bound: number | null): number | undefined {
  return bound === null || bound === maxInt32 || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound;
}

function range(min: number | undefined, max: number | undefined, of: string): string {
  // Omits a minimum of 1 if there is no maximum, because developers expect ids and page numbers to start at 1.
  if (max === undefined) return min === undefined || min <= 1 ? '' : `At least ${min} ${of}`.trim();
  return `${min === undefined || min === 0 ? 'At most' : `${min} to`} ${max} ${of}`.trim();
}

function sentence(words: string): string {
  return words === '' || /[.:!?]$/.test(words) ? words : `${words}.`;
}
