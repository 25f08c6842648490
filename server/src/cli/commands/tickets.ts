import { common, noun } from '../lib/command.ts';
import { exportVerb } from '../lib/file-verbs.ts';

export const tickets = noun({
  verbs: {
    export: exportVerb('tickets'),
    redact: {
      summary: 'Replace the texts of tickets with [redacted] to erase personal data',
      details:
        'Replaces the title, description and resolution of each ticket, also in the activity, in stored events and in ' +
        "stored responses. You can't undo this. The server sends no event. To erase personal data from a custom field, " +
        'change the field first.',
      arguments: [{ flags: '<tickets...>', about: 'IDs or numbers of tickets' }],
      options: [common.tenant, common.attachments, common.yes],
      examples: [
        'tickets redact INC-17 INC-20 --tenant Acme',
        'tickets redact INC-17 --attachments 5,6 --tenant Acme --yes',
      ],
    },
  },
  actions: () => import('../actions/tickets.ts'),
});
