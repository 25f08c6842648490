import { commands } from '../server/src/cli/command-table.ts';
import { common, type Noun, optionsOf, type Parameter, type Single, type Verb } from '../server/src/cli/lib/command.ts';

/** The options that the page describes once. */
const shared: readonly Parameter[] = [common.tenant, common.utc, common.json];

/**
 * Returns the content of `docs/command-line.md`: the arguments, options and examples of every command in the command
 * table.
 */
export async function commandLineReference(): Promise<string> {
  const loaded = await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]) => ({ name, summary, command: await load() })),
  );
  const verbs = loaded.flatMap(({ name, command }) =>
    'verb' in command
      ? [{ call: name, verb: command.verb }]
      : Object.entries(command.verbs).map(([verb, about]) => ({ call: `${name} ${verb}`, verb: about })),
  );
  const lacking = (option: Parameter) =>
    verbs
      .filter(({ verb }) => !optionsOf(verb).includes(option))
      .map(({ call }) => `\`${call}\``)
      .join(', ');
  const sections = loaded.map(({ name, summary, command }) => section(name, summary, command));
  return `${head}
- ${describeParameter(common.tenant)}. All commands have it except ${lacking(common.tenant)}.
- ${describeParameter(common.json)}. All commands have it except ${lacking(common.json)}.
- ${describeParameter(common.utc)}, in commands that print times.

${sections.join('\n')}`;
}

const head = `# Command line

<!-- Generated from server/src/cli/command-table.ts by \`pnpm generate\`. -->

\`./itsm\` manages tenants, users, API keys and other resources directly in the database. The server can be running or
stopped. If \`DATABASE_URL\` is set, commands use that database. Otherwise they use the embedded database in \`DATA_DIR\`.
Of the commands, only \`itsm migrate\` creates a database.

To complete commands in your shell, see [itsm completion](#itsm-completion). To print text without colors, set
\`NO_COLOR\`. The exit code is 0 for success, 1 for a failure, and 2 for a usage error.

The following options mean the same in all commands:
`;

function section(name: string, summary: string, loaded: Noun | Single): string {
  if ('verb' in loaded) return `## itsm ${name}\n\n${describeCommand(loaded.verb)}`;
  const verbs = Object.entries(loaded.verbs).map(
    ([verb, about]) => `### itsm ${name} ${verb}\n\n${describeCommand(about)}`,
  );
  return `## itsm ${name}\n\n${summary}.\n\n${verbs.join('\n')}`;
}

/** Describes a command. The arguments are in the order in which the command takes them, before the options. */
function describeCommand(verb: Verb): string {
  const { summary, details, arguments: parameters = [], examples } = verb;
  const rows = [...parameters, ...optionsOf(verb).filter((option) => !shared.includes(option))];
  return [
    `${summary}.`,
    ...(details === undefined ? [] : [blocks(details)]),
    ...(rows.length === 0 ? [] : [rows.map((each) => `- ${describeParameter(each)}`).join('\n')]),
    `${code(examples.map((example) => `./itsm ${example}`))}\n`,
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

function describeParameter({ flags, about = '', required, fallback }: Parameter): string {
  const notes = [...(required ? ['required'] : []), ...(fallback === undefined ? [] : [`default: ${fallback}`])];
  const text = [about, ...(notes.length > 0 ? [`(${notes.join(', ')})`] : [])].join(' ').trim();
  return text === '' ? `\`${flags}\`` : `\`${flags}\`: ${text}`;
}

function code(lines: readonly string[]): string {
  return `\`\`\`sh\n${lines.join('\n')}\n\`\`\``;
}
