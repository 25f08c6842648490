import type { Scope } from '@itsm-api/contract';
import {
  createKey,
  getKey,
  NewKey,
  narrowKey,
  revokeKey,
  rotateKey,
  updateKey,
} from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { type KeyQuery, listKeys } from '@itsm-api/server/auth/api-keys/key-list.ts';
import { getKeyPolicy, setKeyPolicy } from '@itsm-api/server/auth/api-keys/key-policy.ts';
import { KeyStatus } from '@itsm-api/server/auth/api-keys/key-status.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { type Context, transaction } from '@itsm-api/server/resources/shared/context.ts';
import { describe, expect } from 'vitest';
import { api, itWithApi as it } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/*
 * Tests API key management with the database role for requests, because the developer area uses this role.
 */
let mine: Workspace;
let theirs: Workspace;
let email: string;
const dayMs = 86_400_000;
const missing = { code: 'NOT_FOUND', message: 'API key not found in this workspace. Check the id.' };

it.beforeAll(async () => {
  [mine, theirs] = [await createWorkspace(api), await createWorkspace(api)];
  email = (await mine.createUser({ role: 'ADMIN' })).email;
});

const asRequest = ({ tenantId }: Workspace): Context => ({
  ...api.services,
  db: tenantClient(api.databases.requests, tenantId),
});
const make = (name: string, fields: { scopes?: Scope[]; expiresInDays?: number } = {}) =>
  createKey(asRequest(mine), { user: email, name, scopes: ['tickets:read'], ...fields });
const statusWith = async (key: string) =>
  (await api.call({ method: 'GET', path: '/api/public/v1/tickets', key })).status;

describe('API keys', () => {
  it('allows 100 valid API keys of an agent', async () => {
    const { id, email: user } = await mine.createUser({ role: 'AGENT' });
    await api.prisma.apiKey.createMany({
      data: Array.from({ length: 100 }, () => ({
        ...{ tenantId: mine.tenantId, userId: BigInt(id), name: 'script', scopes: ['tickets:read'] },
        ...{ hash: Buffer.from(crypto.randomUUID()), lastFour: 'aB3d' },
      })),
    });
    const create = () => createKey(asRequest(mine), { user, name: 'one more', scopes: ['tickets:read'] });
    await expect(create()).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    const { id: unused } = await api.prisma.apiKey.findFirstOrThrow({ where: { userId: BigInt(id) } });
    await revokeKey(asRequest(mine), Number(unused));
    expect((await create()).name).toBe('one more');
  });

  it('creates, changes, rotates and revokes an API key', async () => {
    const made = await make('ci', { scopes: ['tickets:read', 'tickets:write'], expiresInDays: 31 });
    expect(made).toMatchObject({ name: 'ci', user: email, state: 'active', lastFour: made.key.slice(-4) });
    expect(await statusWith(made.key)).toBe(200);

    const changed = await updateKey(asRequest(mine), made.id, { name: 'build', expiresInDays: 29 });
    expect(changed).toMatchObject({ name: 'build', state: 'expiring', scopes: made.scopes });

    expect(await updateKey(asRequest(mine), made.id, { expiresInDays: null })).toMatchObject({ expiresAt: null });

    const next = await rotateKey(asRequest(mine), made.id, { overlapHours: 2 });
    expect(next).toMatchObject({ name: 'build', rotatedFrom: made.id, previous: { id: made.id, state: 'expiring' } });
    expect([await statusWith(made.key), await statusWith(next.key)]).toEqual([200, 200]);

    const revoked = await revokeKey(asRequest(mine), next.id);
    expect(revoked.state).toBe('revoked');
    await expect.poll(() => statusWith(next.key)).toBe(401);
    expect(await revokeKey(asRequest(mine), next.id)).toEqual(revoked);
    await expect(rotateKey(asRequest(mine), next.id, { overlapHours: 2 })).rejects.toThrow('is expired or revoked');
  });

  it('rotates an API key once if two rotations run concurrently', async () => {
    const { id } = await make('twice');
    const rotated = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const first = transaction(asRequest(mine), async (context) => {
      await rotateKey(context, id, { overlapHours: 0 });
      rotated.resolve();
      await mayEnd.promise;
    });
    await rotated.promise;
    const second = rotateKey(asRequest(mine), id, { overlapHours: 0 });
    setTimeout(() => mayEnd.resolve(), 200);
    await expect(second).rejects.toThrow('is expired or revoked');
    await first;
  });

  it('removes scopes from an API key, and rejects new scopes for the key', async () => {
    const { id } = await make('wide', { scopes: ['tickets:read', 'users:read'] });
    expect(await narrowKey(asRequest(mine), id, ['users:read'])).toMatchObject({ scopes: ['users:read'] });
    await expect(narrowKey(asRequest(mine), id, ['users:read', 'tickets:read'])).rejects.toMatchObject({
      details: [{ path: 'scopes', message: expect.stringContaining('lacks tickets:read') }],
    });
    expect(await getKey(asRequest(mine), id)).toMatchObject({ scopes: ['users:read'] });
  });

  it('applies the rules of the workspace to the expiry of new, rotated and changed API keys', async () => {
    const workspace = await createWorkspace(api);
    const context = asRequest(workspace);
    const { email: user } = await workspace.createUser();
    const make = (expiresInDays?: number) =>
      createKey(context, { user, name: 'ruled', scopes: ['tickets:read'], ...(expiresInDays && { expiresInDays }) });
    const rejected = (message: string) => ({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'expiresInDays', message: expect.stringContaining(message) }],
    });
    const required = rejected('must be set, because this workspace requires an expiry');
    const tooLong = rejected('must be at most 30 days after the creation of the key');
    const [endless, yearly] = [await make(), await make(365)];

    await setKeyPolicy(context, { expiryRequired: true });
    await expect(make()).rejects.toMatchObject(required);
    await expect(rotateKey(context, endless.id, { overlapHours: 1 })).rejects.toThrow('Set an expiry for the API key');
    await expect(updateKey(context, yearly.id, { expiresInDays: null })).rejects.toMatchObject(required);

    await setKeyPolicy(context, { maxLifetimeDays: 30 });
    expect(await getKeyPolicy(context.db)).toEqual({ maxLifetimeDays: 30, expiryRequired: true });
    await expect(make(31)).rejects.toMatchObject(tooLong);
    expect((await make(30)).expiresAt).not.toBeNull();
    for (const { id } of [endless, yearly]) {
      const { expiresAt, createdAt } = await rotateKey(context, id, { overlapHours: 24 });
      expect(Date.parse(expiresAt as string) - Date.parse(createdAt)).toBeCloseTo(30 * dayMs, -4);
    }
    // An administrator can shorten the lifetime of an older key, but not extend it.
    const day = await updateKey(context, (await make(10)).id, { expiresInDays: 5 });
    await expect(updateKey(context, day.id, { expiresInDays: 31 })).rejects.toMatchObject(tooLong);
    await api.prisma.apiKey.updateMany({ where: { id: day.id }, data: { expiresAt: null } });
    expect((await updateKey(context, day.id, { expiresInDays: 40 })).expiresAt).not.toBeNull();
    expect(await getKeyPolicy(asRequest(theirs).db)).toEqual({ maxLifetimeDays: null, expiryRequired: false });
  });

  it('keeps the allowed networks of an API key in a rotation', async () => {
    const { id } = await createKey(asRequest(mine), {
      ...{ user: email, name: 'office', scopes: ['tickets:read'], allowedNetworks: ['192.0.2.0/24'] },
    });
    expect(await rotateKey(asRequest(mine), id, { overlapHours: 0 })).toMatchObject({
      allowedNetworks: ['192.0.2.0/24'],
    });
  });

  it('normalizes allowed networks, and rejects invalid networks and more than 20', () => {
    const parse = (networks: unknown) => NewKey.shape.allowedNetworks.safeParse(networks);
    expect(parse('10.1.2.3/8, 10.0.0.0/8 192.0.2.7\n2001:DB8:0::5/32,::ffff:192.0.2.0/120').data).toEqual([
      ...['10.0.0.0/8', '192.0.2.7/32', '2001:db8::/32', '192.0.2.0/24'],
    ]);
    expect(parse('').data).toEqual([]);
    expect(parse('0.0.0.0/0 ::/0 ::/80 ::1').data).toEqual(['0.0.0.0/0', '::/0', '::/80', '::1/128']);
    const malformed = ['10.0.0.0/33', '010.0.0.1', '10.1', 'example.com', 'fe80::1%eth0', '::/129', '1.2.3.4/'];
    const ambiguous = ['0x7f.0.0.1', '2130706433', '10.0.0.0/08', '10.0.0.0/255.0.0.0', '::ffff:010.0.0.1', '::1/064'];
    const empty = ['::ffff:0:0/95', '::ffff:192.0.2.0/64', '::fffe:0:0/95', '::8000:0:0/81'];
    for (const wrong of [...malformed, ...ambiguous, ...empty]) {
      expect(parse(wrong).error?.issues[0]?.message, wrong).toContain(`but contains ${wrong}`);
    }
    const many = Array.from({ length: 21 }, (_, n) => `10.0.0.${n}`);
    expect(parse(many).error?.issues[0]?.message).toBe('must contain at most 20 networks');
    expect(parse(many.slice(1)).success).toBe(true);
  });

  it('throws NOT_FOUND for API keys of another workspace or another user', async () => {
    const { id } = await make('secret');
    const their = asRequest(theirs);
    const tries = [
      () => getKey(their, id),
      () => updateKey(their, id, { name: 'x' }),
      () => narrowKey(their, id, ['tickets:read']),
      () => rotateKey(their, id, { overlapHours: 0 }),
      () => revokeKey(their, id),
      () => getKey(asRequest(mine), id, { user: mine.userId }),
    ];
    for (const attempt of tries) await expect(attempt()).rejects.toMatchObject(missing);
    expect(await getKey(asRequest(mine), id)).toMatchObject({ name: 'secret', state: 'active' });
  });
});

describe('lists of API keys', () => {
  it('filters and sorts API keys and assigns each key exactly one status', async () => {
    const workspace = await createWorkspace(api);
    const idle = await workspace.createUser();
    await api.prisma.user.updateMany({ where: { id: idle.id }, data: { active: false } });
    const now = Date.now();
    const add = (name: string, columns: object = {}) =>
      api.prisma.apiKey.create({
        data: {
          ...{ tenantId: workspace.tenantId, userId: BigInt(workspace.userId), name, scopes: ['tickets:read'] },
          ...{ hash: Buffer.from(`${workspace.tenantId}/${name}`), lastFour: 'aB3d', ...columns },
        },
      });
    const [past, soon, late] = [-1000, 30 * dayMs, 30.1 * dayMs].map((ms) => new Date(now + ms));
    await add('100%', { lastUsedAt: past, lastFour: 'zz99' });
    await add('Half_way', { expiresAt: late, scopes: ['users:read'] });
    await add('soon', { expiresAt: soon });
    await add('idle', { userId: BigInt(idle.id), expiresAt: soon });
    await add('over', { expiresAt: past });
    await add('gone', { expiresAt: past, revokedAt: past });
    const list = async (query: Partial<KeyQuery>) => {
      const { data, meta } = await listKeys(asRequest(workspace), { page: 1, perPage: 100, ...query });
      expect(meta.totalCount).toBe(data.length);
      return data;
    };
    const names = async (query: Partial<KeyQuery>) => (await list(query)).map(({ name }) => name);

    const all = await list({});
    expect(all).toHaveLength(7);
    for (const state of KeyStatus.options) {
      const expected = all.filter((key) => key.state === state);
      expect(expected, state).not.toEqual([]);
      expect(await list({ state }), state).toEqual(expected);
    }
    expect(await names({ q: '%' })).toEqual(['100%']);
    expect(await names({ q: 'half_' })).toEqual(['Half_way']);
    expect(await names({ q: 'zz99' })).toEqual(['100%']);
    expect(await names({ user: idle.id })).toEqual(['idle']);
    expect(await names({ scope: 'users:read', state: 'active' })).toEqual(['Half_way', 'test']);
    expect((await names({ sort: '-used' }))[0]).toBe('100%');
    expect(await names({ sort: 'expires' })).toEqual(['gone', 'over', 'idle', 'soon', 'Half_way', '100%', 'test']);
    const page = await listKeys(asRequest(workspace), { page: 2, perPage: 3, sort: 'name' });
    expect(page.data.map(({ name }) => name)).toEqual(['idle', 'over', 'soon']);
    expect(page.meta.totalCount).toBe(7);
  });
});
