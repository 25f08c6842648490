import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readSettings } from '@itsm-api/server/config/env.ts';
import { protectStorage } from '@itsm-api/server/process/attachment-store.ts';
import { deleteUnusedFiles } from '@itsm-api/server/resources/attachments/attachment-cleanup.ts';
import { type AttachmentStorage, openAttachmentStorage } from '@itsm-api/server/storage/attachment-storage.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { type Api, startApi } from '../support/api.ts';
import { spawnServer } from '../support/server-process.ts';
import { createWorkspace } from '../support/workspace.ts';

let api: Api;
let root: string;

beforeAll(async () => {
  api = await startApi({ ownDatabase: true });
  root = await mkdtemp(join(tmpdir(), 'itsm-attachments-'));
});

afterAll(async () => {
  await api.close();
  await rm(root, { recursive: true });
});

/** Opens a store as a new process would. `failures` lists the errors that the process logs. */
function openStore(name: string) {
  const settings = readSettings({ ATTACHMENTS_DIR: join(root, name) });
  const failures: string[] = [];
  const storage = protectStorage({
    pool: api.databases.system.pool,
    open: () => openAttachmentStorage(settings),
    onFailure: ({ message }) => failures.push(message),
  });
  const store = () => storage.writeTemporary(Readable.from([Buffer.from('hello')]), 5);
  return { storage, failures, store };
}

/** Checks that a file exists. An unread stream would keep the file open. */
async function openAndClose(storage: AttachmentStorage, key: string): Promise<void> {
  (await storage.read(key)).destroy();
}

describe('the store of an installation', () => {
  beforeEach(() => api.prisma.installation.updateMany({ data: { attachmentsMarkedAt: null } }));

  it('is marked on its first use, and other processes can use it', async () => {
    const key = await openStore('shared').store();
    const { storage } = openStore('shared');
    await openAndClose(storage, key);
    expect((await readdir(join(root, 'shared'))).sort()).toEqual(['installation-id', 'temporary']);
  });

  it('cannot be replaced by an empty store', async () => {
    await openStore('first').store();
    const { failures, store } = openStore('unmounted');
    await expect(store()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 30 });
    expect(failures).toEqual([expect.stringContaining('The attachment store lacks the file installation-id')]);
    await expect(readdir(join(root, 'unmounted'))).rejects.toThrow('ENOENT');
  });

  it('cannot be used by another installation', async () => {
    await openStore('mine').store();
    await api.prisma
      .$executeRaw`UPDATE installation SET installation_id = gen_random_uuid(), attachments_marked_at = NULL`;
    const { failures, store } = openStore('mine');
    await expect(store()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(failures).toEqual([expect.stringContaining('The attachment store belongs to another installation')]);
  });

  it('is marked only once when two processes with different stores start concurrently', async () => {
    const stores = ['machine-1', 'machine-2'].map((name) => openStore(name).store());
    const outcomes = (await Promise.allSettled(stores)).map(({ status }) => status);
    expect(outcomes.sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('is checked again after a failure', async () => {
    const { storage, store } = openStore('repaired');
    await openStore('elsewhere').store();
    await expect(store()).rejects.toThrow();
    const { installationId } = await api.prisma.installation.findFirstOrThrow();
    await (await openAttachmentStorage(readSettings({ ATTACHMENTS_DIR: join(root, 'repaired') }))).writeMarker(
      installationId,
    );
    await openAndClose(storage, await store());
  });

  it('passes on the error of an interrupted upload', async () => {
    const { storage, failures } = openStore('interrupted');
    const body = new Readable({ read: () => undefined });
    const written = storage.writeTemporary(body, 5);
    body.destroy(new Error('The client disconnected.'));
    await expect(written).rejects.toThrow('The client disconnected.');
    expect(failures).toEqual([]);
  });
});

it('names the packages to install if a server with an S3 bucket starts without the AWS SDK', async () => {
  const settings = { DATABASE_URL: api.databaseUrl, WEBHOOK_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') };
  const server = spawnServer({ ...settings, PORT: '0', ATTACHMENTS_S3_BUCKET: 'attachments' }, [
    '--import',
    join(import.meta.dirname, 'without-aws-sdk.ts'),
  ]);
  await expect(server.ready).rejects.toThrow();
  await server.exited;
  expect(server.child.exitCode).toBe(1);
  const packages = ['@aws-sdk/client-s3', '@aws-sdk/s3-request-presigner'] as const;
  for (const name of packages) expect(server.output()).toContain(`${name}@${packageJson.devDependencies[name]}`);
});

describe('the cleanup of attachments', () => {
  it('deletes files that are older than 24 hours and belong to no attachment', async () => {
    const { storage, store } = openStore('cleaned');
    await api.prisma.installation.updateMany({ data: { attachmentsMarkedAt: null } });
    const { tenantId, userId, createTicket } = await createWorkspace(api);
    const storeFile = async (ageHours: number, key?: string) => {
      const temporaryKey = await store();
      if (key !== undefined) await storage.move(temporaryKey, key);
      const at = Date.now() / 1000 - ageHours * 3600;
      await utimes(join(root, 'cleaned', key ?? temporaryKey), at, at);
      return key ?? temporaryKey;
    };
    const newKey = () => `${tenantId}/${crypto.randomUUID()}`;
    const attached = await storeFile(48, newKey());
    const file = { name: 'a.txt', contentType: 'text/plain', size: 5, sha256: '', storageKey: attached };
    const ticketId = BigInt((await createTicket()).id);
    await api.prisma.attachment.create({ data: { tenantId, ticketId, uploaderId: userId, ...file } });
    const recent = [await storeFile(23, newKey()), await storeFile(0)];
    const unused = [await storeFile(25, newKey()), await storeFile(25)];

    expect(await deleteUnusedFiles({ prisma: api.databases.system.prisma, storage }, 2)).toBe(2);
    for (const kept of [attached, ...recent]) await openAndClose(storage, kept);
    for (const deleted of unused) await expect(storage.read(deleted)).rejects.toThrow();
    expect(await storage.readMarker()).toBeDefined();
  });
});
