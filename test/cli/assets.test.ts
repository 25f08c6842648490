import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTenant, tenantContext } from '@itsm-api/server/resources/tenants/queries.ts';
import { createWebhook } from '@itsm-api/server/resources/webhooks/webhook-management.ts';
import { createSecretCipher } from '@itsm-api/server/webhooks/secrets/secret-cipher.ts';
import { describe, expect } from 'vitest';
import { secretKey } from '../support/command-process.ts';
import { api } from '../support/fixture.ts';
import { unique } from '../support/workspace.ts';
import { folder, itWithCommands as it, itsm } from './itsm.ts';

/** Creates a tenant with an administrator and a webhook subscription to `asset.created`. */
async function createTenantWithWebhook() {
  const name = `T${unique()}`;
  const { admin } = await createTenant(api.prisma, { name, adminEmail: `${name.toLowerCase()}@example.com` });
  const services = { ...api.services, secretCipher: createSecretCipher([secretKey]) };
  const context = await tenantContext({ databases: api.databases, services }, name);
  await createWebhook(context, { url: 'https://hooks.example.com/itsm', secret: 'secret', events: ['asset.created'] });
  return { name, admin, db: context.db };
}

async function writeCsv(...lines: string[]): Promise<string> {
  const file = join(folder, `${unique()}.csv`);
  await writeFile(file, lines.join('\r\n'));
  return file;
}

describe('assets create', () => {
  it('emits asset.created when `assets create` creates an asset', async () => {
    const { name, admin, db } = await createTenantWithWebhook();
    const create = `assets create --tenant ${name} --name Laptop --asset-tag LT-1 --type LAPTOP`;
    const made = await itsm(
      `${create} --assigned-to ${admin.email} --purchase-date 2025-03-14 --purchase-cost 1499` +
        ' --tags leased,VIP --custom-field site=Leipzig --custom-field formula=a=b --json',
    );
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const asset = JSON.parse(made.stdout);
    expect(asset).toMatchObject({
      assetTag: 'LT-1',
      status: 'IN_USE',
      assignedToId: admin.id,
      purchaseDate: '2025-03-14',
      purchaseCost: '1499.00',
      tags: ['leased', 'vip'],
      customFields: { site: 'Leipzig', formula: 'a=b' },
    });
    const [event] = await db.event.findMany();
    expect(JSON.parse(event?.body ?? '')).toMatchObject({ type: 'asset.created', asset });

    const again = await itsm(create);
    expect(again).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: --asset-tag LT-1 is already used by another asset. Choose a different value.\n',
    });
    expect(await db.event.count()).toBe(1);
  });
});

describe('assets import', () => {
  it('imports a CSV file of assets and emits asset.created for each asset', async () => {
    const { name, admin, db } = await createTenantWithWebhook();
    const file = await writeCsv(
      '\uFEFFassetTag,name,type,customFields.site,assignedToId,notes,serialNumber',
      `LT-1,Laptop,LAPTOP,Leipzig,${admin.email.toUpperCase()},"Two lines,\r\nand a ""quote""",`,
      `LT-2, Phone ,MOBILE,,${admin.id},,SN-2`,
      ',,,,,,',
      '',
      'LT-3,Büro,OTHER,,,,',
    );
    expect(await itsm(`assets import --tenant ${name}`, file)).toEqual({
      code: 0,
      stdout: 'Imported 3 assets.\n',
      stderr: '',
    });
    const rows = await db.asset.findMany({ orderBy: { id: 'asc' } });
    expect(rows).toMatchObject([
      {
        assetTag: 'LT-1',
        status: 'IN_USE',
        assignedToId: BigInt(admin.id),
        notes: 'Two lines,\r\nand a "quote"',
        serialNumber: null,
        customFields: { site: 'Leipzig' },
      },
      {
        assetTag: 'LT-2',
        name: 'Phone',
        assignedToId: BigInt(admin.id),
        notes: null,
        serialNumber: 'SN-2',
        customFields: {},
      },
      { assetTag: 'LT-3', name: 'Büro', status: 'IN_STOCK', assignedToId: null },
    ]);
    const events = await db.event.findMany({ orderBy: { id: 'asc' } });
    expect(events.map(({ body }) => JSON.parse(body).asset.assetTag)).toEqual(['LT-1', 'LT-2', 'LT-3']);
    expect(await db.delivery.count()).toBe(3);
  });

  it('reads custom fields by the types of their definitions', async () => {
    const { name, db } = await createTenantWithWebhook();
    const define = (key: string, options: string) => itsm(`fields create ASSET ${key} --tenant ${name} ${options}`);
    await define('level', '--type NUMBER --label Level --required true');
    await define('groups', '--type MULTI_SELECT --label Groups --options a --options b');
    await define('managed', '--type BOOLEAN --label Managed');
    const header = 'assetTag,name,type,customFields.level,customFields.groups,customFields.managed,customFields.other';
    const wrong = await writeCsv(header, 'LT-1,Laptop,LAPTOP,high,c,,', 'LT-2,Laptop,LAPTOP,,,,');
    expect((await itsm(`assets import --tenant ${name}`, wrong)).stderr.replaceAll(`error: ${wrong}`, '')).toBe(
      [
        ', line 2: customFields.level must be a number',
        ', line 2: customFields.groups must be an array of different values. Allowed values: a, b',
        ', line 3: customFields.level is required',
        ': nothing was imported',
        '',
      ].join('\n'),
    );
    const file = await writeCsv(
      header,
      'LT-1,Laptop,LAPTOP,3,"b, a",TRUE,4',
      'LT-2,Laptop,LAPTOP,-1.5,"[""a""]",false,',
    );
    expect(await itsm(`assets import --tenant ${name}`, file)).toMatchObject({
      code: 0,
      stdout: 'Imported 2 assets.\n',
    });
    expect(await db.asset.findMany({ orderBy: { id: 'asc' } })).toMatchObject([
      { customFields: { level: 3, groups: ['b', 'a'], managed: true, other: '4' } },
      { customFields: { level: -1.5, groups: ['a'], managed: false } },
    ]);
    const change = await writeCsv('assetTag,customFields.level,customFields.groups', 'LT-1,,"a,b"');
    expect((await itsm(`assets import --update --tenant ${name}`, change)).code).toBe(0);
    expect(await db.asset.findFirst({ where: { assetTag: 'LT-1' } })).toMatchObject({
      customFields: { level: 3, groups: ['a', 'b'], managed: true, other: '4' },
    });
  });

  it('reports every invalid line of an asset file and imports no assets', async () => {
    const { name, db } = await createTenantWithWebhook();
    const file = await writeCsv(
      'name,assetTag,type,assignedToId,purchaseCost,externalId',
      'Good,T-1,LAPTOP,,,old:1',
      '"Two\r\nlines",T-2,LAPTOPS,,"1,5",a b',
      'Twice,T-1,LAPTOP,unknown@example.com,,old:1',
      'Short,T-4,LAPTOP',
      ...Array.from({ length: 20 }, (_, index) => `,T-1${index},LAPTOP,,,`),
    );
    const { code, stdout, stderr } = await itsm(`assets import --tenant ${name}`, file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const lines = stderr.replaceAll(`error: ${file}`, '').trimEnd().split('\n');
    expect(lines.slice(0, 8)).toEqual([
      expect.stringMatching(/^, line 3: type must be one of LAPTOP, /),
      expect.stringMatching(/^, line 3: purchaseCost must be a decimal number such as "1499.00", /),
      ', line 3: externalId must contain only printable ASCII characters, without spaces and commas',
      ', line 5: assetTag T-1 is already on line 2. Choose a different value',
      ', line 5: externalId old:1 is already on line 2. Choose a different value',
      ', line 5: assignedToId unknown@example.com must be an active user of this workspace',
      ', line 6: the line has 3 cells, but the header has 6. Correct the commas and quotes',
      ', line 7: name is required',
    ]);
    expect(lines.slice(20)).toEqual([': and 7 more', ': nothing was imported']);
    expect(await db.asset.count()).toBe(0);
  });

  it('reports invalid columns of an asset file and conflicts with existing assets', async () => {
    const { name, db } = await createTenantWithWebhook();
    await db.asset.create({ data: { name: 'There', assetTag: 'T-2', type: 'LAPTOP', externalId: 'old:2' } });
    const [file, header] = await Promise.all([
      writeCsv(
        'name,assetTag,type,assignedToId,externalId',
        'New,T-1,LAPTOP,,old:1',
        'Taken,T-2,LAPTOP,,',
        'Unassigned,T-3,LAPTOP,999999,',
        'Imported,T-4,LAPTOP,,old:2',
      ),
      writeCsv('name,Asset Tag,type,type', 'New,T-1,LAPTOP,LAPTOP', 'Other,T-2,LAPTOP,MAINFRAME'),
    ]);
    const [conflicts, columns] = await Promise.all([
      itsm(`assets import --tenant ${name} --json`, file),
      itsm(`assets import --tenant ${name}`, header),
    ]);
    expect(conflicts).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(conflicts.stderr).error.details).toEqual([
      { line: 3, path: 'assetTag', message: 'T-2 is already used by another asset. Choose a different value.' },
      { line: 4, path: 'assignedToId', message: 'must be an active user of this workspace' },
      {
        line: 5,
        path: 'externalId',
        message: 'is already used by another asset. Use that asset, or choose a different value.',
      },
    ]);
    expect(columns.code).toBe(1);
    expect(columns.stderr.replaceAll(header, 'FILE')).toMatch(
      /^error: FILE: the column "Asset Tag" is unknown. Remove it, or use one of: name, assetTag, .*\nerror: FILE: the column assetTag is missing. Add it\nerror: FILE: the column type occurs twice. Remove one\nerror: FILE, line 3: type must be one of .*\nerror: FILE: nothing was imported\n$/,
    );
    expect(await db.asset.count()).toBe(1);
    expect(await db.event.count()).toBe(0);
  });
});

describe('assets import --update', () => {
  const customFields = {
    ...{ floor: 3, ratio: 1e-9, leased: true, insured: false, empty: null, none: '', zip: '01067', formula: '=1' },
    ...{ quoted: "'=1", padded: ' a ', tags: ['a', 1, true, null], long: Array.from({ length: 4000 }, () => 'x') },
  };

  it('changes nothing if an exported CSV file is imported again', async () => {
    const { name, db } = await createTenantWithWebhook();
    const user = await db.user.create({
      data: { name: 'Left', email: `left-${unique()}@example.com`.toLowerCase(), role: 'AGENT', active: false },
    });
    await db.asset.createMany({
      data: [
        {
          ...{ name: '=1+1', assetTag: 'T-1', type: 'LAPTOP', status: 'IN_USE', assignedToId: user.id, customFields },
          ...{
            externalId: 'old:1',
            tags: ['leased', 'vip'],
            notes: ' Two\r\nlines\n',
            purchaseCost: '1499.00',
            location: '-',
          },
          ...{ purchaseDate: new Date('2025-03-14'), warrantyExpiresAt: new Date('2028-03-14T01:02:03.004Z') },
        },
        { name: 'Gone', assetTag: '@2', type: 'OTHER', status: 'DISPOSED', customFields: { floor: 'three' } },
      ],
    });
    const before = await db.asset.findMany({ orderBy: { id: 'asc' } });
    const file = join(folder, `${unique()}.csv`);
    expect(await itsm(`assets export ${file} --tenant ${name}`)).toMatchObject({ code: 0 });
    expect(await itsm(`assets import --tenant ${name} --update`, file)).toEqual({
      code: 0,
      stdout: 'Imported 2 assets (0 new, 0 changed, 2 unchanged).\n',
      stderr: '',
    });
    expect(await db.asset.findMany({ orderBy: { id: 'asc' } })).toEqual(before);
    expect(await db.activity.count()).toBe(0);
  });

  it('creates and changes assets, and keeps the types of custom fields and the values of empty cells', async () => {
    const { name, admin, db } = await createTenantWithWebhook();
    await db.asset.createMany({
      data: [
        { name: 'Laptop', assetTag: 'T-1', type: 'LAPTOP', location: 'Berlin', tags: ['leased'], customFields },
        { name: 'Phone', assetTag: 'T-2', type: 'MOBILE', customFields: { floor: 3, leased: true, tags: ['a'] } },
        { name: 'Same', assetTag: 'T-3', type: 'OTHER' },
      ],
    });
    const file = await writeCsv(
      'assetTag,name,type,tags,assignedToId,location,customFields.floor,customFields.leased,customFields.tags,customFields.zip',
      'T-9,New,SERVER,"B, a",,,4,,,',
      `" T-1 ",,,vip,${admin.email},,4.50,FALSE,"[""b"", 2]",1067`,
      'T-2,,,,,Bonn,012,maybe,"[{}]",',
      'T-3,Same,OTHER,,,,,,,',
    );
    const load = `assets import --tenant ${name} --update`;
    const results = { created: 1, updated: 2, unchanged: 1 };
    const checked = await itsm(`${load} --dry-run --json`, file);
    expect(JSON.parse(checked.stdout)).toEqual({ importable: 4, imported: 0, results, typeChanges: 3 });
    const { stdout, stderr } = await itsm(`${load} --dry-run`, file);
    expect(stdout).toContain('The file is valid: 4 assets (1 new, 2 changed, 1 unchanged). Nothing was imported.');
    expect(stdout).toContain('3 custom fields get values of other types.');
    expect(`${stdout}${stderr}`).toContain(' --update');
    expect(await db.activity.count()).toBe(0);

    const imported = { importable: 4, imported: 4, results, typeChanges: 3 };
    expect(JSON.parse((await itsm(`${load} --json`, file)).stdout)).toEqual(imported);
    expect(await db.asset.findMany({ orderBy: { assetTag: 'asc' } })).toMatchObject([
      {
        ...{ name: 'Laptop', type: 'LAPTOP', location: 'Berlin', assignedToId: BigInt(admin.id), status: 'IN_USE' },
        tags: ['vip'],
        customFields: { ...customFields, floor: 4.5, leased: false, tags: ['b', 2], zip: '1067' },
      },
      { name: 'Phone', location: 'Bonn', customFields: { floor: '012', leased: 'maybe', tags: '[{}]' } },
      { name: 'Same', version: 1 },
      { assetTag: 'T-9', name: 'New', status: 'IN_STOCK', tags: ['a', 'b'], customFields: { floor: '4' } },
    ]);
    const actions = (await db.activity.findMany()).map(({ action }) => action).sort();
    expect(actions).toEqual(['CREATED', 'UPDATED', 'UPDATED']);
    const events = await db.event.findMany();
    expect(events.map(({ body }) => JSON.parse(body).asset.assetTag)).toEqual(['T-9']);
    const again = await itsm(load, file);
    expect(again.stdout).toBe('Imported 4 assets (0 new, 0 changed, 4 unchanged).\n');
  });

  it('reports every line with an error and changes no assets', async () => {
    const { name, db } = await createTenantWithWebhook();
    await db.asset.createMany({
      data: [
        { name: 'Gone', assetTag: 'T-1', type: 'LAPTOP', status: 'DISPOSED' },
        { name: 'Linked', assetTag: 'T-2', type: 'LAPTOP', externalId: 'old:2' },
        { name: 'First', assetTag: 'T-3', type: 'LAPTOP' },
        { name: 'Second', assetTag: 'T-4', type: 'LAPTOP' },
      ],
    });
    const before = await db.asset.findMany({ orderBy: { id: 'asc' } });
    const run = async (flags: string, ...lines: string[]) => {
      const file = await writeCsv('assetTag,status,externalId,assignedToId,location', ...lines);
      const { stderr } = await itsm(`assets import --tenant ${name} --update${flags}`, file);
      return stderr.replaceAll(`error: ${file}`, '').trimEnd().split('\n');
    };
    const wrong = ['T-1,IN_USE,,,', 'T-2,,old:3,,', 'T-9,,old:2,,', 'T-4,,,999999,', 'T-3,,,,'];
    expect(await run(' --dry-run', 'T-3,,,,Bonn', ...wrong)).toEqual([
      ", line 3: status can't change from DISPOSED to IN_USE. DISPOSED is final. Create a new asset instead.",
      ', line 4: externalId can be set only once, and it is already set. Omit it.',
      ', line 5: name is required',
      expect.stringContaining(', line 5: type must be one of'),
      ', line 5: externalId is already used by another asset. Use that asset, or choose a different value.',
      ', line 6: assignedToId must be an active user of this workspace',
      ', line 7: assetTag T-3 is already on line 2. Choose a different value',
      ': nothing was imported',
    ]);
    expect(await run('', 'T-3,,,,Bonn', 'T-4,,old:2,,')).toEqual([
      ', line 3: externalId is already used by another asset. Use that asset, or choose a different value.',
      ': nothing was imported',
    ]);
    expect(await db.asset.findMany({ orderBy: { id: 'asc' } })).toEqual(before);
  });
});
