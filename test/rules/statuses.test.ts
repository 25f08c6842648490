import { errors } from '@itsm-api/contract';
import { expect, it } from 'vitest';
import { operations, specifiedStatuses } from '../openapi/operations.ts';

/*
 * Programs that know the specification alone get its statuses alone (docs/decisions/errors.md). Another one answers only
 * requests that carry a header which asks for it. That the server keeps to it is tried by test/openapi/conformance.test.ts.
 */

/** The statuses beyond those of the specification, and the header that asks for each. */
const askedFor: Record<number, string> = { 409: 'Idempotency-Key' };

it('every error has a status of the specification, or one that a header asks for', () => {
  const others = Object.values(errors).filter(({ status }) => !specifiedStatuses.includes(status));
  expect([...new Set(others.map(({ status }) => String(status)))]).toEqual(Object.keys(askedFor));
});

it.each(operations)('$id answers with such a status only where it takes the header', ({ answers, parameters }) => {
  for (const status of Object.keys(answers).map(Number)) {
    if (specifiedStatuses.includes(status)) continue;
    expect(parameters).toContainEqual(expect.objectContaining({ in: 'header', name: askedFor[status] }));
  }
});
