import { deliverySchedule } from '@itsm-api/contract';
import { type Dispatcher, errors } from 'undici';
import { ApiError } from '../../shared/errors.ts';
import { ResponseTooLong } from './response-limit.ts';
import { parseRetryAfter } from './retry-schedule.ts';
import type { TargetPolicy } from './target.ts';

/** What came of one attempt to deliver. */
export interface Outcome {
  delivered: boolean;
  durationMs: number;
  status: number | null;
  /** Why it failed, where the status alone does not say it. */
  error: string | null;
  /** The beginning of the answer's body, where it may have come of a private network. */
  answer: string | null;
  /** The same where it can't, since none may be called. */
  publicAnswer: string | null;
  /** What the receiver asked to wait, in milliseconds. */
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

/** How much of an answer is read, and how much of that is kept. Bytes. */
const readLimit = 16 * 1024;
const keepLimit = 4 * 1024;

/** Informational (1xx) responses that a receiver may send before the final one. */
const maxInformational = 5;

/**
 * POSTs one attempt and waits for its answer. Never throws: whatever goes wrong, making the attempt included, is the
 * outcome.
 * @param startedAt by the clock of the database, from which a date in `Retry-After` is counted
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
    const told = sender.targets.allowPrivate
      ? { answer: head, publicAnswer: null }
      : { answer: null, publicAnswer: head };
    return { ...told, status, delivered, durationMs: elapsed(began), error: null, retryAfter };
  } catch (error) {
    return {
      delivered: false,
      durationMs: elapsed(began),
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
  // The name in a URL is looked up when connecting; a literal address never is, so it is looked at here.
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
 * Reads the body of a response to its end or to a limit, and closes the connection at the limit. Bytes of trailers and
 * chunk framing count towards limits of their own, and the response keeps its status beyond those as well.
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

function elapsed(began: number): number {
  return Math.round(performance.now() - began);
}

/** PostgreSQL's text holds neither NUL nor half of a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
