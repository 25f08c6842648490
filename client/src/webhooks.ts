import type { Bytes } from './files.ts';
import { eventTypes, type KnownEvent, pathPrefix, type WebhookEvent } from './generated.ts';

export type * from './generated.ts';
export { eventTypes };

/** The headers of a webhook request, as `fetch` or Node.js represents them. Header names are case-insensitive. */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface UnwrapOptions {
  /**
   * Maximum difference in seconds between the signed timestamp and the current time, in the past or in the future.
   * Default: 300.
   */
  toleranceSeconds?: number | undefined;
  /** The time that `unwrap` compares with the signed timestamp. Default: the receiver's current time. */
  now?: Date | undefined;
  /**
   * Whether a delivery must have a signed timestamp. Default: true. Set it to false if a proxy removes the `webhook-`
   * headers. Then `unwrap` also accepts deliveries that have only `X-Service-Signature`. This header has no timestamp,
   * so attackers can replay such deliveries.
   */
  requireTimestamp?: boolean | undefined;
}

/** The reason why `unwrap` rejects a delivery. */
export type WebhookErrorCode =
  /** The request has no signature. It is not a delivery, or a proxy removed the headers. */
  | 'SIGNATURE_MISSING'
  /** No secret matches the signature of this body. The secret is wrong, or the body was changed. */
  | 'SIGNATURE_INVALID'
  /** The request has only `X-Service-Signature`, which has no timestamp. See `requireTimestamp`. */
  | 'TIMESTAMP_MISSING'
  /**
   * The signature is valid, but its timestamp is too old or too far in the future. Either an attacker replayed the
   * delivery, or a clock is wrong.
   */
  | 'TIMESTAMP_OUT_OF_RANGE'
  /** The signature is valid, but the body is not an event. */
  | 'BODY_INVALID';

/** The error of a delivery that `unwrap` rejects. If you respond with 400, the server retries the delivery. */
export class WebhookError extends Error {
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Implements `instanceof`, which also recognizes errors from another copy of this package. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return super[Symbol.hasInstance](error) || (this === WebhookError && isWebhookError(error));
  }

  static {
    // Stack traces contain the `name` of the prototype. An explicit name stays the same if a minifier renames the
    // class.
    Object.defineProperty(WebhookError.prototype, 'name', {
      value: 'WebhookError',
      configurable: true,
      writable: true,
    });
  }
}

/**
 * `Symbol.for` returns the same symbol in every copy of this package, so each copy recognizes the errors of other
 * copies.
 */
const brand = Symbol.for('@itsm-api/client/webhook-error');

/** Returns true if an error is a `WebhookError`, also from another copy of this package. */
export function isWebhookError(error: unknown): error is WebhookError {
  return typeof error === 'object' && error !== null && brand in error;
}

/**
 * Verifies a delivery and returns its event. Rejects with a `WebhookError` if the verification fails.
 *
 * `unwrap` verifies the standard signature (`webhook-signature`) and its timestamp. With `requireTimestamp: false`, it
 * also accepts `X-Service-Signature`, which has no timestamp. The server may deliver an event more than once, so store
 * the `id` of each processed event and skip duplicates.
 *
 * An event that this version of the client doesn't know has the type `unknown`.
 *
 * @param rawBody The body as received, before any parsing.
 * @param secret The signing secret of the subscription. During a rotation, pass the new and the old secret.
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
    throw new TypeError('unwrap needs the signing secret of the subscription. Pass one or more.');
  }
  const body = toBytes(rawBody);
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
      'The request has X-Service-Signature, but no webhook-signature with a timestamp. The request may be a replay, or ' +
      'a proxy may have removed headers. Forward the webhook-* headers, or set requireTimestamp: false.';
    throw new WebhookError('TIMESTAMP_MISSING', message);
  } else if (plain !== undefined) {
    await verify(secrets.map(encode), [fromHex(plain)], body);
  } else {
    const expected = 'webhook-signature or X-Service-Signature';
    throw new WebhookError('SIGNATURE_MISSING', `The request has no ${expected} header. It is not a delivery.`);
  }
  return parseEvent(body);
}

/**
 * An event for `signTestEvent`. The function generates an absent `id` or `timestamp`, and sets an absent `actor` to
 * null.
 */
export type TestEvent = KnownEvent extends infer Event
  ? Event extends KnownEvent
    ? Omit<Event, 'id' | 'timestamp' | 'actor'> & { id?: string; timestamp?: string; actor?: KnownEvent['actor'] }
    : never
  : never;

/**
 * Creates a signed delivery to test a receiver. The delivery has the same format as a delivery from the server.
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
  const generatedId = `evt_${crypto.randomUUID().replaceAll('-', '')}`;
  const { type, id = generatedId, timestamp = now.toISOString(), actor = null, ...rest } = event;
  const body = JSON.stringify({ id, type, timestamp, actor, ...rest });
  return { body, headers: await signDelivery({ body, id, type }, secret, { now }) };
}

/** A delivery for `signDelivery`. */
export interface UnsignedDelivery {
  /** The exact body to sign. */
  body: string;
  /** The id of the event, for `webhook-id`. */
  id: string;
  /** The type of the event, for `X-Service-Event`. */
  type: string;
  /** The id of the delivery, for `X-Service-Delivery`. Default: 1. */
  deliveryId?: number;
}

/**
 * Returns the headers of the first attempt of a delivery, with the signatures and the CloudEvents attributes that the
 * server would send if it has no public URL. A program that
 * forwards the deliveries of a paused subscription can send them with its own secret.
 *
 * @example
 * const { body, eventId, event } = await client.deliveries.get(9001);
 * const headers = await signDelivery({ body, id: eventId, type: event, deliveryId: 9001 }, secret);
 */
export async function signDelivery(
  { body, id, type, deliveryId = 1 }: UnsignedDelivery,
  secret: string,
  { now = new Date() }: { now?: Date | undefined } = {},
): Promise<Record<string, string>> {
  const seconds = String(Math.floor(now.getTime() / 1000));
  const standard = standardKeys(secret).map(async (key) => {
    const signature = await sign(key, encode(`${id}.${seconds}.${body}`));
    return `v1,${btoa(String.fromCharCode(...signature))}`;
  });
  const plain = Array.from(await sign(encode(secret), encode(body)), (byte) => byte.toString(16).padStart(2, '0'));
  const [, time] = /"timestamp":"([^"]+)"/.exec(body.slice(0, 200)) ?? [];
  return {
    'content-type': 'application/json; charset=utf-8',
    ...{ 'ce-specversion': '1.0', 'ce-id': id, 'ce-type': type, 'ce-source': pathPrefix },
    ...(time !== undefined && { 'ce-time': time }),
    'x-service-event': type,
    'x-service-delivery': String(deliveryId),
    'x-service-attempt': '1',
    'x-service-signature': plain.join(''),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': (await Promise.all(standard)).join(' '),
  };
}

const hmac = { name: 'HMAC', hash: 'SHA-256' };

/** @throws WebhookError if no key matches a signature */
async function verify(keys: Bytes[], signatures: (Bytes | undefined)[], content: Bytes): Promise<void> {
  let valid = false;
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, hmac, false, ['verify']);
    for (const signature of signatures) {
      // WebCrypto compares signatures in constant time, which prevents timing attacks.
      if (signature !== undefined && (await crypto.subtle.verify('HMAC', key, signature, content))) valid = true;
    }
  }
  if (valid) return;
  throw new WebhookError(
    'SIGNATURE_INVALID',
    'The signature does not match. Check the secret, and pass the body as received, before any parsing.',
  );
}

async function sign(bytes: Bytes, content: Bytes): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', bytes, hmac, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, content));
}

/**
 * Returns the keys of a secret. The first key is the secret as bytes. If the secret starts with `whsec_`, the second
 * key is the decoded secret. The server signs with both keys.
 */
function standardKeys(secret: string): Bytes[] {
  const decoded = secret.startsWith('whsec_') ? fromBase64(secret.slice('whsec_'.length)) : undefined;
  return decoded === undefined || decoded.length === 0 ? [encode(secret)] : [encode(secret), decoded];
}

function checkTime(seconds: number, toleranceSeconds: number, now: Date): void {
  const age = now.getTime() / 1000 - seconds;
  if (Math.abs(age) <= toleranceSeconds) return;
  const distance = `${Math.round(Math.abs(age))} seconds ${age > 0 ? 'old' : 'ahead'}`;
  const message = `The signature is ${distance}, but only ${toleranceSeconds} are allowed. Check the clock, or reject the replay.`;
  throw new WebhookError('TIMESTAMP_OUT_OF_RANGE', message);
}

function parseEvent(bytes: Bytes): WebhookEvent {
  try {
    const body = JSON.parse(new TextDecoder().decode(bytes)) as KnownEvent;
    const { id, type, timestamp } = body;
    if (eventTypes.includes(type)) return body;
    if (typeof type === 'string') return { id, type: 'unknown', timestamp, body: { ...body } };
  } catch {
    // For invalid JSON, the function throws BODY_INVALID.
  }
  throw new WebhookError('BODY_INVALID', 'The signature is valid, but the body is not an event in JSON.');
}

function header(headers: HeadersLike, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const entry = Object.entries(headers).find(([given]) => given.toLowerCase() === name);
  return Array.isArray(entry?.[1]) ? entry[1].join(' ') : (entry?.[1] as string | undefined);
}

function toBytes(rawBody: string | Uint8Array | ArrayBuffer): Bytes {
  if (typeof rawBody === 'string') return encode(rawBody);
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody);
  if (ArrayBuffer.isView(rawBody))
    return new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength).slice();
  throw new TypeError('unwrap needs the raw body as text or bytes. Disable JSON parsing for this route.');
}

function encode(text: string): Bytes {
  return new TextEncoder().encode(text) as Bytes;
}

function join(head: Bytes, tail: Bytes): Bytes {
  const joined = new Uint8Array(head.length + tail.length);
  joined.set(head);
  joined.set(tail, head.length);
  return joined;
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
