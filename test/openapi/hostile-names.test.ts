import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CustomFieldDefinition, canFilter, hasOptions, maxFilterableFields } from '@itsm-api/contract';
import { setStrictMode } from '@itsm-api/server/resources/custom-fields/strict-mode.ts';
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { api, itWithApi as it } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';
import { compile, createProjectFolder, fieldTypes, type Generator, generators, run } from './generators.ts';

/*
 * Generates types for workspaces whose administrators chose hostile names and texts, and compiles programs that use
 * every field and option. The environment variable GENERATOR_DOCUMENTS sets the number of workspaces, and GENERATOR_SEED
 * the seed of the names.
 */
const documents = Number(process.env.GENERATOR_DOCUMENTS ?? 5);
const seed = Number(process.env.GENERATOR_SEED ?? 1);
const program = fileURLToPath(new URL('../../client/bin/itsm-client.ts', import.meta.url));

let origin: string;
let folder: string;

it.beforeAll(async () => {
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  folder = await createProjectFolder();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Texts that end literals, comments and tags, start code, or look like other names. */
const pieces = [
  ...'*/ /* // " \' ` \\ { } ; --> <!-- ]]> </script> @deprecated @ts-expect-error @ts-ignore @ts-nocheck'.split(' '),
  ...'__proto__ constructor prototype toString hasOwnProperty class default enum null true undefined NaN'.split(' '),
  ...'0 1 01 -1 1e3 . - _ + $ # @ ! ? = $ref $id #/components/schemas/Ticket {{x}} %s a-b a_b aB AB'.split(' '),
  ...[
    '*/ export const hacked = 1; /*',
    "'; export const hacked = 1; //",
    '"; export const hacked = 1; //',
    '`+hacked+`',
  ],
  ...['<img src=x onerror=alert(1)>', '[x](javascript:alert(1))', '{@link hacked}', '# Heading', '- item', '1. item'],
  ...[
    '> quote',
    '**bold**',
    '&lt;',
    '| a | b |',
    'a b',
    'a\nb',
    'a\tb',
    'a\r\nb',
    '\u2028',
    '\u2029',
    '\u202e',
    '\u2066',
  ],
  ...['\u200b', '\ufeff', '😀', 'é', 'e\u0301', '日本', 'ß', 'İ'],
];
const hostileText = (maxLength: number) =>
  fc
    .oneof(
      fc.constantFrom(...pieces),
      fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
    )
    .map((text) =>
      text
        .toWellFormed()
        .replaceAll(/[\p{Cc}--[\t\n\r]]/gv, '')
        .slice(0, maxLength)
        .trim(),
    )
    .filter((text) => text !== '' && text.isWellFormed());
const hostileValue = hostileText(100).filter((text) => !text.includes(','));

/** Keys that are names of JavaScript, of OpenAPI or of parameters, or that generators give the same name. */
const keys = [
  ...'constructor toString hasOwnProperty valueOf prototype then toJSON length name class default delete'.split(' '),
  ...'type properties items enum required description format nullable oneOf readOnly discriminator example'.split(' '),
  ...'examples const not if title additionalProperties status q page customFields value patch'.split(' '),
  ...['a_b', 'aB', 'a', 'aItem', 'a_item', 'x'.repeat(63)],
];
const types = ['SELECT', 'SELECT', 'MULTI_SELECT', 'TEXT', 'NUMBER', 'BOOLEAN', 'DATE', 'USER'] as const;

const hostileField = fc.record({
  resource: fc.constantFrom('TICKET' as const, 'ASSET' as const),
  key: fc.oneof(fc.constantFrom(...keys), fc.stringMatching(/^[a-z][A-Za-z0-9_]{0,8}$/)),
  type: fc.constantFrom(...types),
  label: hostileText(100),
  description: fc.option(hostileText(1000)),
  required: fc.nat(4).map((number) => number === 0),
  options: fc.uniqueArray(fc.record({ value: hostileValue, label: hostileText(100) }), {
    ...{ minLength: 1, maxLength: 30 },
    selector: ({ value }) => value,
  }),
});
const workspaces = fc.record({
  isStrict: fc.boolean(),
  // hey-api generates only one of two filters whose names differ only in capitals.
  fields: fc.uniqueArray(hostileField, {
    ...{ minLength: 16, maxLength: 30 },
    selector: ({ resource, key }) => `${resource} ${key.toLowerCase()}`,
  }),
  categories: fc.uniqueArray(fc.record({ id: hostileText(255), name: hostileText(100) }), {
    ...{ maxLength: 20 },
    selector: ({ id }) => id,
  }),
});

/** Source code that `useOf` needs: the names of the types, and a filter by a field. */
interface Target {
  types: string;
  filter(key: string, value: string): string;
}

const targets: Record<Generator | 'client', Target> = {
  ...(Object.fromEntries(
    Object.entries(fieldTypes).map(([generator, types]) => [
      generator,
      { types, filter: (key: string, value: string) => `{ ${JSON.stringify(`customFields[${key}]`)}: [${value}] }` },
    ]),
  ) as Record<Generator, Target>),
  client: {
    types: `
      import { ItsmClient, type RequestFormSubmission } from '@itsm-api/client';
      import type { AssetFields, Forms, TicketFields } from './itsm-fields.d.ts';
      type Types = { ticket: TicketFields; asset: AssetFields; forms: Forms };
      const client = new ItsmClient<Types>({ baseUrl: '', apiKey: '' });
      type Submission = RequestFormSubmission<Forms['new-laptop']>;
      type NewTicket = Parameters<typeof client.tickets.create>[0];
      type TicketPatch = Parameters<typeof client.tickets.update>[1];
      type Ticket = Awaited<ReturnType<typeof client.tickets.get>>;
      type Query = Parameters<typeof client.tickets.list>[0];
      type NewAsset = Parameters<typeof client.assets.create>[0];
      type AssetPatch = Parameters<typeof client.assets.update>[1];
      type Asset = Awaited<ReturnType<typeof client.assets.get>>;
      type AssetQuery = Parameters<typeof client.assets.list>[0];
    `,
    filter: (key, value) => `{ customFields: { ${key}: [${value}] } }`,
  },
};

const samples = { TEXT: "'x'", NUMBER: '1.5', BOOLEAN: 'true', DATE: "'2026-11-20'", USER: '1' };

/** Returns a program that writes and filters by each value of each field, and reads each field. */
function useOf(definitions: readonly CustomFieldDefinition[], categories: { id: string }[], target: Target): string {
  const valuesOf = ({ type, options }: CustomFieldDefinition) =>
    options?.map(({ value }) => JSON.stringify(value)) ?? [samples[type as keyof typeof samples]];
  const given = ({ key, type }: CustomFieldDefinition, value = '') =>
    `${key}: ${type === 'MULTI_SELECT' ? `[${value}]` : value}`;
  const useFields = (type: 'Ticket' | 'Asset', query: string, example: string) => {
    const own = definitions.filter(({ resource }) => resource === type.toUpperCase());
    const all = own.flatMap((definition) => valuesOf(definition).map((value) => ({ definition, value })));
    const patches = all.map(({ definition, value }) => `{ customFields: { ${given(definition, value)} } }`);
    const filters = all
      .filter(({ definition }) => definition.filterable)
      .map(({ definition, value }) => target.filter(definition.key, value));
    const required = own.filter(({ required }) => required).map((each) => given(each, valuesOf(each)[0]));
    // The types of inherited names are open.
    const closed = own.filter(({ key, options }) => options && !(key in Object.prototype));
    const answers = all
      .filter(({ definition }) => type === 'Ticket' && !required.includes(given(definition, valuesOf(definition)[0])))
      .map(({ definition, value }) => `{ answers: { ${[...required, given(definition, value)]} } }`);
    return `
      ${type === 'Ticket' ? `export const submissions: Submission[] = [${answers.join(',\n')}];` : ''}
      export const patches${type}: ${type}Patch[] = [${patches.join(',\n')}];
      export const filters${type}: ${query}[] = [${filters.join(',\n')}];
      export const created${type}: New${type} = { ${example}, customFields: { ${required} } };
      export const read${type} = ({ customFields }: ${type}): unknown[] => [${own.map(({ key }) => `customFields.${key}`)}];
      ${closed.map((each, index) => `// @ts-expect-error an option that there is not\n      export const wrong${type}${index}: ${type}Patch = { customFields: { ${given(each, "'no such option'")} } };`).join('\n      ')}
    `;
  };
  return `${target.types}
    ${useFields('Ticket', 'Query', "title: 'Printer', description: 'Jams.', type: 'INCIDENT', category: 'HARDWARE'")}
    ${useFields('Asset', 'AssetQuery', "name: 'Printer', assetTag: 'PR-1', type: 'PRINTER'")}
    export const categories: TicketPatch[] = [${categories.map(({ id }) => `{ categoryConfigId: ${JSON.stringify(id)} }`)}];
  `;
}

it('reads hostile names and texts only as data, in documents and in generated types', {
  timeout: documents * 60_000,
}, async () => {
  const sampled = fc.sample(workspaces, { numRuns: documents, seed });
  for (const [index, { fields, categories, isStrict }] of sampled.entries()) {
    const { call, context, createField, createForm, createTicketCategory, key } = await createWorkspace(api);
    const filterable = fields.filter(({ type }) => canFilter(type)).slice(0, maxFilterableFields);
    for (const field of fields) {
      const { options, ...rest } = field;
      await createField({
        ...rest,
        filterable: filterable.includes(field),
        ...(hasOptions(field.type) && { options }),
      });
    }
    for (const category of categories) await createTicketCategory(category);
    const ofTickets = fields
      .filter(({ resource }) => resource === 'TICKET')
      .map(({ key, label }) => ({ key, help: label }));
    await createForm({ key: 'new-laptop', name: fields[0]?.label ?? '', fields: ofTickets });
    await setStrictMode(context, isStrict);
    const definitions = (await call('GET', '/custom-fields?perPage=100')).body.data;
    const { body, text } = await call('GET', '/openapi.json');
    // Some parsers reject such names, and others change the prototype of an object.
    const names = new Set<string>();
    JSON.parse(text, (name) => names.add(name));
    expect([...names].filter((name) => name in Object.prototype)).toEqual([]);

    const own = join(folder, `${index}`);
    for (const [generator, generate] of Object.entries(generators)) {
      await mkdir(join(own, generator), { recursive: true });
      await generate(body, join(own, generator));
    }
    await mkdir(join(own, 'client'));
    const types = await run(process.execPath, [program, 'types', '--url', origin], { ITSM_KEY: key });
    await writeFile(join(own, 'client/itsm-fields.d.ts'), types);
    for (const [name, target] of Object.entries(targets)) {
      await writeFile(join(own, name, 'use.ts'), useOf(definitions, categories, target));
    }
    expect(await compile(own, { noEmit: true, allowImportingTsExtensions: true }), `seed ${seed}`).toBe('');
    for await (const file of glob('**/*.ts', { cwd: own, exclude: ['**/use.ts'] })) {
      const source = await readFile(join(own, file), 'utf8');
      expect(source, file).not.toMatch(/\n[ \t]*export const hacked/);
      // A tag in a comment.
      expect(source, file).not.toMatch(/\n[ \t]*(?:\/\*)?\*.*(?<![\\\w])@(?:deprecated|ts-)/);
    }
    await rm(own, { recursive: true });
  }
});
