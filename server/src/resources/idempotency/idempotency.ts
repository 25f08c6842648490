import { createHmac, hash } from 'node:crypto';
import { idempotencyHours, idempotencyKeyHeader, replayedHeader } from '@itsm-api/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryRows, type Statement } from '../../database/client/raw-sql.ts';
import { ConditionNotMet } from '../../database/client/transaction.ts';
import { ApiError, formatSeconds } from '../../shared/errors.ts';
import { type Context, transaction, type UserContext } from '../shared/context.ts';

/** What a handler answers. */
export interface StoredResponse {
  status: number;
  body: { data: unknown };
  /** The state that the resource is in, where it has a version. */
  etag?: string | undefined;
}

/** What is kept of an answer's data where that is not all of it. */
export interface Kept {
  keep(data: never): unknown;
  /** The data again. */
  restore(context: Context, kept: never): Promise<unknown>;
}

type Input = { request: FastifyRequest; reply: FastifyReply };

/** When to ask again for an answer that is being made. */
const retryAfterSeconds = 1;

/**
 * Has a POST done once for each `Idempotency-Key` (docs/decisions/idempotency.md). Its answer is stored in the transaction of
 * what it writes, so that it is there exactly when that is, and answers the same request from then on. What is refused is
 * rolled back and not stored. Without the header the handler runs as it is.
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

  const named = { context, key, fingerprints: fingerprintsOf(request) };
  try {
    const work = (within: UserContext) => {
      request.ctx = within;
      return handler(input);
    };
    return await transaction(context, work, {
      opening: [claim(named)],
      closing: (answer) => [store(named, kept === undefined ? answer : shortened(answer, kept))],
    });
  } catch (error) {
    const isTaken = error instanceof ConditionNotMet;
    if (!isTaken && !(error instanceof ApiError)) throw error;
    // What refused it may be what the same request had done at that very moment.
    const answer = await find(named);
    if (answer === undefined) throw isTaken ? inProgress() : error;
    reply.header(replayedHeader, 'true');
    return kept === undefined ? answer : await restored(context, answer, kept);
  }
}

/** A request under its key. */
interface Named {
  context: UserContext;
  key: string;
  /** The first is stored; each is good. */
  fingerprints: Buffer[];
}

/** In SQL: the key's row, unless it is too old to count. */
const current = `tenant_id = $1 AND key_id = $2 AND key = $3
  AND created_at > now() - interval '${idempotencyHours} hours'`;

/**
 * Fails unless this request is the one to be answered: nobody else has the key in hand, which is a lock until the end of
 * the transaction, and nobody had before. Who had it, and let go of it just now, is not seen here yet, but by `store`.
 */
function claim({ context: { db, keyId }, key }: Named): Statement {
  const values = [db.$tenantId, keyId, key];
  return {
    text: `SELECT require_condition(
      pg_try_advisory_xact_lock($4) AND NOT EXISTS (SELECT FROM idempotency_keys WHERE ${current}))`,
    values: [...values, lockOf(values)],
  };
}

/** The name of the lock: 64 bits, in which two keys don't meet. */
function lockOf(values: readonly unknown[]): bigint {
  return digest(['idempotency key', ...values].join('\n')).readBigInt64BE();
}

/** Stores the answer. Fails where there is one that counts. */
function store(
  { context: { db, keyId }, key, fingerprints }: Named,
  { status, body, etag }: StoredResponse,
): Statement {
  return {
    text: `WITH stored AS (
        INSERT INTO idempotency_keys AS k (tenant_id, key_id, key, fingerprint, status, answer, etag)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (tenant_id, key_id, key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint,
          status = EXCLUDED.status, answer = EXCLUDED.answer, etag = EXCLUDED.etag, created_at = EXCLUDED.created_at
        WHERE k.created_at <= now() - interval '${idempotencyHours} hours'
        RETURNING 1
      ) SELECT require_condition(EXISTS (SELECT FROM stored))`,
    values: [db.$tenantId, keyId, key, fingerprints[0], status, JSON.stringify(body), etag ?? null],
  };
}

/** The answer that is stored, if there is one yet. @throws ApiError when it is that of another request */
async function find({ context: { db, keyId }, key, fingerprints }: Named): Promise<StoredResponse | undefined> {
  const [row] = await queryRows<{ fingerprint: Buffer; status: number; answer: string; etag: string | null }>(db, {
    text: `SELECT fingerprint, status, answer, etag FROM idempotency_keys WHERE ${current}`,
    values: [db.$tenantId, keyId, key],
  });
  if (row === undefined) return undefined;
  if (!fingerprints.some((fingerprint) => row.fingerprint.equals(fingerprint))) {
    const message =
      'This `Idempotency-Key` was already used for a request with a different path or body. ' +
      'Use a new key for a new request. To retry the first request, send it unchanged.';
    throw new ApiError('IDEMPOTENCY_KEY_REUSED', message);
  }
  return { status: row.status, body: JSON.parse(row.answer), etag: row.etag ?? undefined };
}

function inProgress(): ApiError {
  const message =
    'A request with this `Idempotency-Key` is still in progress. ' +
    `Retry in ${formatSeconds(retryAfterSeconds)} with the same key.`;
  return new ApiError('IDEMPOTENCY_IN_PROGRESS', message, { retryAfterSeconds });
}

function shortened({ body, ...answer }: StoredResponse, { keep }: Kept): StoredResponse {
  return { ...answer, body: { ...body, data: keep(body.data as never) } };
}

async function restored(
  context: Context,
  { body, ...answer }: StoredResponse,
  { restore }: Kept,
): Promise<StoredResponse> {
  return { ...answer, body: { ...body, data: await restore(context, body.data as never) } };
}

/**
 * What makes a request the same: its method, its path, and what its body says, in whatever order its fields are. A secret takes
 * part by a keyed hash, since whoever reads the database could try what it might be: by one for each key of the installation,
 * the present one first.
 */
function fingerprintsOf({ method, url, body, ctx: { secretCipher } }: FastifyRequest): Buffer[] {
  const fingerprintOf = (said: unknown) => digest(`${method} ${url}\n${JSON.stringify(said, inOrder)}`);
  const { secret } = Object(body);
  if (typeof secret !== 'string') return [fingerprintOf(body)];
  const keys = secretCipher.deriveKeys('itsm fingerprints of secrets');
  return keys.map((key) =>
    fingerprintOf({ ...Object(body), secret: createHmac('sha256', key).update(secret).digest('hex') }),
  );
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
