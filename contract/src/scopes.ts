import * as z from 'zod';

/** The scopes of API keys (spec §5.5). */
export const scopes = {
  'tickets:read': 'List and read tickets and their categories',
  'tickets:write': 'Create and update tickets',
  'assets:read': 'List and read assets',
  'assets:write': 'Create and update assets',
  'projects:read': 'List and read projects and their tasks',
  'projects:write': 'Create and update tasks',
  'users:read': 'List and read users and teams',
  'kb:read': 'List and read the articles of the knowledge base',
  'webhooks:manage': 'List, read, register, change and deactivate webhook subscriptions',
} as const;

export type Scope = keyof typeof scopes;

/** What each part of the scopes before the colon stands for, in words for people. */
export const scopeResources: Record<Scope extends `${infer Resource}:${string}` ? Resource : never, string> = {
  tickets: 'Tickets and comments',
  assets: 'Assets',
  projects: 'Projects and tasks',
  users: 'Users and teams',
  kb: 'Knowledge base',
  webhooks: 'Webhooks and deliveries',
};

export const Scope = z
  .enum(Object.keys(scopes) as [Scope, ...Scope[]])
  .meta({ id: 'Scope', description: 'A permission of an API key.' });
