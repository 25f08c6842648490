import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathPrefix } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import { program, secretKey } from '../support/command-process.ts';
import { api } from '../support/fixture.ts';
import { unique } from '../support/workspace.ts';
import { folder, itWithCommands as it, itsm } from './itsm.ts';

/* Tests the commands that create, list, update, deactivate and activate resources. */

const statusWith = async (key: string, path = '/users') =>
  (await api.call({ method: 'GET', path: pathPrefix + path, key })).status;

/** Runs a command and returns its JSON output as an object. */
async function json(command: string, ...more: string[]) {
  const { code, stdout, stderr } = await itsm(command, ...more, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** Creates a tenant and an API key for its administrator. */
async function createTenant(name: string): Promise<{ email: string; key: string }> {
  const email = `ada@${name.toLowerCase()}.example`;
  const { code, stdout, stderr } = await itsm(`tenants create --name ${name} --admin-email ${email} --with-key`);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^itsm_\w{38}\n$/);
  return { email, key: stdout.trim() };
}

describe('tenants and users', () => {
  it('manages the lifecycle of tenants and users with itsm commands', async () => {
    const { email, key } = await createTenant('Vandelay');
    expect(await statusWith(key)).toBe(200);
    const invited = await itsm(`users invite ${email} --tenant Vandelay`);
    expect(invited).toMatchObject({ code: 0, stdout: expect.stringContaining('/developer/join?token=') });
    expect(invited.stderr).toMatch(
      /^Send this link to .*\nNext, the user opens the link, .* in the developer area\.\n$/,
    );
    expect(await json('tenants update Vandelay --name', 'Vandelay Industries')).toMatchObject({ active: true });
    const taken = await itsm('tenants create --admin-email x@y.example --name', 'vandelay industries');
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('is already used by another tenant') });
    const tenant = ['--tenant', 'Vandelay Industries'];

    const changes = ['--job-title', 'Importer', '--time-zone', 'Europe/Rome', '--name', 'Art'];
    expect(await json(`users update ${email}`, ...tenant, ...changes)).toMatchObject({
      ...{ name: 'Art', jobTitle: 'Importer', timeZone: 'Europe/Rome', role: 'ADMIN', email },
    });
    expect(await json(`users update ${email}`, ...tenant, '--job-title', '')).toMatchObject({
      jobTitle: null,
      name: 'Art',
    });
    expect(await itsm(`users update ${email}`, ...tenant)).toMatchObject({
      code: 2,
      stderr: 'error: --name or another option is required. Choose what to change\n',
    });

    await json(`users deactivate ${email} --keep-keys`, ...tenant);
    await expect.poll(() => statusWith(key)).toBe(401);
    await json(`users activate ${email}`, ...tenant);
    await expect.poll(() => statusWith(key)).toBe(200);
    await json('tenants deactivate', 'Vandelay Industries');
    await expect.poll(() => statusWith(key)).toBe(401);
    await json('tenants activate', 'Vandelay Industries');
    await expect.poll(() => statusWith(key)).toBe(200);
    expect(await json('tenants show', 'Vandelay Industries')).toMatchObject({ users: 1, keys: 1, tickets: 0 });
  });
});

describe('resolution targets', () => {
  it('changes, shows and clears the resolution targets of a tenant with itsm commands', async () => {
    const name = `Targets${unique()}`;
    await createTenant(name);
    const none = { CRITICAL: null, HIGH: null, MEDIUM: null, LOW: null };
    const changed = await json(`tenants update ${name} --target-critical 240 --target-low 525600`);
    expect(changed).toMatchObject({ name, resolutionTargets: { ...none, CRITICAL: 240, LOW: 525_600 } });
    const cleared = await json(`tenants update ${name} --target-low`, '');
    expect(cleared).toMatchObject({ resolutionTargets: { ...none, CRITICAL: 240 } });
    expect(await json(`tenants show ${name}`)).toMatchObject({ resolutionTargets: { ...none, CRITICAL: 240 } });
    expect((await itsm(`tenants show ${name}`)).stdout).toContain('CRITICAL 240 min');
    for (const minutes of ['0', '525601', '1.5', 'soon']) {
      expect((await itsm(`tenants update ${name} --target-high ${minutes}`)).code, minutes).toBe(2);
    }
  });
});

describe('users that lose permissions', () => {
  it.each([
    ['users deactivate EMAIL', 'is inactive.'],
    ['users update EMAIL --role AGENT', 'with role AGENT.'],
  ])('revokes the API keys of a user after `%s` unless --keep-keys is set', async (command, done) => {
    const name = `Rights${unique()}`;
    const { email, key } = await createTenant(name);
    const [{ id }] = await json(`keys list --tenant ${name}`);
    const call = `${command.replace('EMAIL', email)} --tenant ${name}`;
    expect(await json(`${call} --keep-keys`)).toMatchObject({ email, revokedKeys: [] });
    await json(`users activate ${email} --tenant ${name}`);
    await json(`users update ${email} --tenant ${name} --role ADMIN`);
    await expect.poll(() => statusWith(key)).toBe(200);

    const { code, stdout } = await itsm(call);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`${done}\\nRevoked the API key ${id} "first" \\(…${key.slice(-4)}\\)\\.\\n$`)),
    ]);
    await expect.poll(() => statusWith(key)).toBe(401);
  });
});

describe('service accounts and rules for API keys', () => {
  it('creates a service account with an API key for one network, and limits the lifetime of new keys', async () => {
    await createTenant('Wayne');
    const create = 'users create --tenant Wayne --name Export --email it@wayne.example --kind SERVICE';
    expect(await itsm(`${create} --role ADMIN`)).toMatchObject({ code: 1, stderr: expect.stringContaining('AGENT') });
    const account = await json(`${create} --role AGENT`);
    expect(account).toMatchObject({ kind: 'SERVICE', role: 'AGENT' });
    expect(await itsm('users invite it@wayne.example --tenant Wayne')).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining("which can't sign in") },
    });
    const newKey = 'keys create --tenant Wayne --user it@wayne.example --name export --scopes users:read';
    const { stdout } = await itsm(`${newKey} --allowed-networks 192.0.2.0/24`);
    expect(await statusWith(stdout.trim())).toBe(403);
    const [{ id }] = await json('keys list --tenant Wayne');
    expect((await itsm(`keys show ${id}`)).stdout).toContain('192.0.2.0/24');
    expect(await json(`keys update ${id} --allowed-networks`, '')).toMatchObject({ allowedNetworks: [] });
    await expect.poll(() => statusWith(stdout.trim())).toBe(200);

    const updated = await itsm('tenants update Wayne --max-key-days 30 --require-key-expiry true');
    expect(updated.stdout).toContain('Expiry of API keys: at most 30 days.');
    expect(await json('tenants show Wayne')).toMatchObject({
      keyPolicy: { maxLifetimeDays: 30, expiryRequired: true },
    });
    expect(await itsm(newKey)).toMatchObject({ code: 1, stderr: expect.stringContaining('expires-in-days must be') });
    await json(`${newKey} --expires-in-days 30`);
    expect((await itsm('keys list --tenant Wayne --state expiring')).stdout).toContain('expiring');
  });
});

describe('keys rotate', () => {
  it('keeps the old API key valid for --overlap-hours after a rotation', async () => {
    const { key } = await createTenant('Pied');
    const [{ id }] = await json('keys list --tenant Pied');
    const rotated = await itsm(`keys rotate ${id} --overlap-hours 1`);
    const next = rotated.stdout.trim();
    expect(rotated.stderr).not.toContain(next);
    expect([await statusWith(key), await statusWith(next)]).toEqual([200, 200]);
    const [successor, before] = await json('keys list --tenant Pied');
    expect(successor).toMatchObject({ name: 'first', rotatedFrom: id, expiresAt: null, scopes: before.scopes });
    expect(Date.parse(before.expiresAt) - Date.now()).toBeCloseTo(3_600_000, -5);

    // A second rotation with a longer overlap must not extend the lifetime of the old key. The new key must not inherit
    // the expiry time that the first rotation set.
    await json(`keys rotate ${successor.id} --overlap-hours 2`);
    expect(await json(`keys rotate ${id} --overlap-hours 24`)).toMatchObject({ expiresAt: null });
    expect(await json(`keys show ${id}`)).toMatchObject({ expiresAt: before.expiresAt });
    await json(`keys rotate ${id} --overlap-hours 0`);
    await expect.poll(() => statusWith(key)).toBe(401);
    expect(await itsm(`keys rotate ${id}`)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `error: API key ${id} is expired or revoked and can't be rotated. Create a new key.\n`,
    });

    await json(`keys update ${successor.id} --scopes users:read --expires-in-days 30`);
    await expect.poll(() => statusWith(next, '/tickets')).toBe(403);
    expect(await statusWith(next)).toBe(200);
    expect(await json(`keys update ${successor.id}`, '--expires-in-days', '')).toMatchObject({ expiresAt: null });
  });
});

describe('teams', () => {
  it('reads the members of a team as email addresses or ids', async () => {
    const { email } = await createTenant('Wernham');
    const [{ id: ada }] = await json('users list --tenant Wernham');
    const other = 'users create --tenant Wernham --name Jim --email jim@wernham.example --role AGENT';
    const { id: jim } = await json(other);
    const made = await json(`teams create --tenant Wernham --name Network --members ${email},${jim}`);
    expect(made).toMatchObject({ name: 'Network', description: null, active: true, memberIds: [ada, jim] });
    const update = `teams update ${made.id} --tenant Wernham`;
    expect(await json(`${update} --members JIM@wernham.example`)).toMatchObject({ name: 'Network', memberIds: [jim] });
    expect(await json(`${update} --members`, '')).toMatchObject({ memberIds: [] });
  });

  it('names the wrong member, and the limit of members', async () => {
    await createTenant('Sabre');
    const create = (members: string) => itsm(`teams create --tenant Sabre --name Network --members ${members}`);
    expect(await create('unknown@sabre.example')).toMatchObject({
      code: 1,
      stderr: 'error: --members contains unknown@sabre.example, but no active user has this address\n',
    });
    expect((await create('9007199254740991')).stderr).toBe(
      'error: --members must be an active user of this workspace\n',
    );
    expect((await create('Ada')).stderr).toContain('--members must be the email address or the id of a user');
    const many = Array.from({ length: 501 }, (_, i) => i + 1).join();
    expect((await create(many)).stderr).toContain('--members must contain at most 500 users');
  });
});

describe('fields', () => {
  it('changes the options of a custom field, and lists the definitions as the API does', async () => {
    const { key } = await createTenant('Entwhistle');
    const tenant = ['--tenant', 'Entwhistle'];
    const made = await json('fields create TICKET site --type SELECT --label Site --options berlin=Berlin', ...tenant);
    expect(made).toMatchObject({ options: [{ value: 'berlin', label: 'Berlin', active: true }], required: false });
    expect(await itsm('fields create TICKET Site --type TEXT --label Site', ...tenant)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('error: <key> must start with a lower-case letter'),
    });
    const update =
      'fields update TICKET site --options bonn=Bonn --options kiel --required true --filterable true --description Where?';
    expect(await json(update, ...tenant)).toMatchObject({
      ...{ label: 'Site', description: 'Where?', required: true, filterable: true },
      options: [
        { value: 'bonn', label: 'Bonn', active: true },
        { value: 'kiel', label: 'kiel', active: true },
        { value: 'berlin', label: 'Berlin', active: false },
      ],
    });
    expect((await itsm('fields show TICKET site', ...tenant)).stdout).toContain('bonn = Bonn, kiel = kiel');
    const listed = await api.call({ method: 'GET', path: `${pathPrefix}/custom-fields`, key });
    expect(await json('fields list', ...tenant)).toEqual(listed.body.data);
    expect(await itsm('fields show TICKET other', ...tenant)).toMatchObject({
      code: 1,
      stderr: 'error: Custom field not found in this workspace. Check the resource and key.\n',
    });
  });

  it('turns on the policy for changes', async () => {
    await createTenant('Careful');
    expect(await json('tenants update Careful --change-policy true')).toMatchObject({ changePolicy: true });
    expect((await itsm('tenants show Careful')).stdout).toMatch(/change policy +true/i);
  });

  it('reads the custom fields of an asset by their types, and sets the strict mode', async () => {
    await createTenant('Globex');
    const tenant = ['--tenant', 'Globex'];
    await json('fields create ASSET floor --type NUMBER --label Floor --required true', ...tenant);
    await json('fields create ASSET tags --type MULTI_SELECT --label Tags --options a --options b', ...tenant);
    const create = 'assets create --name Phone --asset-tag MB-1 --type MOBILE';
    expect(await itsm(create, ...tenant)).toMatchObject({
      ...{ code: 1, stderr: 'error: customFields.floor is required\n' },
    });
    const asset = await json(
      `${create} --custom-field floor=3 --custom-field tags=b,a --custom-field other=4`,
      ...tenant,
    );
    expect(asset.customFields).toEqual({ floor: 3, tags: ['b', 'a'], other: '4' });
    expect(await json('tenants update Globex --strict-fields true')).toMatchObject({ strictFields: true });
    expect(await itsm(`assets update ${asset.id} --custom-field other=5`, ...tenant)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('customFields.other is not defined') },
    });
    expect((await itsm('tenants show Globex')).stdout).toMatch(/strict fields +true/i);
  });
});

describe('categories', () => {
  it('creates a ticket category below another one, and lists ticket categories in the order of their ids', async () => {
    await createTenant('Initech');
    const tenant = '--tenant Initech';
    await json(`categories create network/vpn ${tenant} --name VPN --category NETWORK`);
    await json(`categories create network ${tenant} --name Network`);
    const update = `categories update network/vpn ${tenant} --parent-id`;
    expect(await json(`${update} network`)).toMatchObject({ parentId: 'network', category: 'NETWORK' });
    expect(await json(update, '')).toMatchObject({ parentId: null });
    expect(await itsm(`${update} unknown`)).toMatchObject({
      code: 1,
      stderr: 'error: --parent-id must be the id of a ticket category of this workspace\n',
    });
    expect(await json(`categories list ${tenant}`)).toMatchObject([{ id: 'network' }, { id: 'network/vpn' }]);
  });

  it('imports ticket categories whose parents come later in the CSV file, or imports nothing', async () => {
    await createTenant('Hooper');
    const file = join(folder, 'categories.csv');
    const load = `categories import ${file} --tenant Hooper`;
    const header = (await itsm('categories template')).stdout.split('\n')[0];
    expect(header?.trim()).toBe('id,name,parentId,category');
    await writeFile(file, `${header}\nvpn,VPN,network,\nwlan,WLAN,lan,\na,A,a,\nnetwork,Network,,NETWORK\n`);
    expect(await itsm(load)).toMatchObject({
      code: 1,
      stderr: [
        `error: ${file}, line 3: parentId must be the id of a ticket category of this workspace`,
        `error: ${file}, line 4: parentId must not be the category itself or one of its descendants`,
        `error: ${file}: nothing was imported\n`,
      ].join('\n'),
    });
    await writeFile(file, `${header}\nvpn,VPN,network,\nnetwork,Network,,NETWORK\n`);
    expect(await json(`${load} --dry-run`)).toEqual({ importable: 2, imported: 0 });
    expect(await json(load)).toEqual({ importable: 2, imported: 2 });
    expect(await json('categories list --tenant Hooper')).toMatchObject([
      { id: 'network', name: 'Network', parentId: null, category: 'NETWORK', active: true },
      { id: 'vpn', name: 'VPN', parentId: 'network', category: null, active: true },
    ]);
    expect((await itsm(load)).stderr).toContain('line 2: id vpn is already used by another category');
  });
});

describe('projects and assets', () => {
  it('sets the status of projects and assets, and updates assets with itsm commands', async () => {
    const { email } = await createTenant('Hooli');
    const made = await json('projects create --tenant Hooli --key BOX --name Box');
    expect(await json(`projects activate ${made.id} --tenant Hooli`)).toMatchObject({ status: 'ACTIVE' });
    expect(await json(`projects deactivate ${made.id} --tenant Hooli`)).toMatchObject({ status: 'ON_HOLD' });
    expect(await json('projects list --tenant Hooli --q crate')).toEqual([]);
    expect(await json(`users list --tenant Hooli --q ${email}`)).toHaveLength(1);

    const asset = await json(
      `assets create --tenant Hooli --name Phone --asset-tag MB-1 --type MOBILE --assigned-to ${email} --custom-field a=1 --custom-field b=2`,
    );
    expect(
      await json(`assets update ${asset.id} --tenant Hooli --location Berlin --custom-field a= --custom-field c=3`),
    ).toMatchObject({ location: 'Berlin', customFields: { b: '2', c: '3' } });
    expect(await json(`assets deactivate ${asset.id} --tenant Hooli`)).toMatchObject({
      ...{ status: 'RETIRED', assignedToId: null },
    });
    expect(await json(`assets activate ${asset.id} --tenant Hooli`)).toMatchObject({ status: 'IN_STOCK' });
    expect(await json('assets list --tenant Hooli --type MOBILE')).toMatchObject([{ assetTag: 'MB-1' }]);
  });

  it('imports an exported CSV file of assets into another tenant', async () => {
    const [from] = [await createTenant('Dunder'), await createTenant('Mifflin')];
    const notes = '\u00a0 Three lines,\r\nand a "quote"\rand\t';
    const fields = ['--notes', notes, '--custom-field', 'cost centre=4711', '--custom-field', 'kept\nwhole= as it is '];
    await json(`assets create --tenant Dunder --name Büro --asset-tag A-1 --type OTHER`, ...fields);
    // The export must escape values that spreadsheet programs evaluate as formulas.
    const formulas = ['--name', '=HYPERLINK("https://example.com")', '--notes', "'+1-1", '--location', '＝1+1'];
    await json(`assets create --tenant Dunder --asset-tag A-2 --type LAPTOP`, ...formulas);
    const file = join(folder, 'assets.csv');
    expect((await json(`assets export ${file} --tenant Dunder`)).exported).toBe(2);

    expect(await json(`assets import ${file} --tenant Mifflin --dry-run`)).toEqual({ importable: 2, imported: 0 });
    expect(await json('assets list --tenant Mifflin')).toEqual([]);
    expect(await json(`assets import ${file} --tenant Mifflin`)).toEqual({ importable: 2, imported: 2 });
    const given = ({ name, assetTag, location, notes, customFields, status }: Record<string, unknown>) => {
      return { name, assetTag, location, notes, customFields, status };
    };
    const [there, here] = [await json('assets list --tenant Mifflin'), await json('assets list --tenant Dunder')];
    expect(there.map(given)).toEqual(here.map(given));
    expect(there).toContainEqual(expect.objectContaining({ notes }));
    // A dry run also reports conflicts with existing assets.
    const again = await itsm(`assets import ${file} --tenant Mifflin --dry-run`);
    expect(again).toMatchObject({
      code: 1,
      // Asset A-1 is on line 3 of the export, after the header and asset A-2.
      stderr: expect.stringContaining('line 3: assetTag A-1 is already used by another asset'),
    });

    const template = (await itsm('assets template')).stdout.replace('ada@acme.example', from.email);
    await writeFile(join(folder, 'template.csv'), template);
    expect(await json(`assets import ${join(folder, 'template.csv')} --tenant Dunder --dry-run`)).toMatchObject({
      importable: 1,
    });
    const csv = await readFile(file, 'utf8');
    expect(csv).toContain('customFields.cost centre');
    expect(csv).toContain(`"'=HYPERLINK(""https://example.com"")"`);
    expect(csv).toContain("''+1-1");
    expect(csv).toContain("'＝1+1");
  });
});

describe('CSV files', () => {
  it('reports correct line numbers of a CSV file for all kinds of line breaks', async () => {
    await createTenant('Lines');
    for (const [end, within] of [
      ['\r\n', '\n'],
      ['\n', '\r\n'],
      ['\r', '\r'],
    ] as const) {
      const file = join(folder, 'lines.csv');
      const notes = `"One${within}two${within}"`;
      const lines = ['name,assetTag,type,notes', `A,L-1,OTHER,${notes}`, '', 'B,L-2,CAR,', 'C,L-3,CAR,x'];
      await writeFile(file, lines.join(end));
      const { stderr } = await itsm(`assets import ${file} --tenant Lines --dry-run`);
      expect(stderr.match(/line \d+/g), JSON.stringify([end, within])).toEqual(['line 6', 'line 7']);
    }
  });
});

describe('projects', () => {
  it('imports an exported CSV file of projects into another tenant', async () => {
    for (const name of ['Vandelay', 'Kramerica']) await createTenant(name);
    await json(`projects create --tenant Vandelay --key OFFICE`, '--name', '=Latex, and "more"');
    const file = join(folder, 'projects.csv');
    expect((await json(`projects export ${file} --tenant Vandelay`)).exported).toBe(1);
    const load = `projects import ${file} --tenant Kramerica`;
    expect(await json(`${load} --dry-run`)).toEqual({ importable: 1, imported: 0 });
    expect((await itsm(load)).stdout).toBe('Imported 1 project.\n');
    expect(await json('projects list --tenant Kramerica')).toMatchObject([
      { key: 'OFFICE', name: '=Latex, and "more"' },
    ]);
    expect(await itsm(load)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('line 2: key OFFICE is already used by another project'),
    });
    expect((await itsm('projects template')).stdout).toMatch(/^key,name,description,.*\nOFFICE,/);
  });
});

describe('secret options', () => {
  /** Runs a command that reads `input` from standard input. */
  async function runWithInput(input: string, ...args: string[]) {
    const env = { PATH: process.env.PATH, DATABASE_URL: api.databaseUrl, WEBHOOK_SECRET_KEY: secretKey };
    const child = spawn(program, args, { env });
    child.stdin.end(input);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { code: child.exitCode, stdout, stderr };
  }

  it('reads the signing secret of a webhook from standard input', async () => {
    await createTenant('Oscorp');
    const create =
      'webhooks create --tenant Oscorp --url https://hooks.example.com/itsm --events ticket.created --secret -';
    const made = await runWithInput('of-this-test-24-characters\nsecond line\n', ...create.split(' '));
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('Created the subscription') });
    for (const [input, command] of [
      ['a'.repeat(257), create],
      ['', create],
      ['\n', 'listen --secret -'],
    ] as const) {
      const rejected = await runWithInput(input, ...command.split(' '));
      expect([rejected.code, rejected.stderr]).toEqual([2, expect.stringMatching(/^error: --secret must /)]);
    }
  });
});

describe('webhooks', () => {
  it('manages the lifecycle of a webhook with itsm commands', async () => {
    await createTenant('Stark');
    const create =
      'webhooks create --tenant Stark --url https://hooks.example.com/itsm --filter priority=HIGH,CRITICAL';
    const made = await itsm(`${create} --events`, 'ticket.*');
    expect(made.stdout).toMatch(/^whsec_[\w+/=]{44}\n$/);
    expect(made.stderr).not.toContain(made.stdout.trim());
    const [webhook] = await json('webhooks list --tenant Stark');
    expect(webhook).toMatchObject({
      events: ['ticket.created', 'ticket.updated'],
      filter: { priority: ['HIGH', 'CRITICAL'] },
    });
    expect(
      await json(`webhooks update ${webhook.id} --tenant Stark --paused true --filter`, 'priority=LOW'),
    ).toMatchObject({
      ...{ pausedAt: expect.any(String), filter: { priority: ['LOW'] } },
    });
    await json(`webhooks deactivate ${webhook.id} --tenant Stark`);
    expect(await json('webhooks list --tenant Stark')).toEqual([]);
    expect(await json('webhooks list --tenant Stark --all')).toMatchObject([{ id: webhook.id, active: false }]);
    expect(await json(`webhooks activate ${webhook.id} --tenant Stark`)).toMatchObject({
      active: true,
      pausedAt: null,
    });
    expect(await json(`webhooks test ${webhook.id} --tenant Stark`)).toMatchObject({ webhookId: webhook.id });

    expect(await itsm(`${create} --events ticket.closed,task.*`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--events contains the unknown event ticket.closed. Use any of '),
    });
  });
});
