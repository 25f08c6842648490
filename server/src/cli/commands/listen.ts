import { EventType } from '@itsm-api/contract';
import { common, type Single } from '../lib/command.ts';
import { eventsHelp } from '../lib/event-list.ts';

/**
 * The command that receives webhooks during development. It prints each delivery, and whether its signatures are valid.
 */
export const listen: Single = {
  verb: {
    summary: 'Receive webhooks on this machine, verify their signatures and print them',
    details:
      'With --subscribe, the command creates a subscription for a tenant, and deactivates it on exit. Without --subscribe, ' +
      'it prints every request to its port.',
    options: [
      {
        flags: '--subscribe <events>',
        about: `create a subscription to these events: ${eventsHelp}`,
        values: ['*', ...EventType.options],
      },
      { ...common.tenant, required: false, about: 'with --subscribe: name or ID of the tenant' },
      {
        flags: '--url <url>',
        about: 'with --subscribe: public URL that forwards to this port (default: local URL of this port)',
      },
      { flags: '--port <port>', about: 'port to listen on (default: 4000; with --subscribe, a free port)' },
      {
        flags: '--secret <secret>',
        about: 'signing secret, needed to verify signatures; - reads it from standard input',
        secret: true,
      },
      { flags: '--body', about: 'also print the whole body of each delivery' },
      { flags: '--json', about: 'print each delivery as one line of JSON' },
    ],
    examples: ["listen --subscribe 'ticket.*' --tenant Acme", 'listen --port 4000 --secret a-secret-of-24-characters'],
    plain: true,
  },
  actions: () => import('../actions/listen.ts'),
};
