import { commands } from '../server/src/cli/command-table.ts';
import { type Noun, optionsOf, type Parameter, type Single, type Verb } from '../server/src/cli/lib/command.ts';

/**
 * Returns the content of `docs/command-line.md`: the arguments, options and examples of every command in the command
 * table.
 */
export async function commandLineReference(): Promise<string> {
  const sections = await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]) => section(name, summary, await load())),
  );
  return `${head}\n${sections.join('\n')}`;
}

const head = `<!-- Generated from server/src/cli/command-table.ts by \`pnpm generate\`. -->

# Command line

\`./itsm\` manages tenants, users, API keys and other resources directly in the database. The server can be running or
stopped. If \`DATABASE_URL\` is set, commands use that database. Otherwise they use the embedded database in \`DATA_DIR\`.
Of the commands, only \`itsm migrate\` creates a database.

To complete commands in your shell, see [itsm completion](#itsm-completion). To print text without colors, set
\`NO_COLOR\`. The exit code is 0 for success, 1 for a failure, and 2 for a usage error.
`;

function section(name: string, summary: string, loaded: Noun | Single): string {
  if ('verb' in loaded) return `## itsm ${name}\n\n${describeCommand(name, loaded.verb)}`;
  const verbs = Object.entries(loaded.verbs).map(
    ([verb, about]) => `### itsm ${name} ${verb}\n\n${describeCommand(`${name} ${verb}`, about)}`,
  );
  return `## itsm ${name}\n\n${summary}.\n\n${verbs.join('\n')}`;
}

function describeCommand(call: string, verb: Verb): string {
  const { summary, details, arguments: parameters = [], examples } = verb;
  const usage = ['itsm', call, ...parameters.map(({ flags }) => flags), '[options]'].join(' ');
  const rows = [...parameters, ...optionsOf(verb)].map((each) => `| \`${each.flags}\` | ${cell(each)} |`);
  return [
    `${summary}.`,
    ...(details === undefined ? [] : [blocks(details)]),
    code([usage]),
    ...(rows.length === 0 ? [] : [['| | |', '| --- | --- |', ...rows].join('\n')]),
    code(examples.map((example) => `./itsm ${example}`)),
    '',
  ].join('\n\n');
}

/** Converts the detailed help text of a command to Markdown. Indented lines become list items. */
function blocks(details: string): string {
  return details
    .split('\n')
    .map((line) => (line.startsWith('  ') ? `- ${line.trim().replace(/ {2,}/, ': ')}` : `${line}\n`))
    .join('\n')
    .trim();
}

function cell({ about = '', required, fallback }: Parameter): string {
  const notes = [...(required ? ['required'] : []), ...(fallback === undefined ? [] : [`default: ${fallback}`])];
  return [about, ...(notes.length > 0 ? [`(${notes.join(', ')})`] : [])].join(' ').trim().replaceAll('|', '\\|');
}

function code(lines: readonly string[]): string {
  return `\`\`\`sh\n${lines.join('\n')}\n\`\`\``;
}
