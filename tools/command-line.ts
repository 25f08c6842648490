import { commands } from '../server/src/cli/command-table.ts';
import { type Noun, optionsOf, type Parameter, type Single, type Verb } from '../server/src/cli/lib/command.ts';

/** Returns `docs/command-line.md`: every command with its arguments, options and examples, from the command table. */
export async function commandLineReference(): Promise<string> {
  const sections = await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]) => section(name, summary, await load())),
  );
  return `${head}\n${sections.join('\n')}`;
}

const head = `<!-- Generated from server/src/cli/command-table.ts by \`pnpm generate\`. -->

# Command line

\`./itsm\` does what the API has no endpoint for. It uses the database of \`DATABASE_URL\` or, if that is empty, the embedded
PostgreSQL in \`DATA_DIR\`. The server doesn't have to run, but its database must exist. To complete commands in your shell, run
\`itsm completion\`. To turn colors off, set \`NO_COLOR\`. Exit codes: 0 success, 1 failure, 2 invalid usage.
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

/** Formats details as Markdown: indented lines become a list. */
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
