import { eventTypes, type KnownEvent, type WebhookEvent } from './generated.ts';

export type * from './generated.ts';

/** The headers of a request, as `fetch` or as Node.js gives them; names in any case. */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface UnwrapOptions {
  /** How far the time of the signature may be from now, either way, in seconds. 300 by default. */
  toleranceSeconds?: number | undefined;
  /** The receiver's time. */
  now?: Date | undefined;
  /**
   * Whether a delivery without a signed time is refused. True by default. With false one whose `webhook-` headers were
   * lost on the way is believed by its `X-Service-Signature` alone, however old it is: who has seen it can send it again.
   */
  requireTimestamp?: boolean | undefined;
}

/** Why a delivery must not be believed. */
export type WebhookErrorCode =
  /** It has neither signature: it does not come from the service, or a proxy has dropped the headers. */
  | 'SIGNATURE_MISSING'
  /** No secret makes this signature over this body: another secret, or a body that is not the one that was sent. */
  | 'SIGNATURE_INVALID'
  /** It has only the signature that knows no time: see `requireTimestamp`. */
  | 'TIMESTAMP_MISSING'
  /** The signature is right but old: a delivery sent again by somebody else, or a clock that is wrong. */
  | 'TIMESTAMP_OUT_OF_RANGE'
  /** The signature is right, but the body is no event. */
  | 'BODY_INVALID';

/** A delivery that `unwrap` refuses. Answer it with 400, and the service will try again. */
export class WebhookError extends Error {
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
    Object.defineProperty(this, brand, { value: true });
  }

  static {
    // On the prototype, where a stack trace finds it, and as text, which minifying leaves alone.
    Object.defineProperty(WebhookError.prototype, 'name', {
      value: 'WebhookError',
      configurable: true,
      writable: true,
    });
  }
}

/** The same in every copy of this package. */
const brand = Symbol.for('@itsm-api/client/webhook-error');

/** Whether `unwrap` threw this; unlike `instanceof` also for another copy of this package. */
export function isWebhookError(error: unknown): error is WebhookError {
  return typeof error === 'object' && error !== null && brand in error;
}

/**
 * Verifies a delivery and answers its event. Rejects with a `WebhookError` when it must not be believed.
 *
 * The standard signature (`webhook-signature`) decides, together with its time. `X-Service-Signature` knows no time, and
 * is enough only with `requireTimestamp: false`. Deliveries come at least once, so remember the `id` of the events you
 * have handled.
 *
 * An event that this version of the client doesn't know is answered with the type `unknown`.
 *
 * @param rawBody The body as it arrived, before any parsing.
 * @param secret The secret of the subscription; while it is being changed, the new one and the old one.
 *
 * @example
 * const event = await unwrap(await request.text(), request.headers, secret);
 * if (event.type === 'ticket.created') console.log(event.ticket.ticketNumber);
 */
export async function unwrap(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = new Date(), requireTimestamp = true }: UnwrapOptions = {},
): Promise<WebhookEvent> {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every((each) => typeof each === 'string' && each)) {
    throw new TypeError('unwrap needs the secret of the subscription, or several.');
  }
  const body = bytesOf(rawBody);
  const standard = header(headers, 'webhook-signature');
  const plain = header(headers, 'x-service-signature');
  if (standard !== undefined) {
    const id = header(headers, 'webhook-id') ?? '';
    const timestamp = header(headers, 'webhook-timestamp') ?? '';
    const signatures = standard
      .split(' ')
      .map((each) => (each.startsWith('v1,') ? fromBase64(each.slice(3)) : undefined));
    const content = join(encode(`${id}.${timestamp}.`), body);
    await verify(secrets.flatMap(standardKeys), signatures, content);
    checkTime(Number(timestamp), toleranceSeconds, now);
  } else if (plain !== undefined && requireTimestamp) {
    const message =
      'The request has X-Service-Signature, but no webhook-signature with a time: an old delivery that somebody sends ' +
      'again, or a proxy that drops headers. Let the webhook- headers pass, or say requireTimestamp: false.';
    throw new WebhookError('TIMESTAMP_MISSING', message);
  } else if (plain !== undefined) {
    await verify(secrets.map(encode), [fromHex(plain)], body);
  } else {
    const expected = 'webhook-signature or X-Service-Signature';
    throw new WebhookError('SIGNATURE_MISSING', `The request has no ${expected} header: it is not a delivery.`);
  }
  return parseEvent(body);
}

/** An event to sign: `id` and `timestamp` are made up where they are left out; without an `actor` nobody is known. */
export type TestEvent = KnownEvent extends infer Event
  ? Event extends KnownEvent
    ? Omit<Event, 'id' | 'timestamp' | 'actor'> & { id?: string; timestamp?: string; actor?: KnownEvent['actor'] }
    : never
  : never;

/**
 * A delivery as the service sends it, for the tests of a receiver.
 *
 * @example
 * const { body, headers } = await signTestEvent({ type: 'ticket.created', ticket }, secret);
 * const response = await fetch('http://127.0.0.1:4000/', { method: 'POST', body, headers });
 */
export async function signTestEvent(
  event: TestEvent,
  secret: string,
  { now = new Date() }: { now?: Date | undefined } = {},
): Promise<{ body: string; headers: Record<string, string> }> {
  const made = `evt_${crypto.randomUUID().replaceAll('-', '')}`;
  const { type, id = made, timestamp = now.toISOString(), actor = null, ...rest } = event;
  const body = JSON.stringify({ id, type, timestamp, actor, ...rest });
  const seconds = String(Math.floor(now.getTime() / 1000));
  const standard = standardKeys(secret).map(async (key) => {
    const signature = await sign(key, encode(`${id}.${seconds}.${body}`));
    return `v1,${btoa(String.fromCharCode(...signature))}`;
  });
  const plain = Array.from(await sign(encode(secret), encode(body)), (byte) => byte.toString(16).padStart(2, '0'));
  return {
    body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-service-event': type,
      'x-service-delivery': '1',
      'x-service-attempt': '1',
      'x-service-signature': plain.join(''),
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': (await Promise.all(standard)).join(' '),
    },
  };
}

type Bytes = Uint8Array<ArrayBuffer>;

const hmac = { name: 'HMAC', hash: 'SHA-256' };

/** Throws unless one of the keys has made one of the signatures. */
async function verify(keys: Bytes[], signatures: (Bytes | undefined)[], content: Bytes): Promise<void> {
  let valid = false;
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, hmac, false, ['verify']);
    for (const signature of signatures) {
      // WebCrypto compares in constant time.
      if (signature !== undefined && (await crypto.subtle.verify('HMAC', key, signature, content))) valid = true;
    }
  }
  if (valid) return;
  throw new WebhookError(
    'SIGNATURE_INVALID',
    'The signature does not match: the secret is not that of the subscription, or the body is not as it arrived.',
  );
}

async function sign(bytes: Bytes, content: Bytes): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', bytes, hmac, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, content));
}

/** The secret as it is and, for `whsec_…`, what it encodes: the service signs with both. */
function standardKeys(secret: string): Bytes[] {
  const decoded = secret.startsWith('whsec_') ? fromBase64(secret.slice('whsec_'.length)) : undefined;
  return decoded === undefined || decoded.length === 0 ? [encode(secret)] : [encode(secret), decoded];
}

function checkTime(seconds: number, toleranceSeconds: number, now: Date): void {
  const age = now.getTime() / 1000 - seconds;
  if (Math.abs(age) <= toleranceSeconds) return;
  const distance = `${Math.round(Math.abs(age))} seconds ${age > 0 ? 'old' : 'ahead'}`;
  const message = `The signature is ${distance}, and ${toleranceSeconds} are allowed: a repeated delivery, or a wrong clock.`;
  throw new WebhookError('TIMESTAMP_OUT_OF_RANGE', message);
}

function parseEvent(bytes: Bytes): WebhookEvent {
  try {
    const body = JSON.parse(new TextDecoder().decode(bytes)) as KnownEvent;
    const { id, type, timestamp } = body;
    if (eventTypes.includes(type)) return body;
    if (typeof type === 'string') return { id, type: 'unknown', timestamp, body: { ...body } };
  } catch {
    // Told below.
  }
  throw new WebhookError('BODY_INVALID', 'The signature is right, but the body is not an event in JSON.');
}

function header(headers: HeadersLike, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const entry = Object.entries(headers).find(([given]) => given.toLowerCase() === name);
  return Array.isArray(entry?.[1]) ? entry[1].join(' ') : (entry?.[1] as string | undefined);
}

function bytesOf(rawBody: string | Uint8Array | ArrayBuffer): Bytes {
  if (typeof rawBody === 'string') return encode(rawBody);
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody);
  if (ArrayBuffer.isView(rawBody))
    return new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength).slice();
  throw new TypeError('unwrap needs the body as it arrived, as text or bytes: turn off the parsing of JSON for it.');
}

function encode(text: string): Bytes {
  return new TextEncoder().encode(text) as Bytes;
}

function join(head: Bytes, tail: Bytes): Bytes {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function fromHex(text: string): Bytes | undefined {
  if (!/^([0-9a-f]{2})+$/i.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function fromBase64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
