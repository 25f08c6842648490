import { deliverySchedule } from '@itsm-api/contract';
import { type Dispatcher, errors } from 'undici';
import { ApiError } from '../../shared/errors.ts';
import { ResponseTooLong } from './response-limit.ts';
import { parseRetryAfter } from './retry-schedule.ts';
import type { TargetPolicy } from './target.ts';

/** The outcome of one attempt. */
export interface Outcome {
  delivered: boolean;
  durationMs: number;
  status: number | null;
  /** Why the attempt failed, or null if the receiver responded. */
  error: string | null;
  /**
   * The beginning of the response body if private targets are allowed, otherwise null. The body may contain data from a
   * private target.
   */
  answer: string | null;
  /** The beginning of the response body if only public targets are allowed, otherwise null. */
  publicAnswer: string | null;
  /** The wait that the receiver requested with `Retry-After`, in milliseconds. */
  retryAfter: number | undefined;
}

export interface Attempt {
  url: string;
  headers: Record<string, string>;
  body: string;
}

interface Sender {
  agent: Dispatcher;
  targets: TargetPolicy;
}

const { attemptTimeout } = deliverySchedule;

/** The maximum number of bytes of a response body that the worker reads, and the maximum number that it stores. */
const readLimit = 16 * 1024;
const keepLimit = 4 * 1024;

/**
 * Sends one attempt as a POST request and waits for the response. Never rejects: the outcome reports all errors,
 * including errors from `makeAttempt`.
 * @param startedAt when the attempt started, according to the clock of the database server; used to convert a date in
 * `Retry-After` to a wait
 */
export async function send(sender: Sender, startedAt: Date, makeAttempt: () => Attempt): Promise<Outcome> {
  const began = performance.now();
  const abort = new AbortController();
  const timer = setTimeout(
    () => abort.abort(new Error(`no response within ${attemptTimeout / 1000} seconds`)),
    attemptTimeout,
  );
  try {
    const { status, head, ...answer } = await post(sender, makeAttempt(), abort.signal);
    const delivered = status >= 200 && status < 300;
    const retryAfter = delivered ? undefined : parseRetryAfter(answer.retryAfter, startedAt);
    const storedBody = sender.targets.allowPrivate
      ? { answer: head, publicAnswer: null }
      : { answer: null, publicAnswer: head };
    return { ...storedBody, status, delivered, durationMs: getElapsedMs(began), error: null, retryAfter };
  } catch (error) {
    return {
      delivered: false,
      durationMs: getElapsedMs(began),
      status: null,
      error: describe(abort.signal.aborted ? abort.signal.reason : error),
      answer: null,
      publicAnswer: null,
      retryAfter: undefined,
    };
  } finally {
    clearTimeout(timer);
  }
}

async function post({ agent, targets }: Sender, { url, headers, body }: Attempt, signal: AbortSignal) {
  // Checks the URL before the request, because the agent's lookup checks only host names, not literal addresses.
  targets.checkUrl(url);
  const { origin, pathname, search } = new URL(url);
  const response = await agent.request({
    origin,
    path: pathname + search,
    method: 'POST',
    headers,
    body,
    signal,
  });
  const { 'retry-after': retryAfter } = response.headers;
  return {
    status: response.statusCode,
    head: await readHead(response.body),
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
  };
}

/**
 * Reads a response body to its end, or closes the connection after `readLimit` bytes. If the response exceeds a limit
 * for trailers or chunk framing, the attempt doesn't fail, and the outcome contains the status.
 */
async function readHead(body: Dispatcher.ResponseData['body']): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= readLimit) break;
    }
  } catch (error) {
    if (!(error instanceof ResponseTooLong || error instanceof errors.HeadersOverflowError)) throw error;
  }
  if (size === 0) return null;
  return storable(Buffer.concat(chunks).subarray(0, keepLimit).toString('utf8'));
}

function describe(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: string };
  const text = error.message || code || error.name;
  return storable((code === undefined || text.includes(code) ? text : `${text} (${code})`).slice(0, 500));
}

function getElapsedMs(began: number): number {
  return Math.round(performance.now() - began);
}

/** Replaces NUL and lone surrogates, because PostgreSQL's `text` type can't store them. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
