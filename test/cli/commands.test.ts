import { pathPrefix, scopes } from '@itsm-api/contract';
import { openApiDocument } from '@itsm-api/contract/openapi';
import { createTenant, findTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import { describe, expect } from 'vitest';
import { api } from '../support/fixture.ts';
import { commandLine, itWithCommands as it, itsm } from './itsm.ts';

const statusWith = async (key: string) => (await api.call({ method: 'GET', path: `${pathPrefix}/users`, key })).status;

describe('tenants, users and keys', () => {
  it('creates tenants, users and API keys with itsm commands', async () => {
    const tenant = await itsm('tenants create --admin-email Ada@acme.example --name', ' Acme ');
    expect(tenant).toMatchObject({
      code: 0,
      stderr:
        'Next:\n  $ ./itsm users invite ada@acme.example --tenant Acme\n' +
        '  $ ./itsm keys create --tenant Acme --user ada@acme.example --name first --scopes all\n',
    });
    expect(tenant.stdout).toMatch(/^Created the tenant Acme \(ID \d+\) with its administrator ada@acme.example.\n$/);
    const { id } = await findTenant(api.prisma, 'aCME');
    expect(await findTenant(api.prisma, String(id))).toMatchObject({ name: 'Acme', active: true });

    const jonas = '--email Jonas@acme.example --role AGENT --job-title Engineer --time-zone Europe/Berlin';
    const [user, all] = await Promise.all([
      itsm(`users create --tenant acme ${jonas} --json --name`, 'Jonas Weber'),
      itsm(`keys create --tenant ${id} --user ADA@acme.example --name a --scopes all --json`),
    ]);
    expect(JSON.parse(user.stdout)).toMatchObject({
      email: 'jonas@acme.example',
      role: 'AGENT',
      jobTitle: 'Engineer',
      timeZone: 'Europe/Berlin',
      department: null,
      active: true,
    });
    expect(JSON.parse(all.stdout)).toMatchObject({
      user: 'ada@acme.example',
      scopes: Object.keys(scopes),
      isImport: false,
    });
    const move = await itsm(
      'keys create --tenant Acme --user ada@acme.example --name move --scopes all --expires-in-days 7 --import --json',
    );
    expect(JSON.parse(move.stdout)).toMatchObject({ isImport: true });

    const ci = '--user jonas@acme.example --name ci --expires-in-days 30 --scopes';
    const made = await itsm(`keys create --tenant Acme ${ci}`, 'users:read, tickets:read');
    expect(made.stdout).toMatch(/^itsm_\w{38}\n$/);
    const key = made.stdout.trim();
    expect(made.stderr).toContain("You can't display it again");
    expect(made.stderr).not.toContain(key);
    expect(await statusWith(key)).toBe(200);

    const [keys, users] = await Promise.all([itsm('keys list --tenant Acme --json'), itsm('users list --tenant Acme')]);
    expect(keys.stdout).not.toContain(key);
    const [listed] = JSON.parse(keys.stdout);
    expect(listed).toMatchObject({ name: 'ci', lastFour: key.slice(-4), scopes: ['users:read', 'tickets:read'] });
    expect(Date.parse(listed.expiresAt) - Date.parse(listed.createdAt)).toBeCloseTo(30 * 86_400_000, -4);
    expect(users.stdout).toMatch(
      /^ID +NAME +EMAIL +ROLE +STATUS +CREATED\n\d+ +Jonas Weber +jonas@acme.example +AGENT +active +(now|\d+ \w+ ago)\n/,
    );

    const revoked = await itsm(`keys revoke ${listed.id} --json`);
    await expect.poll(() => statusWith(key)).toBe(401);
    const { revokedAt } = JSON.parse(revoked.stdout);
    expect(JSON.parse((await itsm(`keys revoke ${listed.id} --json`)).stdout)).toMatchObject({ revokedAt });
  });

  it('rejects the API keys and new users of a deactivated tenant', async () => {
    await createTenant(api.prisma, { name: 'Globex', adminEmail: 'hank@globex.example', adminName: 'Hank' });
    const newKey = 'keys create --tenant Globex --user hank@globex.example --name k --scopes users:read';
    const key = (await itsm(newKey)).stdout.trim();
    expect(await statusWith(key)).toBe(200);

    expect((await itsm('tenants deactivate globex')).code).toBe(0);
    await expect.poll(() => statusWith(key)).toBe(401);
    const stderr = 'error: --tenant Globex is inactive. Activate it first.\n';
    expect(
      await Promise.all([
        itsm(newKey),
        itsm('users create --tenant Globex --name N --email n@globex.example --role AGENT'),
        itsm('users deactivate HANK@globex.example --tenant Globex'),
      ]),
    ).toMatchObject([
      { code: 1, stdout: '', stderr },
      { code: 1, stdout: '', stderr },
      {
        code: 0,
        stdout: expect.stringMatching(
          /^The user Hank <hank@globex.example> \(ID \d+\) is inactive.\nRevoked the API key \d+ "k" \(…\w{4}\).\n$/,
        ),
      },
    ]);
  });
});

describe('tenant names', () => {
  const adminEmail = 'a@names.example';

  it('ignores case and Unicode compatibility differences in tenant names', async () => {
    const { tenant } = await createTenant(api.prisma, { name: 'Straße Ⅻ', adminEmail });
    for (const name of ['STRASSE XII', 'ｓtraße xii', 'Straße Ⅻ']) {
      expect((await findTenant(api.prisma, name)).id).toBe(tenant.id);
      await expect(createTenant(api.prisma, { name, adminEmail })).rejects.toThrow('is already used by another tenant');
    }
  });

  it('returns NOT_FOUND for a tenant ID that is too large for the database', async () => {
    const { tenant } = await createTenant(api.prisma, { name: 'Wrapped', adminEmail: 'a@wrapped.example' });
    const beyond = (2n ** 64n + BigInt(tenant.id)).toString();
    await expect(findTenant(api.prisma, beyond)).rejects.toThrow(
      `No tenant has the id ${beyond}. List the tenants with \`tenants list\`.`,
    );
  });
});

describe('projects create', () => {
  it('creates a project with `projects create` and reports a duplicate project key', async () => {
    const { admin } = await createTenant(api.prisma, { name: 'Initech', adminEmail: 'bill@initech.example' });
    const create = 'projects create --tenant Initech --key TPS --name Reports';
    const made = await itsm(`${create} --manager Bill@initech.example --start-date 2026-11-20 --json`);
    expect(JSON.parse(made.stdout)).toMatchObject({
      key: 'TPS',
      managerId: admin.id,
      startDate: '2026-11-20',
      status: 'PLANNED',
    });
    expect(await Promise.all([itsm(create), itsm(`${create} --manager milton@initech.example`)])).toMatchObject([
      { code: 1, stderr: 'error: --key TPS is already used by another project. Choose a different value.\n' },
      { code: 1, stderr: 'error: --manager must be an active user of this workspace\n' },
    ]);
  });
});

describe('a command that fails', () => {
  it('reports an error on one line or as JSON, and exits with code 1', async () => {
    await createTenant(api.prisma, { name: 'Umbrella', adminEmail: 'a@umbrella.example' });
    const [taken, unknown, noUser, noKey] = await Promise.all([
      itsm('tenants create --name UMBRELLA --admin-email b@umbrella.example'),
      itsm('keys list --tenant Nowhere --json'),
      itsm('keys create --tenant Umbrella --user b@umbrella.example --name k --scopes all'),
      itsm('keys revoke 999999'),
    ]);
    expect(taken).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: --name UMBRELLA is already used by another tenant. Choose a different value.\n',
    });
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    const error = {
      code: 'NOT_FOUND',
      message: 'No tenant has the name Nowhere. List the tenants with `tenants list`.',
    };
    expect(JSON.parse(unknown.stderr)).toEqual({ error });
    expect(noUser).toMatchObject({
      code: 1,
      stderr: 'error: --user b@umbrella.example must be an active user of this workspace\n',
    });
    expect(noKey).toMatchObject({
      code: 1,
      stderr: 'error: No API key has the id 999999. List the keys with `keys list`.\n',
    });
  });
});

describe('usage errors', () => {
  it('reports each invalid option on a separate line and exits with code 2', async () => {
    const [missing, wrong, scope, setting] = await Promise.all([
      itsm('tenants create --name X --json'),
      itsm('users create --tenant X --email x --role BOSS --time-zone Mars/North --name', ' '),
      itsm('keys create --tenant X --user a@x.example --name k --scopes tickets:reed --expires-in-days 1e3'),
      commandLine('mysql://localhost/x')('tenants list'),
    ]);
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(missing.stderr).error.message).toBe("required option '--admin-email <email>' not specified");
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr.split('\n')).toEqual([
      'error: --name must have at least 1 character',
      'error: --email must be an email address',
      'error: --role must be one of ADMIN, AGENT, REQUESTER',
      'error: --time-zone must be the IANA name of a time zone, such as Europe/Berlin',
      '',
    ]);
    expect(scope.code).toBe(2);
    expect(scope.stderr).toMatch(/^error: --scopes must not contain tickets:reed. Use any of tickets:read, /);
    expect(scope.stderr).toMatch(/^error: --expires-in-days must be a whole number of days from 1 to 3650$/m);
    expect(setting.code).toBe(2);
    expect(setting.stderr).toMatch(/^error: DATABASE_URL: must be a URL such as [^\n]+\n$/);
  });

  it('prints the version of the API', async () => {
    const version = { code: 0, stdout: `${openApiDocument().info.version}\n`, stderr: '' };
    for (const option of ['--version', '-V']) expect(await itsm(option)).toEqual(version);
  });

  it('prints the version of the API', async () => {
    const version = { code: 0, stdout: `${openApiDocument().info.version}\n`, stderr: '' };
    for (const option of ['--version', '-V']) expect(await itsm(option)).toEqual(version);
  });

  it('lists examples and scopes in the help of `keys create`', async () => {
    const { code, stdout } = await itsm('keys create --help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Examples:\n {2}\$ \.\/itsm keys create /m);
    for (const scope of Object.keys(scopes)) expect(stdout).toContain(scope);
  });
});
