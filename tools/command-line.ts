import { commands } from '../server/src/cli/command-table.ts';
import { type Noun, optionsOf, type Parameter, type Single, type Verb } from '../server/src/cli/lib/command.ts';

/** `docs/command-line.md`: every command with its arguments, options and examples, from the table that parses them. */
export async function commandLineReference(): Promise<string> {
  const sections = await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]) => section(name, summary, await load())),
  );
  return `${head}\n${sections.join('\n')}`;
}

const head = `<!-- Made from server/src/cli/command-table.ts by \`pnpm generate\`. -->

# Command line

\`./itsm\` makes and mends what the API has no endpoint for, on the database of a server that runs or does not: that of
\`DATABASE_URL\` or, without it, the one below \`DATA_DIR\`. It makes no database. \`itsm completion\` has a shell complete all
this. Colours are left out where \`NO_COLOR\` is set. Exit codes: 0 done, 1 failed, 2 called wrongly.
`;

function section(name: string, summary: string, loaded: Noun | Single): string {
  if ('verb' in loaded) return `## itsm ${name}\n\n${described(name, loaded.verb)}`;
  const verbs = Object.entries(loaded.verbs).map(
    ([verb, about]) => `### itsm ${name} ${verb}\n\n${described(`${name} ${verb}`, about)}`,
  );
  return `## itsm ${name}\n\n${summary}.\n\n${verbs.join('\n')}`;
}

function described(call: string, verb: Verb): string {
  const { summary, details, arguments: given = [], examples } = verb;
  const usage = ['itsm', call, ...given.map(({ flags }) => flags), '[options]'].join(' ');
  const rows = [...given, ...optionsOf(verb)].map((each) => `| \`${each.flags}\` | ${cell(each)} |`);
  return [
    `${summary}.`,
    ...(details === undefined ? [] : [blocks(details)]),
    code([usage]),
    ...(rows.length === 0 ? [] : [['| | |', '| --- | --- |', ...rows].join('\n')]),
    code(examples.map((example) => `./itsm ${example}`)),
    '',
  ].join('\n\n');
}

/** Indented lines are a list of their own. */
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
