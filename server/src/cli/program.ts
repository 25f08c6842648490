import { Argument, Command, type Option } from 'commander';
import { commands } from './command-table.ts';
import { type Action, type Noun, optionsOf, type Single, type Verb } from './lib/command.ts';
import { examples, programName } from './lib/help.ts';
import { readLine } from './lib/standard-input.ts';

/**
 * The table of commands as commander has it.
 * @param wanted which of its entries are loaded; of the others the name and the summary are there
 */
export async function buildProgram(wanted: (name: string) => boolean): Promise<Command> {
  const program = new Command(programName)
    .description('Makes and mends what the API has no endpoint for, on the database of a server that runs or does not.')
    .addHelpText(
      'after',
      `
It works on the database of DATABASE_URL or, without that, on the one below DATA_DIR.
Exit codes: 0 done, 1 failed, 2 called wrongly.
${examples([
  'tenants create --name Acme --admin-email ada@acme.example --with-key',
  "listen --subscribe 'ticket.*' --tenant Acme",
  'deliveries replay --tenant Acme --state exhausted --since 2h --dry-run',
])}`,
    )
    .exitOverride()
    // Errors are said by reportError.
    .configureOutput({ outputError: () => undefined });
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const command = program.command(name).summary(summary).description(`${summary}.`);
    if (wanted(name)) add(command, await load());
  }
  return program;
}

function add(command: Command, loaded: Noun | Single): void {
  if ('verb' in loaded) {
    fill(command, loaded.verb, async () => (await loaded.actions()).run);
    return;
  }
  for (const [name, verb] of Object.entries(loaded.verbs)) {
    fill(command.command(name), verb, () => loaded.findAction(name));
  }
}

function fill(command: Command, verb: Verb, findAction: () => Promise<Action | undefined>): void {
  command.summary(verb.summary).description([verb.summary, verb.details].filter(Boolean).join('.\n\n'));
  for (const { flags, about = '' } of verb.arguments ?? []) command.addArgument(new Argument(flags, about));
  const secrets: Option[] = [];
  for (const { flags, about, required = false, fallback, secret = false } of optionsOf(verb)) {
    const option = command.createOption(flags, about).makeOptionMandatory(required);
    if (secret) secrets.push(option);
    command.addOption(fallback === undefined ? option : option.default(fallback));
  }
  command.addHelpText('after', examples(verb.examples)).action(async function (this: Command) {
    for (const option of secrets) await readGiven(this, option);
    await (await findAction())?.call(this);
  });
}

/** Puts a line of standard input in the place of a `-`. */
async function readGiven(command: Command, option: Option): Promise<void> {
  const name = option.attributeName();
  if (command.getOptionValue(name) === '-') command.setOptionValue(name, await readLine(option.long ?? name));
}
