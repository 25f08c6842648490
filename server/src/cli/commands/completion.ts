import type { Single } from '../lib/command.ts';

const shells = ['bash', 'zsh', 'fish'];

export const completion: Single = {
  verb: {
    summary: 'Generate a shell completion script',
    details:
      'The script completes commands, options, and values from the database, such as tenants, users and IDs. Bash: add ' +
      'eval "$(./itsm completion bash)" to ~/.bashrc. Zsh: add eval "$(./itsm completion zsh)" to ~/.zshrc, after ' +
      'compinit. Fish: run ./itsm completion fish > ~/.config/fish/completions/itsm.fish. Bash and Zsh also complete ' +
      './itsm. Fish needs itsm in a folder of PATH.',
    arguments: [{ flags: '<shell>', about: shells.join(', '), values: shells }],
    examples: ['completion bash'],
    plain: true,
  },
  actions: () => import('../actions/completion.ts'),
};
