import * as z from 'zod';
import { endpoints, item, meta } from '../endpoint.ts';
import { Count, Id, TeamId, Timestamp } from '../fields.ts';
import { Scope } from '../scopes.ts';
import { User } from './users.ts';

const Key = z
  .object({
    id: Id,
    name: z.string().meta({ description: 'The name of the API key.' }),
    lastFour: z
      .string()
      .meta({ description: 'The last four characters of the API key. The server does not store the complete key.' }),
    scopes: z.array(Scope).meta({ description: 'The scopes of the API key.' }),
    import: z.boolean().meta({
      description: 'Whether the API key is an import key, which can set the original times and authors of new rows.',
    }),
    proposing: z.boolean().meta({
      description: 'Whether the API key can only propose changes, with `POST /proposals`. A person decides about them.',
    }),
    createdAt: Timestamp.meta({ description: 'When the API key was created.' }),
    expiresAt: Timestamp.nullable().meta({ description: 'When the API key expires, or null if it never expires.' }),
    lastUsedAt: Timestamp.nullable().meta({
      description:
        'When the API key was last used before this request, accurate to one minute. Null if this is the first use.',
    }),
  })
  .meta({ id: 'Key', description: 'An API key, without its secret part.' });

const Limit = z
  .object({
    name: z.string().meta({ description: '`global` for all endpoints, or the name of an endpoint group.' }),
    limit: Count.min(1).meta({ description: 'The number of requests allowed per window.' }),
    remaining: Count.meta({ description: 'The number of requests left in the window.' }),
    resetSeconds: Count.meta({ description: 'The number of seconds until the window ends.' }),
    windowSeconds: Count.min(1).meta({ description: 'The length of the window, in seconds.' }),
  })
  .meta({ id: 'Limit', description: 'A rate limit of the API key and the remaining quota.' });
export type Limit = z.output<typeof Limit>;

export const Identity = z
  .object({
    key: Key,
    user: User.meta({
      description:
        'The user of the API key: the person who created the key, or the person for whom the key was created.',
    }),
    teamIds: z.array(TeamId).meta({
      description: 'The ids of the teams that contain the user, in ascending order. Includes inactive teams.',
    }),
    workspace: z
      .object({ name: z.string().meta({ description: 'The name of the workspace.' }) })
      .meta({ id: 'Workspace', description: 'The workspace of the API key. The key can access only this workspace.' }),
    limits: z.array(Limit).meta({ description: 'The rate limits of the API key: `global`, then each endpoint group.' }),
  })
  .meta({
    id: 'Identity',
    description: 'The API key of the request, its user, the teams of the user, its workspace and its rate limits.',
    example: {
      key: {
        id: 1,
        name: 'Monitoring',
        lastFour: 'x7Qa',
        scopes: ['tickets:read', 'tickets:write'],
        import: false,
        proposing: false,
        createdAt: '2026-10-01T08:00:00.000Z',
        expiresAt: null,
        lastUsedAt: '2026-11-20T09:59:00.000Z',
      },
      user: z.globalRegistry.get(User)?.example,
      teamIds: [1],
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
    summary: 'Describe the API key of the request',
    description:
      'Returns the name, scopes, user, teams, workspace and rate limits of the API key, but not the key itself.',
    metadata: meta({
      scope: 'any',
      group: 'users',
      agent: {
        tool: 'get_key',
        when: 'Returns the user you act as, the workspace, the scopes and the remaining quota.',
      },
    }),
    responses: { 200: item(Identity) },
  },
});
