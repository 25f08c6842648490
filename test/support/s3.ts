import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';

/** An S3-compatible server with an empty bucket. */
export interface TestS3 {
  /** The settings that make the server store attachments in the bucket. */
  settings: Record<`ATTACHMENTS_S3_${string}`, string>;
  close(): Promise<void>;
}

/** Starts an S3-compatible server in this process, which stores its objects in a temporary folder. */
export async function openS3(): Promise<TestS3> {
  const directory = await mkdtemp(join(tmpdir(), 'itsm-s3-'));
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    // The server verifies the signatures of requests for a whole bucket incorrectly: without the slash after the name.
    allowMismatchedSignatures: true,
    directory,
    configureBuckets: [{ name: 'attachments', configs: [] }],
  });
  const { store } = server;
  const putObject = store.putObject.bind(store);
  // Other than S3, this server keeps the first part of an object if the client disconnects.
  store.putObject = (object) =>
    putObject(object).catch(async (error: unknown) => {
      await store.deleteObject(object.bucket, object.key);
      throw error;
    });
  const { port } = await server.run();
  return {
    settings: {
      ATTACHMENTS_S3_BUCKET: 'attachments',
      ATTACHMENTS_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      ATTACHMENTS_S3_ACCESS_KEY_ID: 'S3RVER',
      ATTACHMENTS_S3_SECRET_ACCESS_KEY: 'S3RVER',
    },
    async close() {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}
