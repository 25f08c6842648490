import { noun } from '../lib/command.ts';

export const secrets = noun({
  verbs: {
    reseal: {
      summary: 'End a change of WEBHOOK_SECRET_KEY: encrypt with its first key what the others have encrypted',
      details: 'Servers may run meanwhile; what was interrupted goes on when it is run again.',
      examples: ['secrets reseal', 'secrets reseal --json'],
    },
  },
  actions: () => import('../actions/secrets.ts'),
});
