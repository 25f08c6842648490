import { noun } from '../../lib/command.ts';

export const secrets = noun({
  verbs: {
    're-encrypt': {
      summary: 'Re-encrypt webhook secrets with the current WEBHOOK_SECRET_KEY',
      details:
        'The current key is the first one in WEBHOOK_SECRET_KEY. Servers can keep running. If the command is interrupted, run ' +
        'it again.',
      examples: ['secrets re-encrypt', 'secrets re-encrypt --json'],
    },
  },
  actions: async () => ({ 're-encrypt': (await import('../../actions/installation/secrets.ts')).reencrypt }),
});
