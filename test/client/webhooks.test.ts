import { createHmac } from 'node:crypto';
import type { Ticket } from '@itsm-api/client';
import { isWebhookError, signTestEvent, type TestEvent, unwrap, WebhookError } from '@itsm-api/client/webhooks';
import type { Asset, Task } from '@itsm-api/contract';
import { Asset as AssetSchema, deliveryBody, Task as TaskSchema, Ticket as TicketSchema } from '@itsm-api/contract';
import { signatureHeaders } from '@itsm-api/server/webhooks/delivery/sign.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, it, vi } from 'vitest';

const secret = 'a secret of the test, long enough';
const encodedSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ticket = TicketSchema.meta()?.example as Ticket;
const asset = AssetSchema.meta()?.example as Asset;
const task = TaskSchema.meta()?.example as Task;
const changes = { title: { from: 'VPN drops', to: 'VPN drops daily' } };
const delivery = {
  id: 'evt_1',
  timestamp: new Date(),
  body: JSON.stringify({ id: 'evt_1', type: 'ticket.created', timestamp: '2026-11-20T10:00:00.000Z', ticket, ü: '✓' }),
};

const untimed = { requireTimestamp: false };

/** Returns the error that `unwrap` throws for a delivery. Throws an error if `unwrap` accepts the delivery. */
async function getRejection(...given: Parameters<typeof unwrap>): Promise<WebhookError> {
  const error = await unwrap(...given).catch((reason: unknown) => reason);
  if (!isWebhookError(error)) throw new Error(`Not rejected: ${String(error)}`);
  return error;
}

function without(headers: Record<string, string>, ...names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

describe('unwrap', () => {
  it.each([secret, encodedSecret, 'x', 'ümläut ✓'])(
    'accepts webhook signatures that the server creates with the secret %s',
    async (signingSecret) => {
      const headers = signatureHeaders(signingSecret, delivery);
      const event = await unwrap(delivery.body, headers, signingSecret);
      expect(event).toEqual(JSON.parse(delivery.body));
      const plain = without(headers, 'webhook-id', 'webhook-timestamp', 'webhook-signature');
      expect(await unwrap(delivery.body, plain, signingSecret, untimed)).toEqual(event);
      expect(await unwrap(delivery.body, without(headers, 'x-service-signature'), signingSecret)).toEqual(event);
    },
  );

  it('accepts signatures with the new or the previous secret during a rotation', async () => {
    const before = 'whsec_b25lIHRoYXQgd2FzIHVzZWQgYmVmb3JlIGl0';
    const headers = signatureHeaders(encodedSecret, delivery, [before]);
    const { body } = delivery;
    for (const each of [encodedSecret, before]) {
      expect(await unwrap(body, headers, each)).toMatchObject({ id: 'evt_1' });
      expect(new StandardWebhook(each).verify(body, headers)).toMatchObject({ id: 'evt_1' });
      expect(() => new SvixWebhook(each).verify(body, headers)).not.toThrow();
    }
    // The header X-Service-Signature contains only one signature, which uses the new secret.
    const plain = without(headers, 'webhook-signature');
    expect(await unwrap(body, plain, encodedSecret, untimed)).toMatchObject({ id: 'evt_1' });
    expect((await getRejection(body, plain, before, untimed)).code).toBe('SIGNATURE_INVALID');
    expect((await getRejection(body, headers, secret)).code).toBe('SIGNATURE_INVALID');
  });

  it('accepts signatures that a Standard Webhooks library creates', async () => {
    const { id, timestamp, body } = delivery;
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(timestamp.getTime() / 1000)),
      'webhook-signature': new StandardWebhook(encodedSecret).sign(id, timestamp, body),
    };
    expect(await unwrap(body, headers, encodedSecret)).toMatchObject({ id });
    const several = { ...headers, 'webhook-signature': `v1a,abc v1,AAAA v1,%% ${headers['webhook-signature']}` };
    expect(await unwrap(body, several, encodedSecret)).toMatchObject({ id });
  });

  it('accepts all supported types of headers and raw bodies in unwrap', async () => {
    const headers = signatureHeaders(secret, delivery);
    const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
    const bytes = new TextEncoder().encode(`..${delivery.body}..`).subarray(2, -2);
    const bodies = [delivery.body, Buffer.from(delivery.body), bytes, new Uint8Array(bytes).buffer];
    for (const body of bodies) {
      for (const given of [headers, capitals, new Headers(headers)]) {
        expect(await unwrap(body, given, secret)).toMatchObject({ id: 'evt_1' });
      }
    }
  });

  it('accepts a delivery if one of several secrets matches', async () => {
    const headers = signatureHeaders(secret, delivery);
    expect(await unwrap(delivery.body, headers, ['the next secret', secret])).toMatchObject({ id: 'evt_1' });
    expect((await getRejection(delivery.body, headers, ['the next secret', 'another'])).code).toBe('SIGNATURE_INVALID');
  });

  it('rejects a delivery if the signature does not match', async () => {
    const headers = signatureHeaders(secret, delivery);
    const cases: [string, Record<string, string>, string][] = [
      [delivery.body.replace('OPEN', 'CLOSED'), headers, secret],
      [delivery.body, { ...headers, 'webhook-id': 'evt_2' }, secret],
      [delivery.body, { ...headers, 'webhook-timestamp': '1' }, secret],
      [delivery.body, headers, `${secret} `],
      [delivery.body, { ...headers, 'webhook-signature': 'v1,AAAA' }, secret],
      [delivery.body, { ...headers, 'webhook-signature': '' }, secret],
      [delivery.body, { ...headers, 'webhook-signature': headers['webhook-signature']?.slice(3) ?? '' }, secret],
      [delivery.body, without(headers, 'webhook-id'), secret],
      [delivery.body, { 'x-service-signature': headers['x-service-signature']?.replace(/.$/, '') ?? '' }, secret],
      [delivery.body, { 'x-service-signature': 'not hex' }, secret],
      [`${delivery.body} `, { 'x-service-signature': headers['x-service-signature'] ?? '' }, secret],
    ];
    for (const [body, given, key] of cases) {
      expect(await getRejection(body, given, key, untimed)).toMatchObject({
        name: 'WebhookError',
        code: 'SIGNATURE_INVALID',
      });
    }
  });

  it('accepts a delivery without a timestamp only if requireTimestamp is false', async () => {
    const headers = signatureHeaders(secret, { ...delivery, timestamp: new Date(0) });
    const plain = without(headers, 'webhook-id', 'webhook-timestamp', 'webhook-signature');
    const error = await getRejection(delivery.body, plain, secret);
    expect(error).toMatchObject({ name: 'WebhookError', code: 'TIMESTAMP_MISSING' });
    expect(error.message).toContain('requireTimestamp: false');
    expect(await unwrap(delivery.body, plain, secret, untimed)).toMatchObject({ id: 'evt_1' });
  });

  it('rejects a webhook request without a signature', async () => {
    const error = await getRejection(delivery.body, {}, secret);
    expect(error).toBeInstanceOf(WebhookError);
    expect(error.code).toBe('SIGNATURE_MISSING');
  });

  it('rejects webhook timestamps that are too far in the past or in the future', async () => {
    const headers = signatureHeaders(secret, delivery);
    const at = (seconds: number) => new Date((Math.floor(delivery.timestamp.getTime() / 1000) + seconds) * 1000);
    for (const seconds of [-300, 0, 300]) {
      expect(await unwrap(delivery.body, headers, secret, { now: at(seconds) })).toMatchObject({ id: 'evt_1' });
    }
    const late = await getRejection(delivery.body, headers, secret, { now: at(301) });
    expect(late).toMatchObject({ code: 'TIMESTAMP_OUT_OF_RANGE', message: expect.stringContaining('301 seconds old') });
    const early = await getRejection(delivery.body, headers, secret, { now: at(-301) });
    expect(early.message).toContain('301 seconds ahead');
    const wide = { now: at(301), toleranceSeconds: 400 };
    expect(await unwrap(delivery.body, headers, secret, wide)).toMatchObject({ id: 'evt_1' });
    const timeless = { ...delivery, timestamp: new Date(Number.NaN) };
    expect((await getRejection(delivery.body, signatureHeaders(secret, timeless), secret)).code).toBe(
      'TIMESTAMP_OUT_OF_RANGE',
    );
  });

  it('rejects a signed webhook request if its body is not an event', async () => {
    for (const body of ['', '{', 'null', '[]', '{"id":"evt_1"}']) {
      const headers = { 'x-service-signature': createHmac('sha256', secret).update(body).digest('hex') };
      expect((await getRejection(body, headers, secret, untimed)).code).toBe('BODY_INVALID');
    }
  });

  it('returns the type `unknown` for an event type that the client does not know', async () => {
    const { body, headers } = await signTestEvent({ type: 'ticket.created', ticket }, secret);
    const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000);
    const newer = body.replace('ticket.created', 'ticket.merged');
    const id = headers['webhook-id'] ?? '';
    const event = await unwrap(newer, signatureHeaders(secret, { id, timestamp, body: newer }), secret);
    expect(event).toEqual({ id, type: 'unknown', timestamp: expect.any(String), body: JSON.parse(newer) });
  });

  it('explains which argument of unwrap is missing or invalid', async () => {
    const headers = signatureHeaders(secret, delivery);
    for (const missing of ['', [], [''], undefined] as string[]) {
      await expect(unwrap(delivery.body, headers, missing)).rejects.toThrow('unwrap needs the signing secret');
    }
    const parsed = JSON.parse(delivery.body) as string;
    await expect(unwrap(parsed, headers, secret)).rejects.toThrow('Disable JSON parsing');
  });

  it('compares every webhook signature in constant time with WebCrypto', async () => {
    const verify = vi.spyOn(crypto.subtle, 'verify');
    await getRejection(
      delivery.body,
      { ...signatureHeaders('other', delivery), 'webhook-signature': 'v1,AAAA v1,BBBB' },
      [secret, encodedSecret],
    );
    // unwrap derives three keys from the two secrets, and verifies each of the two signatures with each key.
    expect(verify).toHaveBeenCalledTimes(6);
    verify.mockRestore();
  });
});

describe('signTestEvent', () => {
  const testEvents: TestEvent[] = [
    { type: 'ticket.created', ticket },
    { type: 'ticket.updated', ticket, changes },
    { type: 'asset.created', asset },
    { type: 'task.updated', task, changes },
  ];

  it.each(testEvents)('signs a test event of the type $type that unwrap accepts', async (event) => {
    for (const each of [secret, encodedSecret]) {
      const { body, headers } = await signTestEvent(event, each);
      const unwrapped = await unwrap(body, headers, each);
      expect(unwrapped).toMatchObject(event);
      expect(deliveryBody(event.type).parse(unwrapped)).toEqual(unwrapped);
      expect(headers).toMatchObject({ 'x-service-event': event.type, 'webhook-id': unwrapped.id });
    }
  });

  it('signs a test event with the same headers as the server', async () => {
    const timestamp = new Date('2026-11-20T10:00:00.500Z');
    const event = { id: 'evt_9', timestamp: '2026-11-20T09:59:59.000Z', ...(testEvents[0] as TestEvent) };
    for (const each of [secret, encodedSecret]) {
      const { body, headers } = await signTestEvent(event, each, { now: timestamp });
      expect(headers).toMatchObject(signatureHeaders(each, { id: 'evt_9', timestamp, body }));
      expect(JSON.parse(body)).toEqual({ ...event, actor: null });
    }
  });
});
