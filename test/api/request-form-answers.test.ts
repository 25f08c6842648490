import type { CustomFieldType } from '@itsm-api/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect } from 'vitest';
import { it, workspace } from '../support/fixture.ts';

/*
 * Sends generated answers, valid and invalid, and compares the responses with ajv and the schema of the form. The
 * environment variable ANSWER_RUNS sets the number of requests. The schema doesn't describe the size of all answers,
 * control characters and unpaired surrogates.
 */
const numRuns = Number(process.env.ANSWER_RUNS ?? 300);

const options = ['a', 'b', 'ü 1'].map((value) => ({ value, label: `Label ${value}` }));
const choice = fc.constantFrom<unknown>('a', 'b', 'ü 1', 'c', 'A', 'old', '');
const any = fc.oneof(
  fc.constantFrom<unknown>(null, '', 0, -0, 1, true, false, [], {}, ['a']),
  fc.jsonValue({ maxDepth: 1 }),
);

/** Values that are at the limits of each type. */
const values: Record<CustomFieldType, fc.Arbitrary<unknown>> = {
  TEXT: fc.string({ unit: 'grapheme', maxLength: 40 }),
  NUMBER: fc.oneof(
    fc.constantFrom(0, 1e-9, -1e-9, 9e-10, 1e-10, 1e15, -1e15, 1e15 + 1, 1e16, 5e-324, 0.1),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
  BOOLEAN: fc.constantFrom<unknown>(true, false, 'true', 0),
  DATE: fc.oneof(
    fc.constantFrom('2024-02-29', '2026-02-29', '0000-01-01', '0001-01-01', '9999-12-31', '2026-13-01', '2026-1-1'),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
    fc.constantFrom('2026-11-20T00:00:00Z', '2026-11-20\n', ' 2026-11-20', '20261120'),
  ),
  SELECT: choice,
  MULTI_SELECT: fc.oneof(fc.array(choice, { maxLength: 4 }), choice),
  USER: fc.constantFrom<unknown>(1, 0, -1, 1.5, 9_007_199_254_740_991, 9_007_199_254_740_992, 1e300, '1'),
};
const types = Object.keys(values) as CustomFieldType[];

it('accepts exactly the answers that fit the schema of the form', { timeout: 60_000 + numRuns * 200 }, async () => {
  for (const type of types) {
    const isSelect = type.includes('SELECT');
    await workspace.createField({ key: type.toLowerCase(), type, ...(isSelect && { options }) });
  }
  // All objects of JavaScript have this member.
  await workspace.createField({ key: 'constructor' });
  await workspace.createField({ key: 'fixed' });
  await workspace.createField({ key: 'plan', type: 'NUMBER', required: true });
  const fields = types.map((type) => ({ key: type.toLowerCase(), required: type === 'TEXT' || type === 'NUMBER' }));
  await workspace.createForm({
    key: 'all',
    fields: [
      ...fields.map((field) => (field.key === 'number' ? { ...field, default: 2 } : field)),
      ...[{ key: 'constructor' }, { key: 'fixed', fixed: 'x' }],
    ],
  });
  const { schema } = (await workspace.call('GET', '/request-forms/all')).body.data;
  const validate = new Ajv2020({ validateFormats: false, ownProperties: true }).compile(schema);

  const mostly = (value: fc.Arbitrary<unknown>) => fc.oneof({ weight: 12, arbitrary: value }, any);
  const generated = {
    ...Object.fromEntries(types.map((type) => [type.toLowerCase(), mostly(values[type])])),
    ...{ plan: mostly(values.NUMBER), constructor: mostly(values.TEXT), fixed: values.TEXT, unknown: any },
  };
  // With more generated answers, nearly all requests would be invalid.
  const answers = fc
    .tuple(fc.record(generated), fc.subarray(Object.keys(generated), { maxLength: 3 }), fc.boolean())
    .map(([record, keys, isComplete]) => ({
      ...(isComplete && { text: 'x' }),
      ...{ plan: 1, ...Object.fromEntries(Object.entries(record).filter(([key]) => keys.includes(key))) },
    }));
  const accepted = { valid: 0, invalid: 0 };
  await fc.assert(
    fc.asyncProperty(answers, async (given) => {
      const sent = JSON.parse(JSON.stringify(given));
      const text = JSON.stringify(sent);
      fc.pre(text.isWellFormed() && !/\\u00[01]|\\u007f|[\p{Cc}]/u.test(text) && !/\\u[dD][89a-fA-F]/.test(text));
      const { status, body } = await workspace.call('POST', '/request-forms/all/tickets', { answers: sent });
      const isValid = validate(sent);
      expect([status, body.error?.code], `${text} ${JSON.stringify(validate.errors)}`).toEqual(
        isValid ? [201, undefined] : [400, 'VALIDATION_ERROR'],
      );
      accepted[isValid ? 'valid' : 'invalid'] += 1;
    }),
    { numRuns, seed: Number(process.env.ANSWER_SEED ?? Date.now()) },
  );
  expect(Math.min(accepted.valid, accepted.invalid)).toBeGreaterThan(numRuns / 10);
});
