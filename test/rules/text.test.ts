import { type Endpoint, hasBody } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import * as z from 'zod';
import { type Answer, errorOf } from '../support/api.ts';
import { execute } from '../support/database.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createSender, keyedEndpoints, type SampledEndpoint } from '../support/samples.ts';
import { ticket } from '../support/workspace.ts';

/** All control characters except tab, line feed and carriage return. */
const controls = [...range(0x00, 0x1f), ...range(0x7f, 0x9f)]
  .map((unit) => String.fromCharCode(unit))
  .filter((character) => !'\t\n\r'.includes(character));

/** A text with 65,535 characters but 65,536 bytes, because one character has two bytes in UTF-8. */
const longInBytes = `${'x'.repeat(65_533)}ä\n`;

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Returns the fields of a request body. All variants of a union have the same text fields. */
function shapeOf(route: Endpoint): Record<string, z.ZodType> {
  if (!hasBody(route)) return {};
  const [variant] = route.body instanceof z.ZodDiscriminatedUnion ? route.body.options : [route.body];
  return (variant as z.ZodObject<Record<string, z.ZodType>>).shape;
}

/** Returns the text fields of a request body. Omits fields with a specific format, such as dates. */
function textFields(route: Endpoint): [name: string, schema: z.ZodString][] {
  return Object.entries(shapeOf(route)).flatMap(([name, field]): [string, z.ZodString][] => {
    const inner = unwrap(field);
    return inner instanceof z.ZodString && inner.maxLength !== null ? [[name, inner]] : [];
  });
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrap(schema.unwrap() as z.ZodType)
    : schema;
}

const fields = keyedEndpoints.flatMap((endpoint) =>
  textFields(endpoint.route).map(([name, schema]) => ({ title: endpoint.title, name, schema, endpoint })),
);

const senders = new Map(
  keyedEndpoints.map((endpoint) => [endpoint, createSender(endpoint, () => ({ api, workspace }))]),
);

/** Sends a valid request with a changed body. */
function send(endpoint: SampledEndpoint, change: Record<string, unknown>): Promise<Answer> {
  const sender = senders.get(endpoint) as ReturnType<typeof createSender>;
  return sender(({ body }) => ({ body: { ...body, ...change } }));
}

it.each(fields)('rejects control characters in the field $name of $title', async ({ name, endpoint }) => {
  for (const character of controls) {
    const answer = await send(endpoint, { [name]: `a${character}b` });
    expect(answer.status, JSON.stringify(character)).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: name }] });
  }
});

const longFields = fields.filter(({ schema }) => schema.maxLength === 65_535);

it.each(longFields)('rejects more than 65,535 bytes in the field $name of $title', async ({ name, endpoint }) => {
  const fits = longInBytes.slice(1);
  expect((await send(endpoint, { [name]: fits })).body.data[name] === fits).toBe(true);
  // The emoji text has more than 65,535 UTF-16 code units but only 40,000 characters.
  for (const tooLong of [longInBytes, '😀'.repeat(40_000)]) {
    expect(errorOf(await send(endpoint, { [name]: tooLong }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: name, message: 'must be at most 65535 bytes in UTF-8' }],
    });
  }
});

it('rejects long texts of combining characters, whose normalization is slow, within a second of CPU time', async () => {
  const value = `a${'\u0315\u0316'.repeat(50_000)}`;
  const start = process.cpuUsage();
  const asset = { name: 'Laptop', assetTag: value, type: 'LAPTOP', tags: [value] };
  const answer = await workspace.call('POST', '/assets', asset);
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1e6).toBeLessThan(1);
  expect(errorOf(answer).details).toMatchObject([{ path: 'assetTag' }, { path: 'tags.0' }]);
});

it('covers the text fields of tickets, assets, tasks and webhooks in the tests', () => {
  expect([...new Set(fields.map(({ name }) => name))]).toEqual(
    expect.arrayContaining(['title', 'description', 'resolution', 'notes', 'secret', 'url']),
  );
});

const withCustomFields = keyedEndpoints.filter(({ route }) => 'customFields' in shapeOf(route));

it.each(withCustomFields)('rejects control characters in custom fields of $title', async (endpoint) => {
  for (const customFields of [{ 'a\u0001': 1 }, { a: '\u0085' }, { a: ['fine', '\u007f'] }]) {
    const answer = await send(endpoint, { customFields });
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(errorOf(answer).details?.[0]?.path).toMatch(/^customFields\.a/);
  }
});

describe('a row that predates these limits', () => {
  const text = '\u0001ä'.repeat(32_000);
  const customFields = { old: 1e308, 'a\u0001': '\u0085', tiny: [5e-324] };

  /** Writes values that earlier releases accepted but that the API now rejects. */
  function age(table: string, id: number, columns: Record<string, string>): Promise<unknown> {
    const set = Object.entries({ ...columns, custom_fields: JSON.stringify(customFields) }).map(
      ([column, value]) => `${column} = '${value.replaceAll("'", "''")}'`,
    );
    return execute(api.databaseUrl, `UPDATE ${table} SET ${set.join(', ')} WHERE id = ${id}`);
  }

  it('accepts changes to a ticket even if another field contains text that exceeds newer limits', async () => {
    const { id } = await workspace.createTicket(ticket);
    await age('tickets', id, { title: 'a\u0001', description: text, resolution: text });
    const old = { title: 'a\u0001', description: text, resolution: text, customFields };
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data).toMatchObject(old);
    expect((await workspace.call('GET', '/tickets')).body.data[0]).toMatchObject(old);

    const changed = await workspace.call('PATCH', `/tickets/${id}`, { priority: 'LOW', customFields: { new: 1 } });
    expect(changed.status, changed.text.slice(0, 500)).toBe(200);
    expect(changed.body.data).toMatchObject({ ...old, priority: 'LOW', customFields: { ...customFields, new: 1 } });
  });

  it('accepts changes to an asset even if another field contains text that exceeds newer limits', async () => {
    const { id } = await workspace.createAsset();
    await age('assets', id, { name: 'a\u0001', notes: text });
    const old = { name: 'a\u0001', notes: text, customFields };
    expect((await workspace.call('GET', '/assets')).body.data[0]).toMatchObject(old);

    const changed = await workspace.call('PATCH', `/assets/${id}`, { location: 'Bonn', customFields: { old: null } });
    expect(changed.status, changed.text.slice(0, 500)).toBe(200);
    const { old: _, ...kept } = customFields;
    expect(changed.body.data).toMatchObject({ ...old, location: 'Bonn', customFields: kept });
  });
});
