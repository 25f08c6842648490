import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NewTeam, Team, TeamPatch, TeamQuery } from '@itsm-api/contract';
import { declareNoun, type NounDeclaration } from '@itsm-api/server/administration/noun.ts';
import { nameRow } from '@itsm-api/server/administration/noun-columns.ts';
import { fieldsOf, type RequestField } from '@itsm-api/server/administration/noun-fields.ts';
import { commands } from '@itsm-api/server/cli/command-table.ts';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { commandLine } from '../cli/itsm.ts';
import { secretKey } from '../support/command-process.ts';
import { api, itInNewWorkspace, workspace as mine } from '../support/fixture.ts';
import { declarations, exampleOf, pick, type Row, typeRow } from '../support/nouns.ts';
import { etagOf, signIn, type Visitor } from '../support/visitor.ts';
import { createWorkspace } from '../support/workspace.ts';

/*
 * Tests all commands and forms of every noun that administrators manage. The values come from the examples in the
 * contract, so a new noun needs no tests except for its own rules.
 */
let admin: Visitor;
let itsm: ReturnType<typeof commandLine>;
let folder: string;

const it = itInNewWorkspace.extend('options', { scope: 'file' }, { ownDatabase: true, secretKeys: [secretKey] });
it.beforeAll(async () => {
  itsm = commandLine(api.databaseUrl);
  folder = await mkdtemp(join(tmpdir(), 'itsm-administration-'));
});
beforeEach(async () => {
  admin = await signIn(api, mine);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Returns the options of a command, such as `--start-date <date>`, by their names in camel case. */
async function optionsOf(command: string, verb: string): Promise<Map<string, string>> {
  const loaded = await commands[command]?.load();
  const options = loaded !== undefined && 'verbs' in loaded ? loaded.verbs[verb]?.options : undefined;
  return new Map((options ?? []).map(({ flags }) => [toCamel(flags.split(' ')[0] ?? ''), flags]));
}

function toCamel(option: string): string {
  return option.slice(2).replace(/-./g, (part) => part.charAt(1).toUpperCase());
}

/** Returns the option of a field, such as `--manager <user>` for `managerId`. */
function optionFor({ name }: RequestField, options: Map<string, string>): string {
  const names = [name, name.replace(/Id$/, ''), name.replace(/Ids$/, 's')];
  return names.flatMap((each) => options.get(each) ?? [])[0] ?? '';
}

/** Returns an option without its value, such as `--manager`. */
const withoutValue = (flags: string) => flags.split(' ')[0] ?? '';

describe.each(declarations)('$command', ({ command, noun, path }) => {
  const fields = fieldsOf(noun).filter(({ name }) => name !== 'active');
  const tenant = () => ['--tenant', String(mine.tenantId)];
  const keyOf = (row: Row) => noun.key.map((name) => String(row[name]));
  const sentenceOf = (row: Row) => `${noun.shortOne ?? noun.one} ${nameRow(noun, row)}`;
  const run = (verb: string, ...words: string[]) => itsm(`${command} ${verb}`, ...words, ...tenant());
  const listed = async () => (await (await noun.load()).list(mine.context, { page: 1, perPage: 100 })).data;

  async function json(verb: string, ...words: string[]) {
    const { code, stdout, stderr } = await run(verb, ...words, '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  }

  /** Returns the arguments and options of a command that enters a row. */
  async function wordsFor(verb: 'create' | 'update', row: Row): Promise<string[]> {
    const options = await optionsOf(command, verb);
    const texts = await typeRow(noun, verb, mine, row);
    return fields.flatMap((field) => {
      const option = optionFor(field, options);
      const text = field.isBoolean ? String(row[field.name]) : (texts[field.name] ?? '');
      if (option === '' || text === '') return [];
      return (option.endsWith('...>') ? text.split('\n') : [text]).flatMap((each) => [withoutValue(option), each]);
    });
  }

  /** Creates a row with the command, and returns the row and the example. */
  async function create(row = exampleOf(noun, mine)): Promise<[made: Row, row: Row]> {
    const chosen = fields.some(({ name }) => noun.key.includes(name)) ? keyOf(row) : [];
    return [await json('create', ...chosen, ...(await wordsFor('create', row))), row];
  }

  /** Returns the example with another text, for the row with the given key. */
  function changedRow(row: Row): Row {
    const text = fields.find(
      ({ isInUpdate, isRequired, choices }) => isInUpdate && isRequired && choices === undefined,
    );
    return { ...exampleOf(noun, mine), ...pick(row, noun.key), [text?.name ?? '']: 'Changed' };
  }

  /** Returns the fields of a row that a request contains. */
  const requested = (row: Row) =>
    pick(
      row,
      fields.flatMap(({ name }) => (row[name] === undefined ? [] : [name])),
    );

  describe('commands', () => {
    it('creates, shows and lists a row, and describes it in a sentence', async () => {
      const [made, row] = await create();
      expect(made).toMatchObject(requested(row));
      expect(await json('show', ...keyOf(made))).toEqual(made);
      expect(await json('list')).toContainEqual(made);
      const { stdout } = await run('show', ...keyOf(made));
      for (const name of noun.title) expect(stdout).toContain(String(made[name]));
      const { stdout: table } = await run('list');
      expect(table.split('\n')[0]).toContain('UPDATED');
      expect(table).toContain(String(made[noun.title[0] ?? '']));

      const other = exampleOf(noun, mine);
      const chosen = fields.some(({ name }) => noun.key.includes(name)) ? keyOf(other) : [];
      const created = await run('create', ...chosen, ...(await wordsFor('create', other)));
      const [first = {}] = (await listed()).filter((each) => each[noun.title[0] ?? ''] === other[noun.title[0] ?? '']);
      expect(created.stdout).toMatch(/^\w+d the /);
      expect(created.stdout).toContain(sentenceOf(first));
    });

    it('updates the given fields, and clears nullable fields with an empty value', async () => {
      const [made] = await create();
      const changed = changedRow(made);
      const updated = await json('update', ...keyOf(made), ...(await wordsFor('update', changed)));
      expect(updated).toMatchObject(
        pick(
          requested(changed),
          fields.flatMap(({ name, isInUpdate }) => (isInUpdate ? [name] : [])),
        ),
      );
      expect(updated.etag).not.toBe(made.etag);
      const options = await optionsOf(command, 'update');
      for (const field of fields.filter(({ isNullable }) => isNullable)) {
        const cleared = await json('update', ...keyOf(made), withoutValue(optionFor(field, options)), '');
        expect(cleared[field.name]).toBeNull();
      }
      const { stdout } = await run('update', ...keyOf(made), ...(await wordsFor('update', changed)));
      expect(stdout).toContain(sentenceOf(updated));
    });

    it('deactivates and activates a row', async () => {
      const [made] = await create();
      const [off, on] = [await json('deactivate', ...keyOf(made)), await json('activate', ...keyOf(made))];
      const statusOf = ({ active, status }: Row) => status ?? active;
      expect(statusOf(off)).not.toEqual(statusOf(on));
      if ('active' in made) expect([off.active, on.active]).toEqual([false, true]);
      expect((await run('activate', ...keyOf(made))).stdout).toMatch(/ is active\.\n$|, has status \w+\.\n$/);
      const { stdout } = await run('deactivate', ...keyOf(made));
      expect(stdout).toMatch('active' in made ? / is inactive\.\n$/ : /, has status \w+\.\n$/);
      expect(stdout).toContain(`The ${sentenceOf(made)}`);
    });

    it('filters, searches and limits the list', async () => {
      const [made] = await create();
      await create();
      for (const name of noun.filters ?? []) {
        const { choices = [] } = fields.find((field) => field.name === name) ?? {};
        expect(await json('list', `--${name}`, String(made[name]))).toContainEqual(made);
        for (const other of choices.filter((choice) => choice !== made[name])) {
          expect(await json('list', `--${name}`, other)).not.toContainEqual(made);
        }
      }
      if (noun.search !== undefined)
        expect(await json('list', '--q', String(made[noun.title[0] ?? '']))).toEqual([made]);
      if (noun.isShort === true) return;
      expect(await json('list', '--limit', '1')).toHaveLength(1);
      expect((await run('list', '--limit', '1')).stderr).toMatch(
        /^Showing the (newest|first) 1\. Use --limit to show more\.\n$/,
      );
    });

    it('names the option or the argument of an invalid value, and rejects an update without changes', async () => {
      const [made] = await create();
      const some = fields.find(({ isInUpdate }) => isInUpdate);
      expect(await run('update', ...keyOf(made))).toMatchObject({
        ...{ code: 2, stderr: `error: --${some?.name} or another option is required. Choose what to change\n` },
      });
      const options = await optionsOf(command, 'create');
      for (const field of fields.filter(({ isRequired, choices }) => isRequired && choices === undefined)) {
        const row = { ...exampleOf(noun, mine), [field.name]: 'x'.repeat(1001) };
        const chosen = fields.some(({ name }) => noun.key.includes(name)) ? keyOf(row) : [];
        const { code, stderr } = await run('create', ...chosen, ...(await wordsFor('create', row)));
        const label = noun.key.includes(field.name) ? `<${field.name}>` : withoutValue(optionFor(field, options));
        expect([code, stderr]).toEqual([2, expect.stringContaining(`error: ${label} must `)]);
      }
    });

    it('rejects a name that another row has', async () => {
      const [, row] = await create();
      const chosen = fields.some(({ name }) => noun.key.includes(name)) ? keyOf(row) : [];
      const { code, stderr } = await run('create', ...chosen, ...(await wordsFor('create', row)));
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: [<-]\S+ .* is already used by another /)]);
    });

    it('reports a missing row', async () => {
      const missing = noun.key.map((name) => (name === 'id' ? '999999999' : name === 'key' ? 'missing' : 'TICKET'));
      for (const verb of ['show', 'deactivate', 'activate']) {
        expect(await run(verb, ...missing)).toMatchObject({ code: 1, stderr: expect.stringContaining('not found') });
      }
    });

    it('suggests the rows as completions', async () => {
      const [made] = await create();
      const { stdout } = await itsm(`complete ${command} show`, ...tenant(), ...keyOf(made).slice(0, -1), '');
      if (noun.key.length > 1) return;
      expect(stdout).toContain(`${keyOf(made)[0]}\t${noun.title.map((name) => made[name]).join(', ')}\n`);
    });

    it('exports all rows, and prints the template of an import', async () => {
      const loaded = await commands[command]?.load();
      const verbs = loaded !== undefined && 'verbs' in loaded ? Object.keys(loaded.verbs) : [];
      if (verbs.includes('export')) {
        for (let i = 0; i < 2; i++) await create();
        const file = join(folder, `${command}.jsonl`);
        const { exported } = await json('export', file, '--yes');
        const lines = (await readFile(file, 'utf8'))
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        expect(lines).toHaveLength(exported);
        expect(lines).toEqual(expect.arrayContaining(await listed()));
      }
      if (noun.csvColumns === undefined) return;
      expect(verbs).toEqual(expect.arrayContaining(['import', 'template']));
      const { stdout } = await itsm(`${command} template`);
      expect(stdout.startsWith(noun.csvColumns(({ names }) => names.join(',')))).toBe(true);
    });
  });

  if (noun.hasOwnForms === true) return;

  describe('pages', () => {
    /** Returns the messages next to the fields of a form, by field. */
    const errorsIn = (text: string) =>
      Object.fromEntries([...text.matchAll(/id="error-(\w+)">([^<]*)/g)].map(([, name, message]) => [name, message]));
    const read = async (here: string) => {
      const query = new URLSearchParams(here.split('?')[1]);
      return (await listed()).find((row) => noun.key.every((name) => String(row[name]) === query.get(name)));
    };
    async function createOnPage(row = exampleOf(noun, mine)): Promise<[here: string, row: Row]> {
      const { status, headers, text } = await admin.submit(
        `${path}/new`,
        'create',
        await typeRow(noun, 'create', mine, row),
      );
      expect(status, text).toBe(303);
      return [headers.location ?? '', row];
    }

    it('creates a row, lists it, and shows its page', async () => {
      const own = await createWorkspace(api);
      expect((await (await signIn(api, own)).get(path)).text).toContain(`No ${noun.many} yet.`);
      const [here, row] = await createOnPage();
      expect(here).toContain(`${path}/one?`);
      expect(await read(here)).toMatchObject(requested(row));
      const { text } = await admin.get(path);
      expect(text).toContain(`<a href="${here.replaceAll('&', '&amp;')}">`);
      expect(text).toContain(`<a class="button main" href="${path}/new">New ${noun.one}</a>`);
      const { text: detail } = await admin.get(here);
      for (const name of noun.title) expect(detail).toContain(String(row[name]));
      for (const { name, label } of fields.filter(({ isInUpdate }) => isInUpdate)) {
        expect(detail, label).toContain(`name="${name}"`);
      }
      for (const title of ['Created', 'Updated']) expect(detail).toContain(`<dt>${title}</dt>`);
    });

    it('changes a row, but not if it has changed since the page was opened', async () => {
      const [here, row] = await createOnPage();
      const { text } = await admin.get(here);
      const changed = changedRow(row);
      const typed = { ...(await typeRow(noun, 'update', mine, changed)), etag: await etagOf(admin, here) };
      expect(text).toContain('name="etag"');
      const saved = await admin.submit(here, 'change', typed);
      expect([saved.status, saved.headers.location]).toEqual([303, here]);
      const inUpdate = fields.flatMap(({ name, isInUpdate }) => (isInUpdate ? [name] : []));
      expect(await read(here)).toMatchObject(pick(requested(changed), inUpdate));
      const again = await admin.submit(here, 'change', { ...typed });
      expect([again.status, again.text.includes('The values have changed since you opened the page.')]).toEqual([
        412,
        true,
      ]);
    });

    it('clears nullable fields that the form leaves empty, and unchecks missing checkboxes', async () => {
      const [here] = await createOnPage();
      const row = await read(here);
      const typed = await typeRow(noun, 'update', mine, row);
      const names = fieldsOf(noun)
        .filter(({ isNullable, isInUpdate }) => isNullable && isInUpdate)
        .map(({ name }) => name);
      const flags = fieldsOf(noun)
        .filter(({ isBoolean }) => isBoolean)
        .map(({ name }) => name);
      const empty = Object.fromEntries(names.map((name) => [name, '']));
      const kept = Object.fromEntries(Object.entries(typed).filter(([name]) => !flags.includes(name)));
      const saved = await admin.submit(here, 'change', { ...kept, ...empty, etag: String(row?.etag) });
      expect(saved.status, saved.text).toBe(303);
      expect(await read(here)).toMatchObject({
        ...Object.fromEntries(names.map((name) => [name, null])),
        ...Object.fromEntries(flags.map((name) => [name, false])),
      });
    });

    it('stores lines with LF, and escapes texts', async () => {
      const lined = fields.find(({ name, lines }) => lines !== undefined && name === 'description');
      const row = exampleOf(noun, mine);
      const text = '<script>alert(1)</script>';
      const texts: Record<string, string> = lined === undefined ? {} : { description: `${text}\r\nSecond` };
      const typed = await typeRow(noun, 'create', mine, row);
      const { headers } = await admin.submit(`${path}/new`, 'create', { ...typed, ...texts });
      const here = headers.location ?? '';
      if (lined !== undefined) expect(await read(here)).toMatchObject({ description: `${text}\nSecond` });
      for (const address of [here, path]) expect((await admin.get(address)).text).not.toContain(text);
    });

    it('shows errors next to the fields, and keeps the typed values', async () => {
      const typed = await typeRow(noun, 'create', mine);
      for (const { name, choices, isBoolean, isRequired, label } of fields.filter(({ isInCreate }) => isInCreate)) {
        if (isBoolean) continue;
        const wrong = choices === undefined && !isRequired ? `x${'y@'.repeat(60_000)}` : '';
        if (choices !== undefined && !isRequired) continue;
        const value = isRequired && choices !== undefined ? 'UNKNOWN' : wrong;
        const { status, text } = await admin.submit(`${path}/new`, 'create', { ...typed, [name]: value });
        expect([status, errorsIn(text)], label).toEqual([400, { [name]: expect.stringMatching(/./) }]);
        expect(text).toContain('Correct these fields and submit the form again:');
        const [kept = ''] = fields
          .filter((field) => field.name !== name && field.isRequired && !field.choices)
          .map((field) => typed[field.name]);
        expect(text).toContain(kept);
      }
    });

    it('shows next to the field that another row has the name', async () => {
      const [, row] = await createOnPage();
      const { status, text } = await admin.submit(`${path}/new`, 'create', await typeRow(noun, 'create', mine, row));
      expect([status, Object.values(errorsIn(text))]).toEqual([
        400,
        [expect.stringContaining(' is already used by another ')],
      ]);
    });

    it('filters and searches the list', async () => {
      if (noun.search === undefined) return;
      const [here, row] = await createOnPage();
      const link = `${here.replaceAll('&', '&amp;')}"`;
      const words = new URLSearchParams({ q: String(row[noun.title[0] ?? '']).toLowerCase() });
      expect((await admin.get(`${path}?${words}`)).text).toContain(link);
      for (const name of noun.filters ?? []) {
        const { choices = [] } = fields.find((field) => field.name === name) ?? {};
        for (const choice of choices) {
          const { text } = await admin.get(`${path}?${words}&${name}=${choice}`);
          if (choice === row[name]) expect(text).toContain(link);
          else expect(text).toContain(`No ${noun.many} match your search.`);
        }
      }
    });

    it('keeps every row in the form of a page that is saved without changes', async () => {
      const [here] = await createOnPage();
      const row = await read(here);
      const typed = await typeRow(noun, 'update', mine, row);
      await admin.submit(here, 'change', { ...typed, etag: await etagOf(admin, here) });
      expect(await read(here)).toEqual(row);
    });
  });
});

it.each([
  ['teams/3', 'teams/one?id=3'],
  ['assets/3', 'assets/one?id=3'],
  ['projects/3', 'projects/one?id=3'],
  ['custom-fields/TICKET/site', 'custom-fields/one?resource=TICKET&key=site'],
  ['ticket-categories?id=network%2Fvpn', 'ticket-categories/one?id=network%2Fvpn'],
])('redirects the address /developer/%s of earlier releases', async (before, now) => {
  const { status, headers } = await admin.get(`/developer/${before}`);
  expect([status, headers.location]).toEqual([301, `/developer/${now}`]);
});

it('compiles only declarations whose fields exist in the schemas', () => {
  const schemas = { row: Team, create: NewTeam, update: TeamPatch, query: TeamQuery };
  const label = { label: 'Label' };
  const fields = { name: label, description: label, memberIds: label, active: label };
  const words = {
    ...{ path: 'x', one: 'x', many: 'x', order: 'x', example: '3', lead: '' },
    schemas,
  } as const;
  const load: () => never = () => {
    throw new Error('The test loads no operations.');
  };
  const valid = {
    ...words,
    audit: 'team' as const,
    key: ['id'],
    title: ['name'],
    fields,
    table: ['name'],
    list: ['name'],
    load,
  } as const;
  const declared: NounDeclaration[] = [
    declareNoun(valid),
    // @ts-expect-error a team has no field `color`
    declareNoun({ ...valid, table: ['color'] }),
    // @ts-expect-error the column reads a field that a team doesn't have
    declareNoun({ ...valid, list: [{ title: 'Color', cell: ({ color }) => color }] }),
    // @ts-expect-error requests have no field `color`
    declareNoun({ ...words, ...valid, fields: { ...fields, color: label } }),
    // @ts-expect-error the field `active` is missing
    declareNoun({ ...valid, fields: { name: label, description: label, memberIds: label } }),
    // @ts-expect-error lists have no filter `color`
    declareNoun({ ...valid, filters: ['color'] }),
  ];
  expect(declared).toHaveLength(6);
});
