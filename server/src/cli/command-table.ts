import type { Entry } from './lib/command.ts';

/**
 * Every command, in the order of the help: what parses them, helps, completes them and writes their reference
 * (docs/command-line.md) reads this table.
 */
export const commands: Readonly<Record<string, Entry>> = {
  tenants: {
    summary: 'Workspaces: list, show, create, update, deactivate, activate',
    load: async () => (await import('./commands/tenants.ts')).tenants,
  },
  users: {
    summary: 'People of a tenant: list, show, create, update, deactivate, activate, export',
    load: async () => (await import('./commands/users.ts')).users,
  },
  keys: {
    summary: 'API keys: list, show, create, update, rotate, revoke',
    load: async () => (await import('./commands/keys.ts')).keys,
  },
  projects: {
    summary: 'Projects: list, show, create, update, deactivate, activate, export',
    load: async () => (await import('./commands/projects.ts')).projects,
  },
  assets: {
    summary: 'Assets: list, show, create, update, deactivate, activate, import, export',
    load: async () => (await import('./commands/assets.ts')).assets,
  },
  webhooks: {
    summary: 'Webhook subscriptions: list, show, create, update, test, deactivate, activate',
    load: async () => (await import('./commands/webhooks.ts')).webhooks,
  },
  deliveries: {
    summary: 'What webhooks sent: list, show, replay',
    load: async () => (await import('./commands/deliveries.ts')).deliveries,
  },
  tickets: { summary: 'Tickets: export', load: async () => (await import('./commands/tickets.ts')).tickets },
  tasks: { summary: 'Tasks of projects: export', load: async () => (await import('./commands/tasks.ts')).tasks },
  secrets: {
    summary: 'How webhook secrets are encrypted: reseal',
    load: async () => (await import('./commands/secrets.ts')).secrets,
  },
  listen: {
    summary: 'Receive webhooks on this machine and print them',
    load: async () => (await import('./commands/listen.ts')).listen,
  },
  seed: {
    summary: 'Make a demo workspace, of any size',
    load: async () => (await import('./commands/seed.ts')).seed,
  },
  doctor: {
    summary: 'Look for what is wrong with a running installation',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  migrate: {
    summary: 'Bring the database up to date',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  completion: {
    summary: 'Print what makes a shell complete all this: bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
};
