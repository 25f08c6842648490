import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { readSettings } from '@itsm-api/server/config/env.ts';
import { MissingFileError } from '@itsm-api/server/shared/errors.ts';
import { type AttachmentStorage, openAttachmentStorage } from '@itsm-api/server/storage/attachment-storage.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openS3, type TestS3 } from '../support/s3.ts';

let directory: string;
let s3: TestS3;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'itsm-attachments-'));
  s3 = await openS3();
});

afterAll(async () => {
  await s3.close();
  await rm(directory, { recursive: true });
});

describe.each([
  ['a directory', () => ({ ATTACHMENTS_DIR: join(directory, 'not', 'created') })],
  ['an S3 bucket', () => s3.settings],
])('attachment storage in %s', (_name, settings) => {
  let storage: AttachmentStorage;

  beforeAll(async () => {
    storage = await openAttachmentStorage(readSettings(settings()));
  });

  const finalKey = (tenantId: number) => `${tenantId}/${crypto.randomUUID()}`;
  const files = async () => {
    const listed: { key: string; modifiedAt: Date }[] = [];
    for await (const file of storage.list()) listed.push(file);
    return listed;
  };
  const keys = async () => (await files()).map(({ key }) => key);

  it('stores, moves, reads and deletes a file', async () => {
    const content = randomBytes(3_000_000);
    const temporary = await storage.writeTemporary(chunksOf(content), content.length);
    expect(await keys()).toContain(temporary);

    const key = finalKey(7);
    await storage.move(temporary, key);
    expect((await buffer(await storage.read(key))).equals(content)).toBe(true);
    expect(await keys()).toContain(key);
    expect(await keys()).not.toContain(temporary);
    await expect(storage.read(temporary)).rejects.toThrow();

    await storage.delete(key);
    await storage.delete(key);
    await expect(storage.read(key)).rejects.toBeInstanceOf(MissingFileError);
    expect(await keys()).not.toContain(key);
  });

  it('stores an empty file', async () => {
    const key = await storage.writeTemporary(Readable.from([]), 0);
    expect(await buffer(await storage.read(key))).toHaveLength(0);
    await storage.delete(key);
  });

  it('lists each file with the time when it was stored', async () => {
    const temporary = await storage.writeTemporary(chunksOf(randomBytes(10)), 10);
    const key = finalKey(8);
    await storage.move(await storage.writeTemporary(chunksOf(randomBytes(10)), 10), key);
    expect((await keys()).sort()).toEqual([key, temporary].sort());
    for (const { modifiedAt } of await files())
      expect(Math.abs(modifiedAt.getTime() - Date.now())).toBeLessThan(60_000);
    await storage.delete(key);
    await storage.delete(temporary);
  });

  it.each([
    ['shorter', 99_999],
    ['longer', 100_001],
  ])('rejects a body that is %s than its length, and leaves no file', async (_difference, sent) => {
    const body = chunksOf(randomBytes(sent));
    await expect(storage.writeTemporary(body, 100_000)).rejects.toThrow("doesn't have 100000 bytes");
    await vi.waitFor(async () => expect(await keys()).toEqual([]), 60_000);
  });

  it('rejects a body that fails before the first byte', async () => {
    const body = new PassThrough();
    const written = storage.writeTemporary(body, 100_000);
    body.destroy(new Error('The client disconnected.'));
    await expect(written).rejects.toThrow('The client disconnected.');
    await vi.waitFor(async () => expect(await keys()).toEqual([]), 60_000);
  });

  it('rejects a body that fails, and leaves no file', async () => {
    const body = new PassThrough();
    body.write(randomBytes(50_000));
    const written = storage.writeTemporary(body, 100_000);
    setTimeout(() => body.destroy(new Error('The client disconnected.')), 20);
    await expect(written).rejects.toThrow('The client disconnected.');
    await vi.waitFor(async () => expect(await keys()).toEqual([]), 60_000);
  });

  it('keeps a marker that is not listed as a file', async () => {
    expect(await storage.readMarker()).toBeUndefined();
    await storage.writeMarker('7f2d3c8a');
    expect(await storage.readMarker()).toBe('7f2d3c8a');
    expect(await keys()).toEqual([]);
  });
});

function chunksOf(content: Buffer): Readable {
  const chunks = [];
  for (let start = 0; start < content.length; start += 40_000) chunks.push(content.subarray(start, start + 40_000));
  return Readable.from(chunks);
}
