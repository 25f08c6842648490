import { Readable } from 'node:stream';
import type { S3Driver } from 'flydrive/drivers/s3';
import { type Settings, SettingsError } from '../config/env.ts';
import { errorCode } from '../shared/error-codes.ts';

const packages = '@aws-sdk/client-s3@3.1175.0 @aws-sdk/s3-request-presigner@3.1169.0';
const install = `npx -y pnpm@12.21.0 --filter @itsm-api/server add --save-prod ${packages}`;
const ignore = () => undefined;
/** By default, the SDK would allow at most 50 uploads and downloads of all workspaces at the same time. */
const agent = { maxSockets: 2000 };

/** Opens a driver for a bucket. @throws SettingsError if the AWS SDK isn't installed */
export async function openBucket(settings: Settings): Promise<S3Driver> {
  const imports = Promise.all([import('@aws-sdk/client-s3'), import('flydrive/drivers/s3')]);
  const [{ S3Client }, { S3Driver }] = await imports.catch((error: unknown) => {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new SettingsError(`ATTACHMENTS_S3_BUCKET: the AWS SDK for S3 is not installed; run \`${install}\``);
  });
  const { ATTACHMENTS_S3_ACCESS_KEY_ID: accessKeyId, ATTACHMENTS_S3_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  const client = new S3Client({
    region: settings.ATTACHMENTS_S3_REGION,
    endpoint: settings.ATTACHMENTS_S3_ENDPOINT,
    forcePathStyle: true,
    ...(accessKeyId && secretAccessKey && { credentials: { accessKeyId, secretAccessKey } }),
    // Some S3-compatible stores reject the trailing checksums that the SDK sends by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5000, socketTimeout: 60_000, httpAgent: agent, httpsAgent: agent },
    // By default, the SDK writes a warning to stderr for each upload that fails.
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
  const send = client.send.bind(client) as (command: object, options: object) => Promise<unknown>;
  // If the content of an upload fails, the SDK would keep the connection open and wait for the remaining bytes.
  client.send = ((command: { input: { Body?: unknown } }) => {
    const controller = new AbortController();
    if (command.input.Body instanceof Readable) command.input.Body.once('error', () => controller.abort());
    return send(command, { abortSignal: controller.signal });
  }) as typeof client.send;
  const bucket = settings.ATTACHMENTS_S3_BUCKET ?? '';
  return new S3Driver({ client, bucket, visibility: 'private', supportsACL: false });
}
