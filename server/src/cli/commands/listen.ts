import { EventType } from '@itsm-api/contract';
import { common, type Single } from '../lib/command.ts';
import { eventsHelp } from '../lib/event-list.ts';

/** A receiver for trying webhooks out: prints each delivery and says whether its signatures are right. */
export const listen: Single = {
  verb: {
    summary: 'Receive webhooks on this machine, verify their signatures and print them',
    details:
      'With --subscribe it registers itself for a tenant, and takes that back when it ends. Without, whatever is sent to ' +
      'its port is printed.',
    options: [
      {
        flags: '--subscribe <events>',
        about: `register for these: ${eventsHelp}`,
        values: ['*', ...EventType.options],
      },
      { ...common.tenant, required: false, about: 'with --subscribe: name or id of the tenant' },
      { flags: '--url <url>', about: 'with --subscribe: a public address that leads here (default: this port)' },
      { flags: '--port <port>', about: 'the port to listen on (default: 4000; with --subscribe a free one)' },
      {
        flags: '--secret <secret>',
        about: 'the secret of the subscription, without which nothing can be verified; - reads it from standard input',
        secret: true,
      },
      { flags: '--body', about: 'print the whole body of each delivery, too' },
      { flags: '--json', about: 'print one JSON document per delivery, on a line' },
    ],
    examples: ["listen --subscribe 'ticket.*' --tenant Acme", 'listen --port 4000 --secret a-secret-of-24-characters'],
    plain: true,
  },
  actions: () => import('../actions/listen.ts'),
};
