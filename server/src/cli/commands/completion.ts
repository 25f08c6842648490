import type { Single } from '../lib/command.ts';

const shells = ['bash', 'zsh', 'fish'];

export const completion: Single = {
  verb: {
    summary: 'Print what makes a shell complete commands, options and what the database knows: tenants, users, ids',
    details:
      'bash: eval "$(./itsm completion bash)" in ~/.bashrc. zsh: the same with zsh, after compinit. fish: ./itsm completion ' +
      'fish > ~/.config/fish/completions/itsm.fish. Bash and zsh complete ./itsm, too; fish wants itsm in a folder of PATH.',
    arguments: [{ flags: '<shell>', about: shells.join(', '), values: shells }],
    examples: ['completion bash'],
    plain: true,
  },
  actions: () => import('../actions/completion.ts'),
};
