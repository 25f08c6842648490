import { listAssets, updateAsset } from '@itsm-api/server/resources/assets/queries.ts';
import { describe, expect } from 'vitest';
import { admin, api, itAsAdmin as it, workspace } from '../support/fixture.ts';
import { etagOf, preview, signIn, upload } from '../support/visitor.ts';
import { createWorkspace, unique, type Workspace } from '../support/workspace.ts';
import { fileOn, sendAbout } from './importing.ts';

const page = { page: 1, perPage: 100 };
const path = '/developer/assets/import';

async function tagsOf({ context }: Workspace): Promise<string[]> {
  return (await listAssets(context, page)).data.map(({ assetTag }) => assetTag);
}

const typed = {
  ...{ name: 'Laptop', type: 'LAPTOP', status: '', assignedToId: '', serialNumber: '', manufacturer: '', model: '' },
  ...{ location: '', purchaseDate: '', purchaseCost: '', warrantyExpiresAt: '', notes: '', tags: '', customFields: '' },
};

describe('/developer/assets', () => {
  it('creates, finds and changes an asset in the developer area', async () => {
    const user = await workspace.createUser({ name: 'Holder' });
    const assetTag = `LT-${unique()}`;
    const fields = { ...typed, assetTag, warrantyExpiresAt: '2028-03-14', customFields: 'site = Berlin\r\nfloor=3' };
    const made = await admin.submitAndFollow('/developer/assets/new', 'create', {
      ...fields,
      notes: 'One\r\ntwo',
      tags: 'VIP, leased,',
    });
    expect(made.text).toContain(`${assetTag}: Laptop`);
    const [asset] = (await listAssets(workspace.context, { ...page, q: undefined })).data;
    expect(asset).toMatchObject({
      ...{ assetTag, status: 'IN_STOCK', notes: 'One\ntwo', customFields: { site: 'Berlin', floor: '3' } },
      ...{ warrantyExpiresAt: '2028-03-14T00:00:00.000Z', assignedToId: null, tags: ['leased', 'vip'] },
    });

    const here = `/developer/assets/one?id=${asset?.id}`;
    const found = await admin.get(`/developer/assets?q=${assetTag}&type=LAPTOP&status=`);
    expect(found.text).toContain(here);
    expect((await admin.get(here)).text).toContain('value="leased, vip"');
    expect((await admin.get(`/developer/assets?q=${assetTag}&status=LOST`)).text).not.toContain(here);

    // The form shows only string values of custom fields. A change must keep all other values.
    await updateAsset(workspace.context, asset?.id ?? 0, { customFields: { cost: 4711, tags: ['a'] } });
    // A proxy that compresses adds such a suffix to the header `ETag`.
    const etag = (await etagOf(admin, here)).replace(/"$/, '-gzip"');
    const change = { ...typed, etag, status: 'IN_STOCK', assignedToId: user.email, customFields: 'site = Bonn' };
    const changed = await admin.submitAndFollow(here, 'change', change);
    expect(changed.text).toMatch(/<code>assignedToId<\/code> from none to \d+/);
    expect((await listAssets(workspace.context, page)).data[0]).toMatchObject({
      ...{ status: 'IN_USE', assignedToId: user.id, tags: [], customFields: { site: 'Bonn', cost: 4711, tags: ['a'] } },
    });
    // After the first change, the form contains an outdated ETag.
    const late = await admin.submit(here, 'change', { ...change, name: 'Late' });
    expect(late).toMatchObject({ status: 412, text: expect.stringContaining('changed since you opened the page') });
    expect(late.text).toContain('value="Late"');
  });

  it('reports the line number of an invalid custom field in the asset form', async () => {
    const { id } = await workspace.createAsset({ customFields: { site: 'One\u2028two\u2029three' } });
    const at = `/developer/assets/one?id=${id}`;
    const { text } = await admin.get(at);
    const customFields = /<textarea name="customFields"[^>]*>\n([^<]*)</.exec(text)?.[1] ?? '';
    const change = { ...typed, status: 'IN_STOCK', etag: await etagOf(admin, at) };
    const saved = await admin.submit(at, 'change', { ...change, customFields: `${customFields}\r\nfloor = 3` });
    expect(saved.status).toBe(303);
    const found = (await listAssets(workspace.context, page)).data.find((asset) => asset.id === id);
    expect(found?.customFields).toEqual({ site: 'One\u2028two\u2029three', floor: '3' });
    const wrong = await admin.submit(at, 'change', { ...change, customFields: '\r\nfloor = 3\r\n\r\nno value\r\n' });
    expect(wrong.text).toContain('Line 4 is invalid');
  });

  it('shows asset form errors next to the fields and keeps the entered values', async () => {
    const { assetTag } = await workspace.createAsset();
    const wrong = await admin.submit('/developer/assets/new', 'create', {
      ...{ ...typed, assetTag: 'A-1', purchaseCost: '1,5', customFields: 'no value', notes: '</textarea><script>' },
    });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('id="error-purchaseCost">must be a decimal number such as');
    expect(wrong.text).toContain('id="error-customFields">must contain lines such as');
    expect(wrong.text).toContain('&lt;/textarea&gt;&lt;script&gt;');
    const taken = await admin.submit('/developer/assets/new', 'create', { ...typed, assetTag });
    expect(taken.text).toContain(`id="error-assetTag">${assetTag} is already used by another asset`);
    const unknownUser = await admin.submit('/developer/assets/new', 'create', {
      ...{ ...typed, assetTag: 'A-2', assignedToId: 'unknown@example.com' },
    });
    expect(unknownUser.text).toContain('id="error-assignedToId">must be an active user');
  });
});

describe('/developer/assets/import', () => {
  const csv = 'name,assetTag,type\r\nA,B,OTHER\r\n';

  /** Returns the text of the table of errors. */
  function errorsOf(text: string): string {
    const [, table = ''] = /Errors in the file(.*?)<\/table>/s.exec(text) ?? [];
    return table.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  }

  it('previews an asset file and imports the file once', async () => {
    const own = await createWorkspace(api);
    await own.createWebhook({ events: ['asset.created'] });
    const visitor = await signIn(api, own);
    const { email } = await own.createUser();
    const text = await preview(
      visitor,
      path,
      `name,assetTag,type,assignedToId\nLaptop,L-1,LAPTOP,${email}\n=1+1,L-2,MOBILE,\n`,
    );
    expect(text).toContain('2 assets can be imported. Nothing has been imported yet.');
    expect(text).toContain(email);
    expect(await tagsOf(own)).toEqual([]);

    const sent = await Promise.all([sendAbout(visitor, path, 'import'), sendAbout(visitor, path, 'import')]);
    expect(sent.map(({ status }) => status).sort()).toEqual([303, 400]);
    expect((await visitor.get('/developer/assets')).text).toContain('Imported 2 assets.');
    expect(await tagsOf(own)).toEqual(['L-2', 'L-1']);
    expect(await own.context.db.event.count({ where: { type: 'asset.created' } })).toBe(2);
    expect((await visitor.get(path)).text).toContain('Check the file');
  });

  it('updates existing assets if the user ticks the box', async () => {
    const own = await createWorkspace(api);
    const visitor = await signIn(api, own);
    await own.createAsset({ assetTag: 'T-1', name: 'Old', customFields: { floor: 3 } });
    await own.createAsset({ assetTag: 'T-2', name: 'Same' });
    const file = 'assetTag,name,type,customFields.floor\nT-1,New,,4\nT-2,Same,,\nT-3,Third,OTHER,\n';
    const update = { update: 'yes' };
    expect(errorsOf(await preview(visitor, path, file))).toContain('2 type must be one of');

    const wrong = await preview(visitor, path, 'assetTag,name\nT-3,Third\n', update);
    expect(errorsOf(wrong)).toContain('2 type must be one of');
    expect(wrong).toMatch(/name="update" value="yes" checked/);

    const counts = '3 assets can be imported (1 new, 1 changed, 1 unchanged). Nothing has been imported yet.';
    const shown = await preview(visitor, path, file, update);
    expect(shown).toContain(counts);
    expect(shown).toContain('floor: 4');
    expect((await sendAbout(visitor, path, 'import')).status).toBe(303);
    const { text } = await visitor.get('/developer/assets');
    expect(text).toContain('Imported 3 assets (1 new, 1 changed, 1 unchanged).');
    const { data } = await listAssets(own.context, page);
    expect(data.map(({ assetTag, name, customFields }) => [assetTag, name, customFields])).toEqual([
      ['T-3', 'Third', {}],
      ['T-2', 'Same', {}],
      ['T-1', 'New', { floor: 4 }],
    ]);
    const { text: exported } = await visitor.get('/developer/assets/export');
    expect(await preview(visitor, path, exported, update)).toContain('(0 new, 0 changed, 3 unchanged)');
    await own.createAsset({ assetTag: 'Ger\u00e4t' });
    const decomposed = await preview(visitor, path, 'assetTag,name\nGera\u0308t,New\n', update);
    expect(decomposed).toContain('(0 new, 1 changed, 0 unchanged)');
  });

  it('reads decimal commas and words for booleans in files with semicolons, and counts changes of types', async () => {
    const own = await createWorkspace(api);
    const visitor = await signIn(api, own);
    await own.createField({ resource: 'ASSET', key: 'Level', type: 'NUMBER' });
    await own.createField({ resource: 'ASSET', key: 'managed', type: 'BOOLEAN' });
    await own.createField({ resource: 'ASSET', key: 'room', type: 'TEXT' });
    const stored = { ratio: 1.5, leased: true, note: 'x', Level: 2, managed: false };
    await own.createAsset({ assetTag: 'T-1', customFields: stored });
    const update = { update: 'yes' };
    const names = ['Level', 'managed', 'room', 'ratio', 'leased', 'note'];
    const fileWith = (separator: string, ...cells: string[]) =>
      [
        ['assetTag', ...names.map((name) => `CustomFields.${name.toUpperCase()}`)],
        ['T-1', ...cells],
      ]
        .map((line) => line.map((cell) => `"${cell}"`).join(separator))
        .join('\n');
    const read = async () => (await listAssets(own.context, page)).data[0]?.customFields;

    await preview(visitor, path, fileWith(';', '-1,25', 'WAHR', '1,5', '4,75', 'faux', 'VRAI'), update);
    expect((await sendAbout(visitor, path, 'import')).status).toBe(303);
    const changed = { Level: -1.25, managed: true, room: '1,5', ratio: 4.75, leased: false, note: 'VRAI' };
    expect(await read()).toEqual(changed);
    const same = await preview(visitor, path, fileWith(';', '-1,25', 'WAHR', '1,5', '4,75', 'FALSCH', ''), update);
    expect(same).toContain('(0 new, 0 changed, 1 unchanged). Nothing has been imported yet.<');

    for (const [separator, number, word] of [
      [',', '4,75', 'WAHR'],
      ['\t', '4,75', 'FAUX'],
      [';', '1.234,56', '1,5'],
    ] as const) {
      const errors = errorsOf(await preview(visitor, path, fileWith(separator, '', '', '', number, word, ''), update));
      expect(errors).toContain('2 customFields.ratio must be a number such as 4.5, without thousands separators');
      expect(errors).toContain('2 customFields.leased must be true or false');
    }
    const defined = await preview(visitor, path, fileWith(',', '4,75', 'VRAI', '', '', '', ''), update);
    expect(errorsOf(defined)).toContain('2 customFields.Level must be a number');
    expect(errorsOf(defined)).toContain('2 customFields.managed must be true or false');

    const other = await preview(visitor, path, fileWith(';', '', '', 'B', 'unknown', 'maybe', 'y'), update);
    expect(other).toContain('Nothing has been imported yet. 2 custom fields get values of other types.');
  });

  it('rejects a heading that can mean two custom fields', async () => {
    const own = await createWorkspace(api);
    const visitor = await signIn(api, own);
    await own.createAsset({ assetTag: 'T-1', customFields: { Site: 'a', site: 'b' } });
    const fileWith = (name: string) => `assetTag,customFields.${name}\nT-1,c\n`;
    const errors = errorsOf(await preview(visitor, path, fileWith('SITE'), { update: 'yes' }));
    expect(errors).toMatch(/SITE&quot; can mean several fields\. Write customFields\.site or customFields\.site/i);
    expect(await preview(visitor, path, fileWith('site'), { update: 'yes' })).toContain('(0 new, 1 changed');
  });

  it.each([
    ['commas', `${','.repeat(250_000)}x`, 'customFields.ratio must be'],
    ['combining characters', '\u0315\u0316'.repeat(60_000), 'customFields.leased must be'],
  ])('checks a cell of many %s in at most 2 seconds of CPU time', async (_, cell, error) => {
    const own = await createWorkspace(api);
    const visitor = await signIn(api, own);
    await own.createAsset({ assetTag: 'T-1', customFields: { ratio: 1.5, leased: true } });
    const start = process.cpuUsage();
    for (const name of ['ratio', 'leased']) {
      const file = `sep=;\nassetTag;customFields.${name}\nT-1;"${cell}"\n`;
      expect(errorsOf(await preview(visitor, path, file, { update: 'yes' }))).not.toContain(error);
    }
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1e6).toBeLessThan(2);
  });

  it('rejects the import of a CSV file if a newer upload replaced the file', async () => {
    const own = await createWorkspace(api);
    const visitor = await signIn(api, own);
    const before = await preview(visitor, path, 'name,assetTag,type\nSeen,A-1,LAPTOP\n');
    await preview(visitor, path, 'name,assetTag,type\nUnseen,B-1,LAPTOP\n');
    for (const form of ['import', 'discard']) await visitor.submit(path, form, { file: fileOn(before) });
    const late = await visitor.submit(path, 'import', { file: fileOn(before) });
    expect(late.status).toBe(400);
    expect(late.text).toContain('a newer upload has replaced it');
    expect(await tagsOf(own)).toEqual([]);
    expect((await visitor.submit(path, 'import', { file: fileOn(late.text) })).status).toBe(303);
    expect(await tagsOf(own)).toEqual(['B-1']);
  });

  it('creates no assets if the import file has an invalid line, even after a valid preview', async () => {
    const own = await createWorkspace(api);
    const visitor = await signIn(api, own);
    const wrong = await preview(
      visitor,
      path,
      'name,assetTag,type\n<script>alert(1)</script>,T-1,LAPTOPS\nTwice,T-2,OTHER\nTwice,T-2,OTHER\n,T-3\n',
    );
    const rows = [...wrong.matchAll(/<tr[^>]*><td[^>]*>(\d+)<\/td>/g)].map(([, line]) => line);
    expect(rows).toEqual(['2', '4', '5']);
    expect(wrong).toContain('T-2 is already on line 3');
    expect(wrong).not.toContain('form=import');
    expect((await sendAbout(visitor, path, 'import')).status).toBe(400);
    expect((await visitor.get(path)).text).not.toContain('Errors in the file');

    await preview(visitor, path, 'name,assetTag,type\nGood,T-1,LAPTOP\n');
    await own.createAsset({ assetTag: 'T-1' });
    const late = await sendAbout(visitor, path, 'import');
    expect(late.status).toBe(400);
    expect(late.text).toContain('T-1 is already used by another asset');
    expect(await tagsOf(own)).toEqual(['T-1']);
    const next = (await visitor.get(path)).text;
    expect([next.includes('Check the file'), next.includes('T-1 is already used')]).toEqual([true, false]);
  });

  it('shows all errors in an import file on the upload page', async () => {
    const own = await createWorkspace(api);
    await own.createAsset({ assetTag: 'T-1' });
    const lines = ['A,T-1,LAPTOP,', 'B,T-1,LAPTOPS,unknown@example.com', 'C,T-2,OTHER,', ',T-2,OTHER,'];
    const text = await preview(await signIn(api, own), path, `name,assetTag,type,assignedToId\n${lines.join('\n')}\n`);
    const rows = [...text.matchAll(/<tr\b[^>]*><td\b[^>]*>(\d+)<\/td><td\b[^>]*><code>(\w+)<\/code>/g)].map(
      ([, line, name]) => `${line} ${name}`,
    );
    const all = ['2 assetTag', '3 assetTag', '3 assetTag', '3 assignedToId', '3 type', '5 assetTag', '5 name'];
    expect(rows.sort()).toEqual(all);
    expect(text).toContain('Check the file');
  });

  it.each([
    ['an empty file', '', 'be empty'],
    ['a file of more than 1 MiB', 'x'.repeat(2 ** 20 + 1), 'must be at most 1 MiB'],
  ])('shows an error next to the file field if the user uploads %s', async (_, file, message) => {
    const { status, text } = await upload(admin, path, file);
    expect([status, text]).toEqual([400, expect.stringContaining(message)]);
  });

  it.each([
    ['more than 5000 assets', `name,assetTag,type\n${'a,b,OTHER\n'.repeat(5001)}`, 'has more than 5000 assets'],
    ['invalid UTF-8', Buffer.from([0x6e, 0xff, 0xfe]), 'the file is not in UTF-8, but in an older encoding'],
    ['UTF-16 without a mark', Buffer.from(csv, 'utf16le'), 'the file is not in UTF-8, but in UTF-16'],
    ['UTF-16 with a mark', Buffer.from(`\uFEFF${csv}`, 'utf16le'), 'the file is not in UTF-8, but in UTF-16'],
    ['big-endian UTF-16', Buffer.from(csv, 'utf16le').swap16(), 'the file is not in UTF-8, but in UTF-16'],
    ['unknown columns', 'name,<script>,type\nA,B,OTHER', 'the column &quot;&lt;script&gt;&quot; is unknown'],
    ['thousands of columns', `${'customFields.a,'.repeat(10_000)}\n`, 'the file has 10001 columns'],
    ['a control character', 'name,assetTag,type\nA\u0000,B,OTHER', 'must not contain control characters'],
  ])('shows an error for an import file with %s', async (_, file, message) => {
    expect(await preview(admin, path, file)).toContain(message);
    expect((await admin.get(path)).text).not.toContain('Errors in the file');
  });

  it.each([
    ['an open quote', 'A,"two\r\nlines",OTHER\r\n"B,T-2,OTHER', '4 name has no closing quote'],
    ['a quote in a value', 'A,"two\r\nlines",OTHER\r\n\r\nB,T"2,OTHER', '5 assetTag contains a quote'],
    ['text after a quote', 'A,"two\r\nlines",OTHER\r\nB,"T""2"x,OTHER', '4 assetTag continues after its closing'],
    ['spaces after a quote', 'A,"two\r\nlines","OTHER" x', '3 type continues after its closing quote'],
    ['a quote in an additional cell', 'A,T-1,OTHER,x"y', '2 cell 4 contains a quote but does not start'],
    ['a quote in a long row', `A,T-1,"${'x\r\n'.repeat(100_000)}"`, '2 type is in a row of more than 256 KiB'],
    ['a short row', 'A,"two\r\nlines"', '2 the line has 2 cells, but the header has 3. Correct the commas'],
  ])('shows the line and the column of %s in an import file', async (_, rows, error) => {
    const text = await preview(admin, path, `name,assetTag,type\r\n${rows}`);
    expect(errorsOf(text)).toContain(error);
  });

  it.each([
    ['semicolons', 'name;assetTag;type;customFields.a,b\r\nA, B;T-1;OTHER;"x;y"\r\n'],
    ['semicolons and quotes', '"name";"assetTag";"type";"customFields.a,b"\n"A, B";"T-1";"OTHER";"x;y"\n'],
    ['tabs and empty cells', 'name\tassetTag\tnotes\ttype\tcustomFields.a,b\nA, B\tT-1\t\tOTHER\tx;y\n'],
    ['a first line `sep=;`', '\uFEFFsep=;\r\nname;assetTag;type;customFields.a,b\r\nA, B;T-1;OTHER;"x;y"\r\n'],
    ['a first line `sep=|`', '"SEP=|"\nname|assetTag|type|customFields.a,b\nA, B|T-1|OTHER|x;y\n'],
  ])('reads an import file with %s', async (_, file) => {
    const text = await preview(admin, path, file);
    expect(text).toContain('1 asset can be imported');
    expect(text).toMatch(/T-1.*A, B.*a,b: x;y/s);
    expect((await sendAbout(admin, path, 'discard')).status).toBe(303);
  });

  it.each([
    ['columns without name and cells', 'name;assetTag;;type;\nA;T-1;;OTHER;\nB;T-2;;OTHER\nC;T-3;;OTHER;;;\n'],
    ['headings in upper and lower case', 'NAME;AssetTag;type\nA;T-1;OTHER\nB;T-2;OTHER\nC;T-3;OTHER\n'],
  ])('reads an import file with %s', async (_, file) => {
    const text = await preview(admin, path, file);
    expect(text).toContain('3 assets can be imported');
    expect(text).toMatch(/T-1.*T-2.*T-3/s);
    expect((await sendAbout(admin, path, 'discard')).status).toBe(303);
  });

  it.each([
    ['a value in a column without name', 'name;assetTag;type;\nA;T-1;OTHER;x\n', 'a column with values has no name'],
    ['a value after the last column', 'name;assetTag;type\nA;T-1;OTHER;;x\n', '2 the line has 4 cells, but the header'],
    ['the same heading in another case', 'name;assetTag;type;Type\nA;T-1;OTHER;\n', 'the column type occurs twice'],
    ['a decimal comma', 'name;assetTag;type;purchaseCost\nA;T-1;OTHER;1499,00\n', '2 purchaseCost must be a decimal'],
    ['a line after `sep=`', 'sep=;\nname;assetTag;type\nA;T-1;OTHER\nB;"T\n2"x;OTHER\n', '4 assetTag continues'],
    [
      'a short row',
      'name;assetTag;type\nA;T-1\n',
      '2 the line has 2 cells, but the header has 3. Correct the semicolons',
    ],
    [
      'another delimiter than `sep=`',
      'sep=,\nname;assetTag;type\nA;T-1;OTHER\n',
      'name;assetTag;type&quot; is unknown',
    ],
    ['unknown columns', 'Name;Asset Tag;Type\nA;T-1;OTHER\n', 'the column &quot;Asset Tag&quot; is unknown'],
  ])('shows an error for %s in an import file with semicolons', async (_, file, error) => {
    expect(errorsOf(await preview(admin, path, file))).toContain(error);
  });

  it.each([
    '"><script>alert(1)</script>.csv',
    'a.csv\r\nSet-Cookie: session=stolen\r\nX-Injected: yes',
    '../../../etc/passwd',
    "a.csv\"; filename*=UTF-8''b.html",
    `${'long'.repeat(5000)}.csv`,
  ])('ignores the name of an uploaded file: %s', async (name) => {
    const sent = await upload(admin, path, 'name,assetTag,type\nA,B-1,OTHER\n', { name });
    expect(sent.headers).not.toHaveProperty('x-injected');
    expect(JSON.stringify(sent.headers)).not.toContain('stolen');
    const { text } = await admin.get(path);
    expect(text).not.toMatch(/<script>alert|passwd|b\.html|longlong/);
  });

  it('truncates long values in a CSV file preview', async () => {
    const text = await preview(admin, path, `name,assetTag,type,customFields.a\nA,B-2,OTHER,${'x'.repeat(4000)}\n`);
    expect(text).toContain('1 asset can be imported');
    expect(text).toContain(`a: ${'x'.repeat(197)}…`);
    expect(await preview(admin, path, `${'y'.repeat(4000)},${'y'.repeat(4000)}\nA,B`)).not.toContain('y'.repeat(101));
    expect((await sendAbout(admin, path, 'discard')).status).toBe(303);
  });

  it('shows an uploaded file only to the user who uploaded it', async () => {
    const other = await workspace.createUser({ role: 'ADMIN' });
    const visitor = await signIn(api, { tenantId: workspace.tenantId, userId: other.id });
    const theirs = await createWorkspace(api);
    const stranger = await signIn(api, theirs);
    const file = fileOn(await preview(admin, path, 'name,assetTag,type\nMine,M-1,OTHER\n'));
    for (const each of [visitor, stranger]) {
      expect((await each.get(path)).text).toContain('Check the file');
      expect((await each.submit(path, 'import', { file })).status).toBe(400);
    }
    expect((await admin.get(path)).text).toContain('M-1');
  });
});

describe('/developer/assets/export', () => {
  it('exports assets to a CSV file that contains no formulas and that another workspace can import', async () => {
    const own = await createWorkspace(api);
    for (const name of ['=HYPERLINK("https://example.com")', '@SUM(A1)', "'=1", 'Plain, with "quotes"']) {
      await own.createAsset({ name, notes: '+1-1', customFields: { site: '-2' } });
    }
    const visitor = await signIn(api, own);
    const { headers, text } = await visitor.get('/developer/assets/export');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toMatch(/^attachment; filename="assets\.csv"/);
    expect(text.slice(1)).toMatch(/^name,assetTag,/);
    expect(text).not.toMatch(/(^|,)"?[=+@-]/m);

    const theirs = await createWorkspace(api);
    const importer = await signIn(api, theirs);
    expect(await preview(importer, path, text)).toContain('4 assets can be imported');
    expect((await sendAbout(importer, path, 'import')).status).toBe(303);
    const given = async ({ context }: Workspace) =>
      (await listAssets(context, page)).data
        .map(({ assetTag, name, notes, customFields }) => ({ assetTag, name, notes, customFields }))
        .toSorted((a, b) => a.assetTag.localeCompare(b.assetTag));
    expect(await given(theirs)).toEqual(await given(own));
  });

  it('exports asset assignees as email addresses and custom field values as text', async () => {
    const [own, theirs] = [await createWorkspace(api), await createWorkspace(api)];
    const pam = { email: 'pam@example.com' };
    // IDs are unique across workspaces, so the user has a different ID in the other workspace.
    const [{ id }, there] = [await own.createUser(pam), await theirs.createUser(pam)];
    await own.createAsset({ assignedToId: id, customFields: { leased: false, insured: true, floor: 3 } });
    const { text } = await (await signIn(api, own)).get('/developer/assets/export');
    const importer = await signIn(api, theirs);
    expect(await preview(importer, path, text)).toContain('1 asset can be imported');
    expect((await sendAbout(importer, path, 'import')).status).toBe(303);
    expect((await listAssets(theirs.context, page)).data).toMatchObject([
      { assignedToId: there.id, customFields: { leased: 'false', insured: 'true', floor: '3' } },
    ]);
  });

  it('returns a CSV template for asset imports', async () => {
    const { text } = await admin.get('/developer/assets/template');
    expect(text).toMatch(/^name,assetTag,.*customFields\.costCentre\n/);
  });
});
