import * as z from 'zod';

/**
 * Returns the message for a validation error if the schema defines no message of its own. The field name and the
 * message form a sentence: "title is required", "perPage must be at most 100".
 */
const describe: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return sizeMessage(issue.origin, 'at least', Number(issue.minimum));
    case 'too_big':
      return sizeMessage(issue.origin, 'at most', Number(issue.maximum));
    case 'invalid_format':
      return `must be ${formats[issue.format] ?? `a valid ${issue.format}`}`;
    case 'invalid_key':
      return issue.issues[0]?.code === 'too_small'
        ? 'contains a field with an empty name. Give the field a name.'
        : `is not a valid field name: it ${issue.issues[0]?.message ?? 'is not valid'}`;
    default:
      return undefined;
  }
};

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

const formats: Record<string, string> = {
  date: 'a date such as 2026-11-20',
  datetime: 'a timestamp such as 2026-11-20T10:00:00Z',
  email: 'an email address',
};

function sizeMessage(origin: string, bound: string, size: number): string {
  if (origin === 'string') return `must have ${bound} ${counted(size, 'character')}`;
  if (origin === 'array') return `must have ${bound} ${counted(size, 'item')}`;
  return `must be ${bound} ${size}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

// A setting of the process, which the contract must not change in programs that use the published package.
z.config({ localeError: describe });
