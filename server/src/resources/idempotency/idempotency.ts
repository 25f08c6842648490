import { createHmac, hash } from 'node:crypto';
import { idempotencyHours, idempotencyKeyHeader, replayedHeader } from '@itsm-api/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Parameter, sql, tenant } from '../../database/client/sql.ts';
import { type Bound, rows } from '../../database/client/statements.ts';
import { ConditionNotMet } from '../../database/client/transaction.ts';
import { ApiError, formatSeconds } from '../../shared/errors.ts';
import { type Context, transaction, type UserContext } from '../shared/context.ts';

/** A response that is stored for an `Idempotency-Key`. */
export interface StoredResponse {
  status: number;
  body: { data: unknown };
}

/** Converts response data to and from its stored form. Used for responses that aren't stored completely. */
export interface StorageFormat {
  serialize(data: never): unknown;
  /** Restores the response data from its stored form. */
  restore(context: Context, stored: never): Promise<unknown>;
}

type Input = { request: FastifyRequest; reply: FastifyReply };

/** The value of `Retry-After`, in seconds, if another request with the same key is still in progress. */
const retryAfterSeconds = 1;

/**
 * Executes a POST request once per `Idempotency-Key` (docs/decisions/idempotency.md). Stores the response in the
 * transaction that makes the changes, so that PostgreSQL commits both or neither. A repeated request gets the stored
 * response. An error rolls back the transaction and is not stored. If the request has no `Idempotency-Key`, only runs
 * the handler.
 * @throws ApiError IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS
 */
export async function respondOnce<HandlerInput extends Input>(
  input: HandlerInput,
  handler: (input: HandlerInput) => Promise<StoredResponse>,
  format: StorageFormat | undefined,
): Promise<StoredResponse> {
  const { request, reply } = input;
  const context = request.ctx;
  const key = request.headers[idempotencyKeyHeader];
  if (typeof key !== 'string') return handler(input);

  const keyedRequest = { context, key, fingerprints: computeFingerprints(request) };
  try {
    const work = (within: UserContext) => {
      request.ctx = within;
      return handler(input);
    };
    return await transaction(context, work, {
      opening: [claim(keyedRequest)],
      closing: (response) => [store(keyedRequest, format === undefined ? response : toStored(response, format))],
    });
  } catch (error) {
    const isTaken = error instanceof ConditionNotMet;
    if (!isTaken && !(error instanceof ApiError)) throw error;
    // An earlier attempt of the same request may have just committed, which would explain this error.
    const response = await find(keyedRequest);
    if (response === undefined) throw isTaken ? inProgress() : error;
    reply.header(replayedHeader, 'true');
    return format === undefined ? response : await restoreResponse(context, response, format);
  }
}

/** Returns true if the server has a stored response for the request's `Idempotency-Key`. */
export async function isRepeated({ ctx: { db, keyId }, headers }: FastifyRequest): Promise<boolean> {
  const key = headers[idempotencyKeyHeader];
  if (typeof key !== 'string') return false;
  return (await db.$sql(selectResponse, { keyId, key })).length > 0;
}

/** A request with an `Idempotency-Key`. */
interface KeyedRequest {
  context: UserContext;
  key: string;
  /**
   * The possible fingerprints of the request. The server stores the first one. A stored fingerprint may equal any of
   * them.
   */
  fingerprints: Buffer[];
}

/** The key of a request, by the columns of `idempotency_keys`. */
interface RequestKey {
  keyId: bigint;
  key: string;
}

/** Builds the SQL condition that is true if a row has the request's idempotency key and hasn't expired. */
const isCurrent = ({ keyId, key }: Record<keyof RequestKey, Parameter>) =>
  sql`tenant_id = ${tenant} AND key_id = ${keyId} AND key = ${key}
    AND created_at > now() - make_interval(hours => ${idempotencyHours})`;

const claimKey = rows<RequestKey & { lock: bigint }, object>(
  (given) => sql`SELECT require_condition(
    pg_try_advisory_xact_lock(${given.lock}) AND NOT EXISTS (SELECT FROM idempotency_keys WHERE ${isCurrent(given)}))`,
);

/**
 * Returns a statement that locks an idempotency key until the end of the transaction. The statement fails if another
 * request holds the lock or has stored a response. It doesn't see a response that is committed while it runs, but
 * `store` detects such a response.
 */
function claim({ context: { db, keyId }, key }: KeyedRequest): Bound {
  return db.$bind(claimKey, { keyId, key, lock: lockOf([db.$tenantId, keyId, key]) });
}

/** Returns the lock id for an idempotency key. The id has 64 bits, so collisions are unlikely. */
function lockOf(values: readonly unknown[]): bigint {
  return digest(['idempotency key', ...values].join('\n')).readBigInt64BE();
}

const storeResponse = rows<RequestKey & { fingerprint: Buffer; status: number; answer: string }, object>(
  ({ keyId, key, fingerprint, status, answer }) => sql`WITH stored AS (
      INSERT INTO idempotency_keys AS k (tenant_id, key_id, key, fingerprint, status, answer)
      VALUES (${tenant}, ${keyId}, ${key}, ${fingerprint}, ${status}, ${answer})
      ON CONFLICT (tenant_id, key_id, key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint,
        status = EXCLUDED.status, answer = EXCLUDED.answer, created_at = EXCLUDED.created_at
      WHERE k.created_at <= now() - make_interval(hours => ${idempotencyHours})
      RETURNING 1
    ) SELECT require_condition(EXISTS (SELECT FROM stored))`,
);

/** Returns a statement that stores the response. The statement fails if an unexpired response already exists. */
function store({ context: { db, keyId }, key, fingerprints }: KeyedRequest, { status, body }: StoredResponse): Bound {
  const [fingerprint] = fingerprints as [Buffer];
  return db.$bind(storeResponse, { keyId, key, fingerprint, status, answer: JSON.stringify(body) });
}

const selectResponse = rows<RequestKey, { fingerprint: Buffer; status: number; answer: string }>(
  (given) => sql`SELECT fingerprint, status, answer FROM idempotency_keys WHERE ${isCurrent(given)}`,
);

/**
 * Returns the stored response, or undefined if there is none.
 * @throws ApiError IDEMPOTENCY_KEY_REUSED if a different request used the key
 */
async function find({ context: { db, keyId }, key, fingerprints }: KeyedRequest): Promise<StoredResponse | undefined> {
  const [row] = await db.$sql(selectResponse, { keyId, key });
  if (row === undefined) return undefined;
  if (!fingerprints.some((fingerprint) => row.fingerprint.equals(fingerprint))) {
    const message =
      'This `Idempotency-Key` was already used for a request with a different path, body or file type. ' +
      'Use a new key for a new request. To retry the first request, send it unchanged.';
    throw new ApiError('IDEMPOTENCY_KEY_REUSED', message);
  }
  return { status: row.status, body: JSON.parse(row.answer) };
}

function inProgress(): ApiError {
  const message =
    'A request with this `Idempotency-Key` is still in progress. ' +
    `Retry in ${formatSeconds(retryAfterSeconds)} with the same key.`;
  return new ApiError('IDEMPOTENCY_IN_PROGRESS', message, { retryAfterSeconds });
}

function toStored({ body, ...response }: StoredResponse, { serialize }: StorageFormat): StoredResponse {
  return { ...response, body: { ...body, data: serialize(body.data as never) } };
}

async function restoreResponse(
  context: Context,
  { body, ...response }: StoredResponse,
  { restore }: StorageFormat,
): Promise<StoredResponse> {
  return { ...response, body: { ...body, data: await restore(context, body.data as never) } };
}

/**
 * Computes fingerprints from the method, path and body of a request. The order of body fields doesn't matter. If the
 * body contains a secret, the fingerprint contains a keyed hash of the secret, because an attacker with database access
 * could guess a secret from a plain hash. Such a request has one fingerprint per encryption key, and the fingerprint
 * for the current key comes first. For an upload, the fingerprint contains the hash and the stored type of the file.
 */
function computeFingerprints({ method, url, body, storedFile, ctx: { secretCipher } }: FastifyRequest): Buffer[] {
  const computeFingerprint = (content: unknown) => digest(`${method} ${url}\n${JSON.stringify(content, sortFields)}`);
  if (storedFile !== undefined) {
    const { sha256, contentType } = storedFile;
    // Earlier releases computed the fingerprint without the type.
    return [{ sha256, contentType }, { sha256 }].map(computeFingerprint);
  }
  const { secret } = Object(body);
  if (typeof secret !== 'string') return [computeFingerprint(body)];
  const keys = secretCipher.deriveKeys('itsm fingerprints of secrets');
  return keys.map((key) =>
    computeFingerprint({ ...Object(body), secret: createHmac('sha256', key).update(secret).digest('hex') }),
  );
}

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
