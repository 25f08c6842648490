import type { Command } from 'commander';
import { UsageError } from '../lib/cli-errors.ts';

/*
 * Completion scripts for shells. Each script calls `itsm complete` with the words up to the cursor. This command prints
 * one line per completion, which contains the word, a tab and a description.
 */

const bash = `_itsm() {
  # COMP_WORDS is split at colons, so this loop splits the line. It also removes quotes.
  local before=\${COMP_LINE:0:COMP_POINT} words=() word= quote= char line i
  for ((i = 0; i < \${#before}; i++)); do
    char=\${before:i:1}
    if [[ $quote ]]; then
      if [[ $char == "$quote" ]]; then quote=; else word+=$char; fi
    else
      case $char in
        \\' | \\") quote=$char ;;
        \\\\) i=$((i + 1)); word+=\${before:i:1} ;;
        ' ') [[ \${before:i-1:1} == ' ' ]] || words+=("$word"); word= ;;
        *) word+=$char ;;
      esac
    fi
  done
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    if [[ ! $quote ]]; then
      # Bash replaces only the part after the last colon. Spaces need a backslash.
      line=\${line#"\${word%"\${word##*:}"}"}
      line=\${line// /\\\\ }
    fi
    COMPREPLY+=("$line")
  done < <("\${words[0]}" complete "\${words[@]:1}" "$word" 2>/dev/null)
}
complete -o default -F _itsm itsm
`;

const zsh = `#compdef itsm
_itsm() {
  local -a found
  local line
  while IFS=$'\\t' read -r line about; do
    found+=("\${line//:/\\\\:}\${about:+:$about}")
  # Words still have their quotes. PREFIX is the word at the cursor, without its opening quote.
  done < <("\${(Q)words[1]}" complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)
  (( \${#found} )) && _describe itsm found || _files
}
compdef _itsm itsm
`;

const fish = `function __itsm_complete
    # The word at the cursor still has its opening quote and backslashes.
    set -l last (commandline -ct | string replace -r '^["\\']' '' | string replace -ra '\\\\\\\\(.)' '$1')
    set -l words (commandline -opc) "$last"
    set -l found ($words[1] complete $words[2..] 2>/dev/null)
    if set -q found[1]
        printf '%s\\n' $found
    else
        __fish_complete_path "$last"
    end
end
complete -c itsm -f -a '(__itsm_complete)'
`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

/** Prints the completion script for a shell. */
export async function run(this: Command): Promise<void> {
  const script = scripts[this.args[0] ?? ''];
  if (script === undefined) {
    throw new UsageError([{ path: 'shell', message: `must be one of ${Object.keys(scripts).join(', ')}` }]);
  }
  process.stdout.write(script);
}
