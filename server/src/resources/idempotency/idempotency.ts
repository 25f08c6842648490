import { createHmac, hash } from 'node:crypto';
import { idempotencyHours, idempotencyKeyHeader, replayedHeader } from '@itsm-api/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryRows, type Statement } from '../../database/client/raw-sql.ts';
import { ConditionNotMet } from '../../database/client/transaction.ts';
import { ApiError, formatSeconds } from '../../shared/errors.ts';
import { type Context, transaction, type UserContext } from '../shared/context.ts';

/** A response that is stored for an `Idempotency-Key`. */
export interface StoredResponse {
  status: number;
  body: { data: unknown };
}

/** Converts response data to and from its stored form. Used for responses that aren't stored completely. */
export interface Kept {
  keep(data: never): unknown;
  /** Restores the response data from its stored form. */
  restore(context: Context, kept: never): Promise<unknown>;
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
export async function respondOnce<Given extends Input>(
  input: Given,
  handler: (input: Given) => Promise<StoredResponse>,
  kept: Kept | undefined,
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
      closing: (response) => [store(keyedRequest, kept === undefined ? response : toStored(response, kept))],
    });
  } catch (error) {
    const isTaken = error instanceof ConditionNotMet;
    if (!isTaken && !(error instanceof ApiError)) throw error;
    // An earlier attempt of the same request may have just committed, which would explain this error.
    const response = await find(keyedRequest);
    if (response === undefined) throw isTaken ? inProgress() : error;
    reply.header(replayedHeader, 'true');
    return kept === undefined ? response : await restoreResponse(context, response, kept);
  }
}

/** Returns true if the server has a stored response for the request's `Idempotency-Key`. */
export async function isRepeated({ ctx: { db, keyId }, headers }: FastifyRequest): Promise<boolean> {
  const key = headers[idempotencyKeyHeader];
  if (typeof key !== 'string') return false;
  const text = `SELECT FROM idempotency_keys WHERE ${current}`;
  return (await queryRows(db, { text, values: [db.$tenantId, keyId, key] })).length > 0;
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

/** The SQL condition that is true if a row has the request's idempotency key and hasn't expired. */
const current = `tenant_id = $1 AND key_id = $2 AND key = $3
  AND created_at > now() - interval '${idempotencyHours} hours'`;

/**
 * Returns a statement that locks an idempotency key until the end of the transaction. The statement fails if another
 * request holds the lock or has stored a response. It doesn't see a response that is committed while it runs, but
 * `store` detects such a response.
 */
function claim({ context: { db, keyId }, key }: KeyedRequest): Statement {
  const values = [db.$tenantId, keyId, key];
  return {
    text: `SELECT require_condition(
      pg_try_advisory_xact_lock($4) AND NOT EXISTS (SELECT FROM idempotency_keys WHERE ${current}))`,
    values: [...values, lockOf(values)],
  };
}

/** Returns the lock id for an idempotency key. The id has 64 bits, so collisions are unlikely. */
function lockOf(values: readonly unknown[]): bigint {
  return digest(['idempotency key', ...values].join('\n')).readBigInt64BE();
}

/** Returns a statement that stores the response. The statement fails if an unexpired response already exists. */
function store(
  { context: { db, keyId }, key, fingerprints }: KeyedRequest,
  { status, body }: StoredResponse,
): Statement {
  return {
    text: `WITH stored AS (
        INSERT INTO idempotency_keys AS k (tenant_id, key_id, key, fingerprint, status, answer)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (tenant_id, key_id, key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint,
          status = EXCLUDED.status, answer = EXCLUDED.answer, created_at = EXCLUDED.created_at
        WHERE k.created_at <= now() - interval '${idempotencyHours} hours'
        RETURNING 1
      ) SELECT require_condition(EXISTS (SELECT FROM stored))`,
    values: [db.$tenantId, keyId, key, fingerprints[0], status, JSON.stringify(body)],
  };
}

/**
 * Returns the stored response, or undefined if there is none.
 * @throws ApiError IDEMPOTENCY_KEY_REUSED if a different request used the key
 */
async function find({ context: { db, keyId }, key, fingerprints }: KeyedRequest): Promise<StoredResponse | undefined> {
  const [row] = await queryRows<{ fingerprint: Buffer; status: number; answer: string }>(db, {
    text: `SELECT fingerprint, status, answer FROM idempotency_keys WHERE ${current}`,
    values: [db.$tenantId, keyId, key],
  });
  if (row === undefined) return undefined;
  if (!fingerprints.some((fingerprint) => row.fingerprint.equals(fingerprint))) {
    const message =
      'This `Idempotency-Key` was already used for a request with a different path or body. ' +
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

function toStored({ body, ...response }: StoredResponse, { keep }: Kept): StoredResponse {
  return { ...response, body: { ...body, data: keep(body.data as never) } };
}

async function restoreResponse(
  context: Context,
  { body, ...response }: StoredResponse,
  { restore }: Kept,
): Promise<StoredResponse> {
  return { ...response, body: { ...body, data: await restore(context, body.data as never) } };
}

/**
 * Computes fingerprints from the method, path and body of a request. The order of body fields doesn't matter. If the
 * body contains a secret, the fingerprint contains a keyed hash of the secret, because an attacker with database access
 * could guess a secret from a plain hash. Such a request has one fingerprint per encryption key, and the fingerprint
 * for the current key comes first. For an upload, the fingerprint contains the hash of the file.
 */
function computeFingerprints({ method, url, body, storedFile, ctx: { secretCipher } }: FastifyRequest): Buffer[] {
  const computeFingerprint = (content: unknown) => digest(`${method} ${url}\n${JSON.stringify(content, sortFields)}`);
  if (storedFile !== undefined) return [computeFingerprint({ sha256: storedFile.sha256 })];
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
