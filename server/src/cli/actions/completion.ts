import type { Command } from 'commander';
import { UsageError } from '../errors.ts';

/*
 * What a shell does with it: it calls `itsm complete` with the words of the line up to the cursor, and offers the lines
 * that come back, each with what follows a tab as its explanation.
 */

const bash = `_itsm() {
  local line word before=\${COMP_LINE:0:COMP_POINT}
  read -a word <<<"$before"
  [[ $before == *' ' && $before != *'\\\\ ' ]] && word+=('')
  local last=\${word[\${#word[@]}-1]}
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    # Bash takes a colon for the end of a word, and a blank, too, unless it is told not to.
    line=\${line#"\${last%"\${last##*:}"}"}
    COMPREPLY+=("\${line// /\\\\ }")
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

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

/** Prints a script, whatever the database is. */
export async function run(this: Command): Promise<void> {
  const script = scripts[this.args[0] ?? ''];
  if (script === undefined) {
    throw new UsageError([{ path: 'shell', message: `must be one of ${Object.keys(scripts).join(', ')}` }]);
  }
  process.stdout.write(script);
}
