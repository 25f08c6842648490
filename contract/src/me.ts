import * as z from 'zod';
import { endpoints, item, meta, NoQuery } from './endpoint.ts';
import { Id, Timestamp } from './fields.ts';
import { Scope } from './scopes.ts';
import { User } from './users.ts';

const Key = z
  .object({
    id: Id,
    name: z.string().meta({ description: 'What it was called when it was made.' }),
    lastFour: z.string().meta({ description: 'The last four characters of the key; the rest is not kept.' }),
    scopes: z.array(Scope).meta({ description: 'What the key may do.' }),
    createdAt: Timestamp.meta({ description: 'When it was made.' }),
    expiresAt: Timestamp.nullable().meta({ description: 'When it stops to work; null where it does not.' }),
    lastUsedAt: Timestamp.nullable().meta({
      description: 'When it was last used before, to the minute; null where it was not.',
    }),
  })
  .meta({ id: 'Key', description: 'A key without its secret.' });

const Limit = z
  .object({
    name: z.string().meta({ description: '`global`, over all endpoints, or the group of them that it counts.' }),
    limit: z.int().meta({ description: 'How many requests a window allows.' }),
    remaining: z.int().meta({ description: 'How many of them are left.' }),
    resetSeconds: z.int().meta({ description: 'Seconds until the window opens again.' }),
    windowSeconds: z.int().meta({ description: 'How long a window is, in seconds.' }),
  })
  .meta({ id: 'Limit', description: 'A window of the rate limits, as it stands for the key.' });
export type Limit = z.output<typeof Limit>;

export const Identity = z
  .object({
    key: Key,
    user: User.meta({ description: 'The user who created the key.' }),
    workspace: z
      .object({ name: z.string().meta({ description: 'What it is called.' }) })
      .meta({ id: 'Workspace', description: 'Whose rows the key sees.' }),
    limits: z.array(Limit).meta({ description: 'Every window of its limits: `global`, then each group.' }),
  })
  .meta({
    id: 'Identity',
    description:
      'The key of the request, without its secret: whose it is, what it may do, and what is left of its limits.',
    example: {
      key: {
        id: 1,
        name: 'Monitoring',
        lastFour: 'x7Qa',
        scopes: ['tickets:read', 'tickets:write'],
        createdAt: '2026-10-01T08:00:00.000Z',
        expiresAt: null,
        lastUsedAt: '2026-11-20T09:59:00.000Z',
      },
      user: z.globalRegistry.get(User)?.example,
      workspace: { name: 'Acme Corporation' },
      limits: [
        { name: 'global', limit: 60, remaining: 57, resetSeconds: 31, windowSeconds: 60 },
        { name: 'tickets', limit: 30, remaining: 28, resetSeconds: 31, windowSeconds: 60 },
        { name: 'users', limit: 30, remaining: 29, resetSeconds: 60, windowSeconds: 60 },
      ],
    },
  });
export type Identity = z.output<typeof Identity>;

export const me = endpoints({
  get: {
    method: 'GET',
    path: '/me',
    summary: 'Get the key of the request',
    description: 'Its user, its workspace, its scopes, and what is left of its limits.',
    metadata: meta({
      scope: 'any',
      group: 'users',
      agent: {
        tool: 'get_key',
        when: 'Who you act as, in which workspace, with which scopes, and what is left of the limits.',
      },
    }),
    query: NoQuery,
    responses: { 200: item(Identity) },
  },
});
