import { copyFile, mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readSettings } from '@itsm-api/server/config/env.ts';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { findStore, protectStorage } from '@itsm-api/server/process/attachment-store.ts';
import { deleteUnusedFiles } from '@itsm-api/server/resources/tickets/attachments/attachment-cleanup.ts';
import { type AttachmentStorage, openAttachmentStorage } from '@itsm-api/server/storage/attachment-storage.ts';
import { afterAll, beforeEach, describe, expect, vi } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { type Api, errorOf, startApi } from '../support/api.ts';
import { api, itWithApi } from '../support/fixture.ts';
import { steadyPort } from '../support/postgres-server.ts';
import { openS3 } from '../support/s3.ts';
import { spawnServer } from '../support/server-process.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

let root: string;

const it = itWithApi.extend('options', { scope: 'file' }, { ownDatabase: true });
it.beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'itsm-attachments-'));
});

afterAll(async () => {
  await rm(root, { recursive: true });
});

/**
 * Opens a store as a new process would. `failures` and `notices` list what the process logs.
 * @param given the settings, or the name of a folder in `root`
 */
function openStore(given: string | Record<string, string>) {
  const settings = readSettings(typeof given === 'string' ? { ATTACHMENTS_DIR: join(root, given) } : given);
  const failures: string[] = [];
  const notices: string[] = [];
  const storage = protectStorage({
    system: api.databases.system.prisma,
    find: () => findStore(api.databases.system.prisma, settings),
    onFailure: ({ message }) => failures.push(message),
    onNotice: (notice) => notices.push(notice),
  });
  const store = () => storage.writeTemporary(Readable.from([Buffer.from('hello')]), 5);
  return { storage, failures, notices, store };
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

  it('is checked at most every few seconds if it is a bucket', async () => {
    const s3 = await openS3();
    const bucket = await openAttachmentStorage(readSettings(s3.settings));
    const readMarker = vi.spyOn(bucket, 'readMarker');
    const { prisma: system } = api.databases.system;
    const found = await findStore(system, readSettings(s3.settings));
    const find = async () => ({ ...found, storage: bucket, found: await bucket.readMarker() });
    const storage = protectStorage({ system, find, onFailure: () => undefined });
    const store = () => storage.writeTemporary(Readable.from([Buffer.from('hello')]), 5);
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      for (let count = 0; count < 3; count++) await storage.move(await store(), `1/${crypto.randomUUID()}`);
      // The first check marks the bucket.
      expect(readMarker).toHaveBeenCalledTimes(2);
      await bucket.delete('installation-id');
      await store();
      vi.advanceTimersByTime(5000);
      await expect(store()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    } finally {
      vi.useRealTimers();
      await s3.close();
    }
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

describe('the default folder', () => {
  const foreignId = 'f7c4cbba-0ac9-4a86-9ec1-4a1f0e8a7e5a';
  const own = async () => `attachments-${(await api.prisma.installation.findFirstOrThrow()).installationId}`;
  let data: string;

  beforeEach(async () => {
    data = await mkdtemp(join(root, 'data-'));
    await api.prisma.installation.updateMany({ data: { attachmentsMarkedAt: null } });
    await api.prisma.attachment.deleteMany();
  });

  async function mark(name: string, id: string): Promise<void> {
    await mkdir(join(data, name));
    await writeFile(join(data, name, 'installation-id'), `${id}\n`);
  }

  it('is replaced by a folder beside it if it belongs to another installation', async () => {
    await mark('attachments', foreignId);
    const { store, notices } = openStore({ DATA_DIR: data });
    const key = await store();
    expect((await readdir(data)).sort()).toEqual(['attachments', await own()]);
    expect(await readdir(join(data, 'attachments'))).toEqual(['installation-id']);
    expect(notices).toEqual([
      `Attachments are stored in ${join(data, await own())}, because ${join(data, 'attachments')} doesn't belong to this ` +
        'installation.',
    ]);
    // Later processes use the same folder, also if the database has attachments, or the other folder was deleted.
    await (await createWorkspace(api)).createAttachment();
    await openAndClose(openStore({ DATA_DIR: data }).storage, key);
    await rm(join(data, 'attachments'), { recursive: true });
    await openAndClose(openStore({ DATA_DIR: data }).storage, key);
  });

  it('is not replaced if it belongs to this installation, or to none', async () => {
    await openStore({ DATA_DIR: data }).store();
    expect(await readdir(data)).toEqual(['attachments']);
    await mark(await own(), foreignId);
    await openStore({ DATA_DIR: data }).store();
    expect(await readdir(join(data, await own()))).toEqual(['installation-id']);
  });

  it.each([
    ['the database has attachments', () => ({ DATA_DIR: data }), true],
    ['a setting names the folder', () => ({ ATTACHMENTS_DIR: join(data, 'attachments') }), false],
  ])('causes an error without a time to retry if %s', async (_what, settings, hasAttachments) => {
    if (hasAttachments) await (await createWorkspace(api)).createAttachment();
    await mark('attachments', foreignId);
    const { store, failures } = openStore(settings());
    await expect(store()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: undefined });
    const { installationId } = await api.prisma.installation.findFirstOrThrow();
    expect(failures).toEqual([
      `The attachment store belongs to another installation (${foreignId}). The id of this installation is ` +
        `${installationId}. Check ATTACHMENTS_DIR (now ${join(data, 'attachments')}).`,
    ]);
    expect(await readdir(data)).toEqual(['attachments']);
  });

  it('is checked when a server starts, which then rejects only uploads and downloads', async () => {
    await mark('attachments', foreignId);
    const workspace = await createWorkspace(api);
    const { id, ticketId } = await workspace.createAttachment();
    const PORT = String(await steadyPort());
    const WEBHOOK_SECRET_KEY = Buffer.alloc(32, 1).toString('base64');
    const server = spawnServer({ DATABASE_URL: api.databaseUrl, WEBHOOK_SECRET_KEY, PORT, DATA_DIR: data });
    await server.ready;
    await expect.poll(server.output).toMatch(new RegExp(`${foreignId}.*ATTACHMENTS_DIR.*the attachment store is un`));
    const call = (method: string, path: string, body?: string) => {
      const headers = { authorization: `Bearer ${workspace.key}`, 'content-type': 'text/plain' };
      return fetch(`http://127.0.0.1:${PORT}/api/public/v1${path}`, { method, headers, ...(body && { body }) });
    };
    const answers = [
      await call('POST', `/tickets/${ticketId}/attachments?name=a.txt`, 'hello'),
      await call('GET', `/attachments/${id}/content`),
      await call('GET', `/attachments/${id}`),
    ];
    expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [503, null],
      [503, null],
      [200, null],
    ]);
    server.child.kill();
    await server.exited;
  });
});

describe('a store that vanishes while the server runs', () => {
  const logged: { msg: string }[] = [];
  let served: Api;
  let workspace: Workspace;
  const path = () => join(root, 'mounted');

  it.beforeAll(async () => {
    const logger = createLogger('error', { write: (line) => logged.push(JSON.parse(line)) });
    served = await startApi({ ownDatabase: true, env: { ATTACHMENTS_DIR: path() }, logger });
    const { prisma: system } = served.databases.system;
    const find = () => findStore(system, readSettings({ ATTACHMENTS_DIR: path() }));
    Object.assign(served.services.storage, protectStorage({ system, find, onFailure: () => undefined }));
    workspace = await createWorkspace(served);
  });
  afterAll(() => served.close());

  const upload = (id: number) =>
    workspace.call('POST', `/tickets/${id}/attachments?name=a.txt`, 'hello', { 'content-type': 'text/plain' });
  const download = (id: number) => workspace.call('GET', `/attachments/${id}/content`);
  const vanish = async () => {
    await rename(path(), `${path()}-elsewhere`);
    await mkdir(path());
  };
  const returnStore = async () => {
    await rm(path(), { recursive: true });
    await rename(`${path()}-elsewhere`, path());
  };

  it('causes 503 for uploads and downloads until it returns, and leaves no file at its place', async () => {
    const { id, ticketId } = await workspace.createAttachment();
    await vanish();
    for (const answer of [await upload(ticketId), await download(id)]) {
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '30']);
      expect(errorOf(answer).code).toBe('SERVICE_UNAVAILABLE');
    }
    expect(await readdir(path())).toEqual([]);
    await returnStore();
    const { status, body } = await upload(ticketId);
    expect(status).toBe(201);
    for (const each of [id, body.data.id]) expect((await download(each)).status).toBe(200);
  });

  it('rejects an upload if it vanishes before the file has its final name', async () => {
    const { id } = await workspace.createTicket();
    const { storage } = served.services;
    const writeTemporary = vi.spyOn(storage, 'writeTemporary').mockImplementationOnce(async (...given) => {
      writeTemporary.mockRestore();
      const key = await storage.writeTemporary(...given);
      await vanish();
      // As if the upload had begun after the disconnection.
      await mkdir(join(path(), 'temporary'));
      await copyFile(join(`${path()}-elsewhere`, key), join(path(), key));
      return key;
    });
    expect((await upload(id)).status).toBe(503);
    await returnStore();
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data.attachmentCount).toBe(0);
  });

  it('returns 500 without `Retry-After` for a single missing file, and logs the file once', async () => {
    const { id } = await workspace.createAttachment();
    const { storageKey } = await served.prisma.attachment.findFirstOrThrow({ where: { id } });
    await rm(join(path(), storageKey));
    logged.length = 0;
    for (const answer of [await download(id), await download(id)]) {
      expect([answer.status, answer.headers['retry-after']]).toEqual([500, undefined]);
      expect(errorOf(answer)).toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('is missing') });
    }
    expect(logged).toEqual([
      expect.objectContaining({
        storageKey,
        msg: 'the file of an attachment is missing',
        requestId: expect.any(String),
      }),
    ]);
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
