import * as z from 'zod';
import type { Verb } from './command.ts';
import { UsageError } from './errors.ts';

/*
 * What a shell does with it: it calls `itsm complete` with the words of the line up to the cursor, and offers the lines
 * that come back, each with what follows a tab as its explanation.
 */

const bash = `_itsm() {
  local line words="\${COMP_LINE:0:COMP_POINT}" word
  read -ra word <<<"$words"
  [[ $words == *' ' ]] && word+=('')
  local last="\${word[-1]}" IFS=$'\\n'
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    # Bash takes what follows a colon or an equals sign for a word of its own.
    COMPREPLY+=("\${line#"\${last%"\${COMP_WORDS[COMP_CWORD]}"}"}")
  done < <("\${word[0]}" complete "\${word[@]:1}" 2>/dev/null)
}
complete -o default -F _itsm itsm
`;

const zsh = `#compdef itsm
_itsm() {
  local -a found
  local line
  while IFS=$'\\t' read -r line about; do
    found+=("\${line//:/\\\\:}\${about:+:$about}")
  done < <("\${words[1]}" complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe itsm found || _files
}
compdef _itsm itsm
`;

const fish = `function __itsm_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] complete $words[2..] 2>/dev/null
end
complete -c itsm -a '(__itsm_complete)'
`;

const scripts = { bash, zsh, fish };
const shells = Object.keys(scripts);
const Shell = z.enum(['bash', 'zsh', 'fish']);

export const completion: Verb = {
  summary: 'Print what makes a shell complete commands, options and what the database knows: tenants, users, ids',
  details:
    'bash: eval "$(./itsm completion bash)" in ~/.bashrc. zsh: the same with zsh, after compinit. fish: ./itsm completion ' +
    'fish > ~/.config/fish/completions/itsm.fish. Bash and zsh complete ./itsm, too; fish wants itsm in a folder of PATH.',
  arguments: [{ flags: '<shell>', about: shells.join(', '), values: shells }],
  examples: ['completion bash'],
  plain: true,
  async run() {
    const shell = Shell.safeParse(this.args[0]);
    if (!shell.success) throw new UsageError([{ path: 'shell', message: `must be one of ${shells.join(', ')}` }]);
    process.stdout.write(scripts[shell.data]);
  },
};
