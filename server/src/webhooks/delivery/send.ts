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
  /** Why the attempt failed without a response, or null. */
  error: string | null;
  /** The beginning of the response body if private targets are allowed. It may contain data of a private network. */
  answer: string | null;
  /** The beginning of the response body if only public targets are allowed. */
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

/** How many bytes of a response body the worker reads, and how many of them it stores. */
const readLimit = 16 * 1024;
const keepLimit = 4 * 1024;

/** Maximum informational (1xx) responses that a receiver may send before the final one. */
const maxInformational = 5;

/**
 * Sends one attempt as a POST request and waits for the response. Never rejects: if an error occurs, even in
 * `makeAttempt`, the outcome contains it.
 * @param startedAt start by the clock of the database; a date in `Retry-After` is relative to it
 */
export async function send(sender: Sender, startedAt: Date, makeAttempt: () => Attempt): Promise<Outcome> {
  const began = performance.now();
  const abort = new AbortController();
  const timer = setTimeout(
    () => abort.abort(new Error(`no response within ${attemptTimeout / 1000} seconds`)),
    attemptTimeout,
  );
  try {
    const { status, head, ...answer } = await post(sender, makeAttempt(), abort);
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

async function post({ agent, targets }: Sender, { url, headers, body }: Attempt, abort: AbortController) {
  // Checks literal addresses. The agent checks the addresses of host names when it connects, but never looks up literal
  // addresses.
  targets.checkUrl(url);
  const { origin, pathname, search } = new URL(url);
  let informational = 0;
  const response = await agent.request({
    origin,
    path: pathname + search,
    method: 'POST',
    headers,
    body,
    signal: abort.signal,
    onInfo: () => {
      if (++informational > maxInformational)
        abort.abort(new ResponseTooLong(`more than ${maxInformational} informational responses`));
    },
  });
  const { 'retry-after': retryAfter } = response.headers;
  return {
    status: response.statusCode,
    head: await readHead(response.body),
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
  };
}

/**
 * Reads at most `readLimit` bytes of a response body, then closes the connection. Trailers and chunk framing have
 * separate limits. If a response exceeds those, the outcome keeps its status.
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

/** Replaces NUL and lone surrogates, which PostgreSQL's text type can't store. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
