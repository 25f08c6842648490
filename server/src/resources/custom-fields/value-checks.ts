import { CalendarDate, type CustomFieldResource, type CustomFields, type CustomFieldType } from '@itsm-api/contract';
import { detailsOf, validationError } from '../../shared/validation.ts';
import type { Context } from '../shared/context.ts';
import { type CustomFieldRules, type FieldRules, selectRules } from './rules.ts';

type Given = CustomFields | null | undefined;

const notDefined = 'is not defined in this workspace. Remove it, or define it first.';

/** The maximum number of allowed values in an error message. */
const maxListed = 50;

/** The values of each type, and their description in an error message. `allowed` are the values of active options. */
const types: Record<
  CustomFieldType,
  { fits(value: unknown, allowed: readonly unknown[]): boolean; expected(allowed: string): string }
> = {
  TEXT: { fits: (value) => typeof value === 'string', expected: () => 'must be a string' },
  NUMBER: { fits: (value) => typeof value === 'number', expected: () => 'must be a number' },
  BOOLEAN: { fits: (value) => typeof value === 'boolean', expected: () => 'must be true or false' },
  DATE: {
    fits: (value) => CalendarDate.safeParse(value).success,
    expected: () => 'must be a date such as 2026-11-20',
  },
  SELECT: {
    fits: (value, allowed) => allowed.includes(value),
    expected: (allowed) => `must be one of: ${allowed}`,
  },
  MULTI_SELECT: {
    fits: (value, allowed) =>
      Array.isArray(value) && new Set(value).size === value.length && value.every((each) => allowed.includes(each)),
    expected: (allowed) => `must be an array of different values. Allowed values: ${allowed}`,
  },
  USER: {
    fits: (value) => Number.isSafeInteger(value) && Number(value) > 0,
    expected: () => 'must be the id of a user',
  },
};

/** Returns the validation message if a value doesn't fit its definition. Every value fits an inactive definition. */
export function findMisfit({ type, allowed: given, active }: FieldRules, value: unknown): string | undefined {
  const allowed = given ?? [];
  if (!active || types[type].fits(value, allowed)) return undefined;
  const listed = allowed.slice(0, maxListed).join(', ');
  return types[type].expected(allowed.length > maxListed ? `${listed}, …` : listed);
}

/** The custom fields that a request names, and whether the request creates a row that must have all required fields. */
interface CheckedRequest {
  customFields?: Given;
  isNew?: boolean;
}

/**
 * Looks up the rules of a resource, and checks the custom fields of a request. If the request names no custom field and
 * creates no row, doesn't query the database.
 * @throws ApiError VALIDATION_ERROR with a detail for each invalid or missing field
 */
export async function checkCustomFields(
  context: Pick<Context, 'db' | 'hasFieldRules' | 'isImport'>,
  resource: CustomFieldResource,
  request: CheckedRequest,
): Promise<void> {
  assertCustomFields(await findRulesFor(context, resource, [request]), request, context);
}

/**
 * Returns the rules of a resource that some requests need. If they need none, or the workspace has none, doesn't query
 * the database.
 */
export async function findRulesFor(
  { db, hasFieldRules = true }: Pick<Context, 'db' | 'hasFieldRules'>,
  resource: CustomFieldResource,
  requests: readonly CheckedRequest[],
): Promise<CustomFieldRules | undefined> {
  if (!hasFieldRules || !requests.some(({ customFields, isNew }) => customFields || isNew)) return undefined;
  const keys = new Set(requests.flatMap(({ customFields }) => Object.keys(customFields ?? {})));
  return db.$sql(selectRules, { resource, keys: [...keys] });
}

/**
 * Checks the custom fields of a request (docs/decisions/custom-fields-design.md). A value that is null is always valid,
 * because it removes the field. Requests with an import key can omit required fields.
 * @param rules the rules of the resource; undefined if every value is valid
 * @throws ApiError VALIDATION_ERROR with a detail for each invalid or missing field
 */
export function assertCustomFields(
  rules: CustomFieldRules | undefined,
  { customFields, isNew = false }: CheckedRequest,
  { isImport = false }: Pick<Context, 'isImport'>,
): void {
  if (rules === undefined) return;
  const given = customFields ?? {};
  const misfits = Object.entries(given).flatMap(([key, value]) => {
    const message = value === null ? undefined : findProblem(rules, key, value);
    return message === undefined ? [] : [{ key, message }];
  });
  const required = isNew && !isImport ? rules.definitions.filter(({ required, active }) => required && active) : [];
  const missing = required.filter(({ key }) => getFieldValue(given, key) === null);
  reject([...misfits, ...missing.map(({ key }) => ({ key, message: 'is required' }))]);
}

/** Returns the validation message if the rules reject a value. */
function findProblem({ isStrict, definitions }: CustomFieldRules, key: string, value: unknown): string | undefined {
  const definition = definitions.find((each) => each.key === key);
  if (definition !== undefined) return findMisfit(definition, value);
  return isStrict ? notDefined : undefined;
}

/** Returns the value of a field, or null if it has none. A key can be the name of a method, such as `constructor`. */
export function getFieldValue(fields: CustomFields, key: string): CustomFields[string] {
  return (Object.hasOwn(fields, key) ? fields[key] : undefined) ?? null;
}

function reject(problems: { key: string; message: string }[]): void {
  if (problems.length === 0) return;
  const issues = problems.map(({ key, message }) => ({ path: ['customFields', key], message }));
  throw validationError(detailsOf(issues, 'is unknown'));
}
