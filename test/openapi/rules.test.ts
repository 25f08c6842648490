import { readFile } from 'node:fs/promises';
import { downgrade, type OpenApi, openApiDocument, type Schema } from '@itsm-api/contract/openapi';
import { describe, expect, it } from 'vitest';
import { follow } from './operations.ts';

/**
 * Tests rules for every part of the OpenAPI document, in versions 3.1 and 3.0. Each rule returns the locations of its
 * violations.
 */
const forms: [form: string, document: OpenApi][] = [
  ['3.1', openApiDocument()],
  ['3.0', downgrade(openApiDocument())],
];

// biome-ignore lint/suspicious/noExplicitAny: the tests know the structure
type Part = any;

/**
 * Yields every object in the document, and the path of the object. Skips examples, default values and enum values,
 * because they are data.
 */
function* parts(value: unknown, at: string[] = []): Generator<[at: string[], part: Schema]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [at, value as Schema];
  const isData = (name: string) =>
    ['example', 'examples', 'default', 'enum'].includes(name) && at.at(-1) !== 'properties';
  for (const [name, inner] of Object.entries(value)) if (!isData(name)) yield* parts(inner, [...at, name]);
}

const namedAt = (section: string, at: string[]) => at.length === 3 && at[0] === 'components' && at[1] === section;
const isProperty = (at: string[]) => at.at(-2) === 'properties' && at.at(-3) !== 'properties';

/**
 * Returns the description of a part of the document. If the part has no description, returns the description of the
 * schema that the part references.
 */
function getDescription(part: Schema, document: OpenApi): unknown {
  const [named = part] = Array.isArray(part.allOf) ? (part.allOf as Schema[]) : [];
  return part.description ?? follow(named, document).description;
}

/** Returns the locations where a description is missing or is not a sentence. */
function findMissingDescriptions(document: OpenApi): string[] {
  const sections = ['schemas', 'parameters', 'headers', 'responses'];
  const needsDescription = (at: string[]) =>
    isProperty(at) ||
    sections.some((section) => namedAt(section, at)) ||
    at.at(-1) === 'requestBody' ||
    (at[0] !== 'components' && (at.at(-2) === 'responses' || at.at(-2) === 'parameters'));
  return [...parts(document)]
    .filter(
      ([at, part]) => needsDescription(at) && !/^(?:- )?[A-Z`].+[.:]$/s.test(String(getDescription(part, document))),
    )
    .map(([at]) => at.join('/'));
}

/** Returns the locations of `anyOf` and `oneOf` that are not in a named schema. */
function findUnnamedChoices(document: OpenApi): string[] {
  return [...parts(document)]
    .filter(([at, part]) => ('anyOf' in part || 'oneOf' in part) && !isProperty([...at, '']) && !namedAt('schemas', at))
    .map(([at]) => at.join('/'));
}

/** Returns the locations of ids without `int64`, and of other integers with `int64`. */
function findWrongIntegers(document: OpenApi): string[] {
  const isId = (name: unknown) => /^id$|Ids?$/.test(String(name));
  const integers = (value: unknown) => [...parts(value)].filter(([, { type }]) => [type].flat().includes('integer'));
  const sizedFor = (name: unknown, schema: unknown) =>
    integers(schema).every(([, { format }]) => (format === 'int64') === isId(name));
  const isRight = (at: string[], part: Schema) => {
    if (namedAt('parameters', at)) return sizedFor(part.name, part.schema);
    // The schemas `from` and `to` of a change are nested in the schema of the changed field.
    const name = /^(from|to)$/.test(at.at(-1) ?? '') ? at.at(-3) : at.at(-1);
    return !isProperty(at) || part.type === 'object' || sizedFor(name, part);
  };
  return [...parts(document)].filter(([at, part]) => !isRight(at, part)).map(([at]) => at.join('/'));
}

describe.each(forms)('OpenAPI %s', (_, document) => {
  it('describes every part of the OpenAPI document in a sentence', () => {
    expect(findMissingDescriptions(document)).toEqual([]);
  });

  it('defines every choice between schemas as a named schema', () => {
    expect(findUnnamedChoices(document)).toEqual([]);
  });

  it('uses the format int64 for all ids, but for no other integers', () => {
    expect(findWrongIntegers(document)).toEqual([]);
  });

  it.each<[rule: string, broken: (document: Part) => void, find: (document: OpenApi) => string[]]>([
    [
      'a field without a description',
      (d) => delete d.components.schemas.Ticket.properties.title.description,
      findMissingDescriptions,
    ],
    [
      'a description that is not a sentence',
      (d) => (d.components.parameters.Page.description = 'page'),
      findMissingDescriptions,
    ],
    [
      'a body without a description',
      (d) => delete d.paths['/tickets'].post.requestBody.description,
      findMissingDescriptions,
    ],
    [
      'a named schema without a description',
      (d) => delete d.components.schemas.Priority.description,
      findMissingDescriptions,
    ],
    [
      'a choice without a name',
      (d) => (d.components.schemas.Ticket.properties.title.anyOf = [{}, {}]),
      findUnnamedChoices,
    ],
    ['an id without int64', (d) => delete d.components.schemas.Ticket.properties.id.format, findWrongIntegers],
    ['a path id without int64', (d) => delete d.components.parameters.TaskId.schema.format, findWrongIntegers],
    [
      'a page number with int64',
      (d) => (d.components.schemas.PageMeta.properties.page.format = 'int64'),
      findWrongIntegers,
    ],
  ])('detects %s in the OpenAPI document', (_, breakIt, find) => {
    const broken = structuredClone(document);
    breakIt(broken);
    expect(find(broken)).not.toEqual([]);
  });
});

it('adds the prefix Nullable to the name of a nullable schema', () => {
  const schemas = (document: OpenApi) => document.components.schemas as Part;
  const [newer, older] = forms.map(([, document]) => schemas(document));
  expect(newer.Ticket.properties.category).toMatchObject({ $ref: '#/components/schemas/NullableTicketCategory' });
  expect(newer.NullableTicketCategory.anyOf).toEqual([
    { $ref: '#/components/schemas/TicketCategory' },
    { type: 'null' },
  ]);
  expect(older.Ticket.properties.category).toMatchObject({
    allOf: [{ $ref: '#/components/schemas/NullableTicketCategory' }],
  });
  expect(older.NullableTicketCategory).toMatchObject({
    type: 'string',
    nullable: true,
    enum: [...older.TicketCategory.enum, null],
  });
});

it('documents ticket ids and ticket numbers for every reference to a ticket', () => {
  const { parameters, schemas } = openApiDocument().components as Part;
  const $ref = '#/components/schemas/TicketReference';
  expect(schemas.TicketReference.anyOf).toMatchObject([
    { type: 'integer', format: 'int64' },
    { $ref: '#/components/schemas/TicketNumber' },
  ]);
  expect(schemas.TicketNumber).toMatchObject({ type: 'string', pattern: expect.any(String) });
  expect(parameters.TicketId.schema).toMatchObject({ $ref });
  expect(parameters.TicketParentIdFilter.schema.items).toMatchObject({ $ref });
  expect(schemas.TicketPatchItem.properties.id).toMatchObject({ $ref });
  expect(schemas.NullableTicketReference.anyOf[0]).toEqual({ $ref });
});

it('documents a concrete media type for every request body, because generated clients send it', () => {
  const operations = Object.values(openApiDocument().paths).flatMap((item) => Object.values(item) as Part[]);
  const types = operations.flatMap(({ requestBody }) => Object.keys(requestBody?.content ?? {}));
  expect([...new Set(types)].sort()).toEqual(['application/json', 'application/octet-stream']);
});

it('documents no example of the error envelope, because mock servers would always return it', () => {
  expect(openApiDocument().components.schemas.ErrorEnvelope).not.toHaveProperty('examples');
});

it('documents the old and new values of a change with the type of the field', () => {
  const { Ticket, TicketChanges, Task, TaskChanges, Asset, AssetChanges } = openApiDocument().components
    .schemas as Part;
  for (const [resource, changes, constant] of [
    [Ticket, TicketChanges, ['id', 'ticketNumber', 'type', 'formKey', 'requesterId', 'createdAt', 'updatedAt', 'etag']],
    [Task, TaskChanges, ['id', 'projectId', 'createdAt', 'updatedAt', 'etag']],
    [Asset, AssetChanges, ['id', 'assetTag', 'createdAt', 'updatedAt', 'etag']],
  ]) {
    const fields = Object.entries(resource.properties as Part).filter(([name]) => !constant.includes(name));
    const values = fields.map(([name, field]) => {
      const type = { ...(field as Schema), description: expect.any(String) };
      return [name, { from: type, to: type }];
    });
    // The links and attachments of a ticket are not fields, but have their own endpoints.
    const { links: _, attachments: __, approvals: ___, ...changeable } = changes.properties as Part;
    const documented = Object.entries(changeable).map(([name, { properties }]: Part) => [name, properties]);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(values));
  }
});

it('lists every new operation in the changelog', async () => {
  const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  const baseline: OpenApi = JSON.parse(await read('contract/baseline/openapi.json'));
  const changelog = await read('docs/changelog.md');
  const added = Object.entries(openApiDocument().paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => baseline.paths[path]?.[method] === undefined)
      .map((method) => `\`${method.toUpperCase()} ${path}\``),
  );
  const missing = added.filter((operation) => !changelog.includes(operation));
  expect(missing, 'Add these operations to docs/changelog.md.').toEqual([]);
});

it('starts each entry of the changelog with a link, and dates each version', async () => {
  const changelog = await readFile(new URL('../../docs/changelog.md', import.meta.url), 'utf8');
  const entries = [...changelog.matchAll(/^- .*$/gm)].map(([entry]) => entry);
  expect(entries.length).toBeGreaterThan(50);
  expect(entries.filter((entry) => !entry.slice(0, 60).includes('['))).toEqual([]);
  const [unreleased, ...versions] = [...changelog.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  expect(unreleased).toBe('Unreleased');
  for (const version of versions) expect(version).toMatch(/^\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d(, not published)?\)$/);
});

it('links from the changelog only to existing guides and headings', async () => {
  const changelog = await readFile(new URL('../../docs/changelog.md', import.meta.url), 'utf8');
  const links = [...changelog.matchAll(/\]\((guides\/[\w-]+\.md)(?:#([\w-]+))?\)/g)];
  expect(links.length).toBeGreaterThan(10);
  for (const [link, file, anchor] of links) {
    const guide = await readFile(new URL(`../../docs/${file}`, import.meta.url), 'utf8');
    const headings = [...guide.matchAll(/^#+ (.+)$/gm)].map(([, words = '']) =>
      words.toLowerCase().replaceAll(' ', '-'),
    );
    if (anchor !== undefined) expect(headings, link).toContain(anchor);
  }
});
