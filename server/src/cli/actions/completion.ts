import type { Command } from 'commander';
import { UsageError } from '../lib/cli-errors.ts';

/*
 * What a shell does with it: it calls `itsm complete` with the words of the line up to the cursor, and offers the lines
 * that come back, each with what follows a tab as its explanation.
 */

const bash = `_itsm() {
  # Bash would break words at colons. They come as they are typed, with their quotes.
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
      # What follows the last colon is what Bash replaces, and a blank would end it.
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
  # Words come as they are typed, with their quotes; the one at the cursor is in PREFIX without the first of them.
  done < <("\${(Q)words[1]}" complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)
  (( \${#found} )) && _describe itsm found || _files
}
compdef _itsm itsm
`;

const fish = `function __itsm_complete
    # The word at the cursor comes as it is typed, with its quotes, of which the last is missing.
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

/** Prints a script, whatever the database is. */
export async function run(this: Command): Promise<void> {
  const script = scripts[this.args[0] ?? ''];
  if (script === undefined) {
    throw new UsageError([{ path: 'shell', message: `must be one of ${Object.keys(scripts).join(', ')}` }]);
  }
  process.stdout.write(script);
}
