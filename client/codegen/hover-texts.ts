import * as z from 'zod';

/**
 * Returns the hover text of a field or parameter: the description in the contract, and then the limits and the default
 * value of the schema.
 */
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

/** Returns the metadata that contains the property `word`: of the schema, or else of the outermost schema inside it. */
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

/** Returns the schema inside `optional`, `nullable`, `default` and preprocessing. */
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

/** Returns the bound of a number, or undefined if it is only the safe integer limit that Zod sets by default. */
function finite(bound: number | null): number | undefined {
  return bound === null || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound;
}

function range(min: number | undefined, max: number | undefined, of: string): string {
  // The text omits a lone minimum of 1, such as for ids and page numbers, because developers expect it.
  if (max === undefined) return min === undefined || min <= 1 ? '' : `At least ${min} ${of}`.trim();
  return `${min === undefined || min === 0 ? 'At most' : `${min} to`} ${max} ${of}`.trim();
}

function sentence(words: string): string {
  return words === '' || /[.:!?]$/.test(words) ? words : `${words}.`;
}
