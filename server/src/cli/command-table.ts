import { type NounName, nouns } from '../administration/index.ts';
import type { Entry } from './lib/command.ts';

/** The commands of the nouns that administrators manage. */
const administered = Object.fromEntries(
  (Object.keys(nouns) as NounName[]).map((name): [string, Entry] => {
    const { about, files, load } = nouns[name];
    const verbs = ['list', 'show', 'create', 'update', 'deactivate', 'activate', ...files].join(', ');
    const loadCommand = async () => (await import('./commands/noun-command.ts')).nounCommand(name, await load());
    return [name, { summary: `Manage ${about}: ${verbs}`, load: loadCommand }];
  }),
);

/**
 * All commands, in the order in which the help lists them. The parser, the help, the completions and the command
 * reference (docs/command-line.md) use this table.
 */
export const commands: Readonly<Record<string, Entry>> = {
  tenants: {
    summary: 'Manage tenants: list, show, create, update, deactivate, activate, maintenance, export, import, delete',
    load: async () => (await import('./commands/tenants.ts')).tenants,
  },
  users: {
    summary: 'Manage the users of a tenant: list, show, create, update, deactivate, activate, invite, erase, export',
    load: async () => (await import('./commands/users.ts')).users,
  },
  keys: {
    summary: 'Manage API keys: list, show, create, update, rotate, revoke',
    load: async () => (await import('./commands/keys.ts')).keys,
  },
  requests: {
    summary: 'List, show and export requests of the request log',
    load: async () => (await import('./commands/requests.ts')).requests,
  },
  ...administered,
  'business-hours': {
    summary: 'Manage the business hours of a tenant: show, set, clear',
    load: async () => (await import('./commands/business-hours.ts')).businessHours,
  },
  articles: {
    summary: 'Import articles of the knowledge base',
    load: async () => (await import('./commands/articles.ts')).articles,
  },
  webhooks: {
    summary: 'Manage webhook subscriptions: list, show, create, update, test, deactivate, activate',
    load: async () => (await import('./commands/webhooks.ts')).webhooks,
  },
  deliveries: {
    summary: 'List, show and replay webhook deliveries',
    load: async () => (await import('./commands/deliveries.ts')).deliveries,
  },
  tickets: { summary: 'Export and redact tickets', load: async () => (await import('./commands/tickets.ts')).tickets },
  comments: {
    summary: 'Export and redact comments',
    load: async () => (await import('./commands/comments.ts')).comments,
  },
  tasks: { summary: 'Export the tasks of projects', load: async () => (await import('./commands/tasks.ts')).tasks },
  audit: { summary: 'Export the audit log', load: async () => (await import('./commands/audit.ts')).audit },
  cells: {
    summary: 'Show the state of all cells, or find the cell of a tenant',
    load: async () => (await import('./commands/installation/cells.ts')).cells,
  },
  secrets: {
    summary: 'Re-encrypt webhook secrets',
    load: async () => (await import('./commands/installation/secrets.ts')).secrets,
  },
  listen: {
    summary: 'Receive webhooks on this machine and print them',
    load: async () => (await import('./commands/listen.ts')).listen,
  },
  seed: {
    summary: 'Create a demo workspace of any size',
    load: async () => (await import('./commands/installation/seed.ts')).seed,
  },
  doctor: {
    summary: 'Check a running installation',
    load: async () => (await import('./commands/installation/doctor.ts')).doctor,
  },
  migrate: {
    summary: 'Migrate the database',
    load: async () => (await import('./commands/installation/migrate.ts')).migrate,
  },
  completion: {
    summary: 'Generate a shell completion script for bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
};
