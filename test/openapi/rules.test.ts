import { readFile } from 'node:fs/promises';
import { downgrade, type OpenApi, openApiDocument, type Schema } from '@itsm-api/contract/openapi';
import { describe, expect, it } from 'vitest';
import { follow } from './operations.ts';

/*
 * What holds for all of the document, in both of its forms. A rule names the places that break it.
 */
const forms: [form: string, make: () => OpenApi][] = [
  ['3.1', openApiDocument],
  ['3.0', () => downgrade(openApiDocument())],
];

// biome-ignore lint/suspicious/noExplicitAny: the tests know what stands where
type Part = any;

/** Every object of the document with the way that leads to it; what examples hold is data, and no part of it. */
function* parts(value: unknown, at: string[] = []): Generator<[at: string[], part: Schema]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [at, value as Schema];
  const isData = (name: string) =>
    ['example', 'examples', 'default', 'enum'].includes(name) && at.at(-1) !== 'properties';
  for (const [name, inner] of Object.entries(value)) if (!isData(name)) yield* parts(inner, [...at, name]);
}

const namedAt = (section: string, at: string[]) => at.length === 3 && at[0] === 'components' && at[1] === section;
const isProperty = (at: string[]) => at.at(-2) === 'properties' && at.at(-3) !== 'properties';

/** A property may leave it to the schema that it names to say what it is. */
function wordsOf(part: Schema, document: OpenApi): unknown {
  const [named = part] = Array.isArray(part.allOf) ? (part.allOf as Schema[]) : [];
  return part.description ?? follow(named, document).description;
}

/** The places that need words and have no sentence. */
function speechless(document: OpenApi): string[] {
  const sections = ['schemas', 'parameters', 'headers', 'responses'];
  const needsWords = (at: string[]) =>
    isProperty(at) ||
    sections.some((section) => namedAt(section, at)) ||
    at.at(-1) === 'requestBody' ||
    (at[0] !== 'components' && (at.at(-2) === 'responses' || at.at(-2) === 'parameters'));
  return [...parts(document)]
    .filter(([at, part]) => needsWords(at) && !/^(?:- )?[A-Z`].+[.:]$/s.test(String(wordsOf(part, document))))
    .map(([at]) => at.join('/'));
}

/** The choices that are no named schema. */
function unnamedChoices(document: OpenApi): string[] {
  return [...parts(document)]
    .filter(([at, part]) => ('anyOf' in part || 'oneOf' in part) && !isProperty([...at, '']) && !namedAt('schemas', at))
    .map(([at]) => at.join('/'));
}

/** The ids, in whatever place, that aren't of 64 bits, and what is of 64 bits without being an id. */
function wrongIntegers(document: OpenApi): string[] {
  const isId = (name: unknown) => /^id$|Ids?$/.test(String(name));
  const integers = (value: unknown) => [...parts(value)].filter(([, { type }]) => [type].flat().includes('integer'));
  const sizedFor = (name: unknown, schema: unknown) =>
    integers(schema).every(([, { format }]) => (format === 'int64') === isId(name));
  const isRight = (at: string[], part: Schema) => {
    if (namedAt('parameters', at)) return sizedFor(part.name, part.schema);
    // Of a change the field is named above `from` and `to`.
    const name = /^(from|to)$/.test(at.at(-1) ?? '') ? at.at(-3) : at.at(-1);
    return !isProperty(at) || part.type === 'object' || sizedFor(name, part);
  };
  return [...parts(document)].filter(([at, part]) => !isRight(at, part)).map(([at]) => at.join('/'));
}

describe.each(forms)('OpenAPI %s', (_, make) => {
  it('says of everything, in a sentence, what it is', () => {
    expect(speechless(make())).toEqual([]);
  });

  it('gives every choice a name', () => {
    expect(unnamedChoices(make())).toEqual([]);
  });

  it('has ids of 64 bits', () => {
    expect(wrongIntegers(make())).toEqual([]);
  });

  it.each<[rule: string, broken: (document: Part) => void, find: (document: OpenApi) => string[]]>([
    ['a field without words', (d) => delete d.components.schemas.Ticket.properties.title.description, speechless],
    ['words that are no sentence', (d) => (d.components.parameters.Page.description = 'page'), speechless],
    ['a body without words', (d) => delete d.paths['/tickets'].post.requestBody.description, speechless],
    ['a named schema without words', (d) => delete d.components.schemas.Priority.description, speechless],
    ['a choice without a name', (d) => (d.components.schemas.Ticket.properties.title.anyOf = [{}, {}]), unnamedChoices],
    ['an id of any size', (d) => delete d.components.schemas.Ticket.properties.id.format, wrongIntegers],
    ['an id of a path of any size', (d) => delete d.components.parameters.TaskId.schema.format, wrongIntegers],
    ['a page of 64 bits', (d) => (d.components.schemas.PageMeta.properties.page.format = 'int64'), wrongIntegers],
  ])('would be found to have %s', (_, breakIt, find) => {
    const document = structuredClone(make());
    breakIt(document);
    expect(find(document)).not.toEqual([]);
  });
});

it('names what may be null by the schema that it is otherwise', () => {
  const schemas = (document: OpenApi) => document.components.schemas as Part;
  const [newer, older] = forms.map(([, make]) => schemas(make()));
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

it('accepts the id or the number of a ticket wherever a request names one', () => {
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

it('gives the error envelope no example of its own, which mocks would return for every error', () => {
  expect(openApiDocument().components.schemas.ErrorEnvelope).not.toHaveProperty('examples');
});

it('tells of every change the type of its field', () => {
  const { Ticket, TicketChanges, Task, TaskChanges, Asset, AssetChanges } = openApiDocument().components
    .schemas as Part;
  for (const [resource, changes, constant] of [
    [Ticket, TicketChanges, ['id', 'ticketNumber', 'type', 'requesterId', 'createdAt', 'updatedAt']],
    [Task, TaskChanges, ['id', 'projectId', 'createdAt', 'updatedAt']],
    [Asset, AssetChanges, ['id', 'assetTag', 'createdAt', 'updatedAt']],
  ]) {
    const fields = Object.entries(resource.properties as Part).filter(([name]) => !constant.includes(name));
    const values = fields.map(([name, field]) => {
      const type = { ...(field as Schema), description: expect.any(String) };
      return [name, { from: type, to: type }];
    });
    const told = Object.entries(changes.properties as Part).map(([name, { properties }]: Part) => [name, properties]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(values));
  }
});

it('has a changelog that names every operation since the release', async () => {
  const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  const released: OpenApi = JSON.parse(await read('contract/released/openapi.json'));
  const changelog = await read('docs/changelog.md');
  const added = Object.entries(openApiDocument().paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => released.paths[path]?.[method] === undefined)
      .map((method) => `\`${method.toUpperCase()} ${path}\``),
  );
  expect(added.filter((operation) => !changelog.includes(operation))).toEqual([]);
});

it('has a changelog whose links lead somewhere', async () => {
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
