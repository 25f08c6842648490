import type { CustomFields } from './fields.ts';
import { CalendarDate } from './fields.ts';
import type { CustomFieldDefinition, CustomFieldType } from './resources/custom-fields.ts';

/** A part of a JSON Schema (2020-12). */
export type JsonSchema = Record<string, unknown>;

/** The JSON type of the values of each type of custom fields, and their limits in requests. */
export const jsonTypes: Record<CustomFieldType, { type: string; limits?: JsonSchema }> = {
  TEXT: { type: 'string', limits: { maxLength: 16_384 } },
  NUMBER: { type: 'number' },
  BOOLEAN: { type: 'boolean' },
  DATE: { type: 'string', limits: { format: 'date' } },
  SELECT: { type: 'string' },
  MULTI_SELECT: { type: 'array', limits: { uniqueItems: true } },
  USER: { type: 'integer', limits: { format: 'int64', minimum: 1 } },
};

/** The limits that are too detailed for code generators. With them, the schema rejects what the server rejects. */
const exactLimits: Partial<Record<CustomFieldType, JsonSchema>> = {
  // 0, or an absolute value from 1e-9 to 1e15.
  NUMBER: {
    ...{ minimum: -1e15, maximum: 1e15 },
    not: { exclusiveMinimum: -1e-9, exclusiveMaximum: 1e-9, not: { const: 0 } },
  },
  DATE: { pattern: `^(?!0000)(?:${CalendarDate.def.pattern?.source})` },
  // A number of a custom field is at most 1e15.
  USER: { maximum: 1e15 },
};

/** A question of a request form: a custom field of tickets that a request can answer (docs/decisions/request-forms-design.md). */
export interface Question extends Pick<CustomFieldDefinition, 'key' | 'type' | 'label'> {
  /** The explanation for people, or null. */
  help: string | null;
  /** The active options. Null unless the type has options. */
  options: { value: string; label: string }[] | null;
  /** Whether a request must have an answer. */
  required: boolean;
  /** The value if a request has no answer, or null. */
  default: CustomFields[string];
}

/** Returns the JSON Schema of the answers to the questions of a form. It accepts exactly what the server accepts. */
export function answersSchema(name: string, questions: readonly Question[]): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: name,
    type: 'object',
    properties: Object.fromEntries(questions.map((question) => [question.key, questionSchema(question)])),
    required: questions.filter(({ required }) => required).map(({ key }) => key),
    additionalProperties: false,
  };
}

function questionSchema({ type, label, help, options, default: given }: Question): JsonSchema {
  const oneOf = options?.map(({ value, label }) => ({ const: value, title: label }));
  const { type: jsonType, limits } = jsonTypes[type];
  return {
    title: label,
    ...(help !== null && { description: help }),
    type: jsonType,
    ...limits,
    ...exactLimits[type],
    ...(oneOf && (type === 'SELECT' ? { oneOf } : { items: { type: 'string', oneOf } })),
    ...(given !== null && { default: given }),
  };
}
