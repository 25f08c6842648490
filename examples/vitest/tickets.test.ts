import { ItsmClient, isItsmError } from '@itsm-api/client';
import { createWorkspace } from '@itsm-api/testing';
import { expect, inject, it } from 'vitest';

const ticket = {
  title: 'VPN drops',
  description: 'Every ten minutes.',
  type: 'INCIDENT',
  category: 'NETWORK',
} as const;

it('delivers an event to the receiver', async () => {
  const workspace = await createWorkspace(inject('itsm'));
  const receiver = await workspace.receiver();
  const client = new ItsmClient({ baseUrl: workspace.url, apiKey: workspace.key });

  const { id } = await client.tickets.create(ticket);
  expect((await receiver.waitFor('ticket.created')).ticket.id).toBe(id);
});

it('rejects a key without the scope', async () => {
  const workspace = await createWorkspace(inject('itsm'));
  const apiKey = await workspace.createKey({ scopes: ['tickets:read'] });
  const client = new ItsmClient({ baseUrl: workspace.url, apiKey });

  const error = await client.tickets.create(ticket).catch((error: unknown) => error);
  expect(isItsmError(error, 'INSUFFICIENT_SCOPE')).toBe(true);
});
