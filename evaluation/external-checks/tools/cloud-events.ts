import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { pathPrefix } from '@itsm-api/contract';
import { type ExternalCheck, load, toResult, versionReader } from '../external-check.ts';

const maxWaitMs = 20_000;

/** The SDK of CloudEvents, which parses and validates webhook deliveries. */
export const cloudEvents: ExternalCheck = {
  name: 'CloudEvents SDK',
  about: 'The deliveries of a new and a changed ticket. A check is a delivery.',
  version: versionReader('cloudevents'),
  async run({ origin, key }) {
    const { HTTP } = load('cloudevents');
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const send = async (method: string, path: string, body: object) => {
      const response = await fetch(origin + pathPrefix + path, { method, headers, body: JSON.stringify(body) });
      const { data, error } = (await response.json()) as { data: { id: number }; error: { message: string } };
      if (!response.ok) throw new Error(error.message);
      return data;
    };
    const events = ['ticket.created', 'ticket.updated'];
    const findings = new Map(events.map((event) => [event, 'The delivery did not arrive.']));
    const arrived = new Set<string>();
    const receiver = createServer(async (request, response) => {
      const body = await text(request);
      response.writeHead(204).end();
      const event = String(request.headers['x-service-event']);
      arrived.add(event);
      try {
        HTTP.toEvent({ headers: request.headers, body }).validate();
        findings.delete(event);
      } catch (error) {
        findings.set(event, (error as Error).message);
      }
      if (arrived.size === events.length) receiver.emit('complete');
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    try {
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
      const webhook = await send('POST', '/webhooks', { url, events, secret: 'a secret for the CloudEvents SDK' });
      const complete = once(receiver, 'complete', { signal: AbortSignal.timeout(maxWaitMs) }).catch(() => undefined);
      const fields = { title: 'CloudEvents', description: 'For the SDK', type: 'INCIDENT', category: 'OTHER' };
      const { id } = await send('POST', '/tickets', fields);
      await send('PATCH', `/tickets/${id}`, { priority: 'HIGH' });
      await complete;
      await fetch(`${origin}${pathPrefix}/webhooks/${webhook.id}`, {
        method: 'DELETE',
        headers: { authorization: headers.authorization },
      });
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
    return toResult(
      events.length,
      [...findings].map(([rule, message]) => ({ rule, message })),
    );
  },
};
