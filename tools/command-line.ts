import { commands } from '../server/src/cli/command-table.ts';
import { common, type Noun, optionsOf, type Parameter, type Single, type Verb } from '../server/src/cli/lib/command.ts';

/** The options that the page describes once. */
const shared: readonly Parameter[] = [common.tenant, common.utc, common.json, common.limit];

/**
 * Returns the content of `docs/command-line.md`: the arguments, options and examples of every command in the command
 * table. Texts that several subcommands of a command have appear once.
 */
export async function commandLineReference(): Promise<string> {
  const loaded = await Promise.all(
    Object.entries(commands).map(async ([name, { load }]) => ({ name, command: await load() })),
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
  const sections = loaded.map(({ name, command }) => section(name, command));
  return `${head}
- ${describeParameter(common.tenant)}. All commands have it except ${lacking(common.tenant)}.
- ${describeParameter(common.json)}. All commands have it except ${lacking(common.json)}.
- ${describeParameter(common.utc)}, in commands that print times.
- ${describeParameter(common.limit)}, in commands that print lists.

${sections.join('\n')}`;
}

const head = `# Command line

<!-- Generated from server/src/cli/command-table.ts by \`pnpm generate\`. -->

\`./itsm\` manages tenants, users, API keys and other resources directly in the database. The server can be running or
stopped. If \`DATABASE_URL\` is set, commands use that database. Otherwise they use the embedded database in \`DATA_DIR\`.
Of the commands, only \`itsm migrate\` creates a database.

To complete commands in your shell, see [itsm completion](#itsm-completion). To print text without colors, set
\`NO_COLOR\`. The exit code is 0 for success, 1 for a failure, and 2 for a usage error. Options in brackets are optional.

The following options mean the same in all commands:
`;

function section(name: string, loaded: Noun | Single): string {
  if ('verb' in loaded) return `## itsm ${name}\n\n${describeCommand(loaded.verb)}`;
  const verbs = Object.entries(loaded.verbs);
  const rows = verbs.map(([verb, about]) => [usage(`${name} ${verb}`, about), about.summary]);
  const details = describeDetails(verbs);
  const parameters = describeParameters(verbs);
  // The table already shows the whole command if it has no options.
  const examples = verbs.filter(([, verb]) => hasOptions(verb)).flatMap(([, verb]) => verb.examples);
  return [
    `## itsm ${name}`,
    table(['Command', 'What it does'], rows),
    ...(details.length === 0 ? [] : [details.join('\n')]),
    ...(parameters.length === 0 ? [] : [table(['Parameter', 'Commands', 'Meaning'], parameters)]),
    `${code(examples.length > 0 ? examples : verbs.flatMap(([, verb]) => verb.examples))}\n`,
  ].join('\n\n');
}

/** Describes a command without subcommands. */
function describeCommand(verb: Verb): string {
  const { summary, details = '', examples } = verb;
  const items = parametersOf(verb).map((parameter) => `- ${describeParameter(parameter)}`);
  return [
    `${summary}.`,
    ...paragraphs(details),
    ...(items.length === 0 ? [] : [items.join('\n')]),
    `${code(examples)}\n`,
  ].join('\n\n');
}

/** Returns the arguments of a command in the order in which the command takes them, then the options. */
function parametersOf(verb: Verb): readonly Parameter[] {
  return [...(verb.arguments ?? []), ...optionsOf(verb).filter((option) => !shared.includes(option))];
}

function hasOptions(verb: Verb): boolean {
  return parametersOf(verb).some(({ flags }) => flags.startsWith('-'));
}

function usage(call: string, verb: Verb): string {
  const parameters = parametersOf(verb).map(({ flags, required }) =>
    flags.startsWith('-') && !required ? `[${flags}]` : flags,
  );
  return [call, ...parameters].map((part) => `\`${part}\``).join(' ');
}

/** Returns a list item for each paragraph of details, after the names of the subcommands that have it. */
function describeDetails(verbs: readonly [string, Verb][]): string[] {
  const found = verbs.flatMap(([name, { details = '' }]) => paragraphs(details).map((text) => ({ name, text })));
  return [...Map.groupBy(found, ({ text }) => text)].map(([text, uses]) => `- ${names(uses)}: ${text}`);
}

/** Returns a row for each parameter: its name, the subcommands that have it, and its meaning. */
function describeParameters(verbs: readonly [string, Verb][]): string[][] {
  const found = verbs.flatMap(([name, verb]) =>
    parametersOf(verb)
      .filter(({ about, fallback }) => about !== undefined || fallback !== undefined)
      .map((parameter) => ({ name, flags: parameter.flags, text: meaningOf({ ...parameter, required: false }) })),
  );
  const grouped = Map.groupBy(found, ({ flags, text }) => `${flags} ${text}`);
  return [...grouped.values()].map((uses) => [`\`${uses[0]?.flags}\``, names(uses), uses[0]?.text ?? '']);
}

function table(titles: readonly string[], rows: readonly string[][]): string {
  const lines = [titles, titles.map(() => '---'), ...rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function names(uses: readonly { name: string }[]): string {
  return uses.map(({ name }) => `\`${name}\``).join(', ');
}

/** Returns the paragraphs of the detailed help text of a command. Indented lines become nested list items. */
function paragraphs(details: string): string[] {
  return details
    .replaceAll(/\n {2,}(\S+) {2,}/g, '\n  - $1: ')
    .split(/\n(?! )/)
    .filter((text) => text !== '');
}

function describeParameter(parameter: Parameter): string {
  const text = meaningOf(parameter);
  return text === '' ? `\`${parameter.flags}\`` : `\`${parameter.flags}\`: ${text}`;
}

function meaningOf({ about = '', required, fallback }: Parameter): string {
  const notes = [...(required ? ['required'] : []), ...(fallback === undefined ? [] : [`default: ${fallback}`])];
  return [about, ...(notes.length > 0 ? [`(${notes.join(', ')})`] : [])].join(' ').trim();
}

function code(examples: readonly string[]): string {
  return `\`\`\`sh\n${examples.map((example) => `./itsm ${example}`).join('\n')}\n\`\`\``;
}
