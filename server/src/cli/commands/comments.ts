import { common, noun } from '../lib/command.ts';
import { exportVerb } from '../lib/file-verbs.ts';

export const comments = noun({
  verbs: {
    export: exportVerb('comments'),
    redact: {
      summary: 'Replace the texts of comments with [redacted] to erase personal data',
      details:
        "Also replaces the texts in stored events and in stored responses. You can't undo this. The server sends no event.",
      arguments: [{ flags: '<comments...>', about: 'IDs of comments' }],
      options: [common.tenant, common.attachments, common.yes],
      examples: ['comments redact 77 78 --tenant Acme', 'comments redact 77 --attachments 5 --tenant Acme --yes'],
    },
  },
  actions: () => import('../actions/comments.ts'),
});
