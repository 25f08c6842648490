import { Argument, Command, type Option } from 'commander';
import { commands } from './command-table.ts';
import { type Action, type Noun, optionsOf, type Single, type Verb } from './lib/command.ts';
import { examples, programName } from './lib/help.ts';
import { readLine } from './lib/standard-input.ts';

/**
 * Builds the Commander program from the command table.
 * @param isRequested returns whether to load a command; commands that aren't loaded have only a name and a summary
 */
export async function buildProgram(isRequested: (name: string) => boolean): Promise<Command> {
  const program = new Command(programName)
    .description(
      'Manages tenants, users, API keys and other resources directly in the database. The server can be running or stopped.',
    )
    // Only listed here, because `runCommandLine` handles it.
    .option('-V, --version', 'print the version of the API')
    .addHelpText(
      'after',
      `
If DATABASE_URL is set, commands use that database. Otherwise they use the embedded database in DATA_DIR.
Exit codes: 0 success, 1 failure, 2 usage error.
${examples([
  'tenants create --name Acme --admin-email ada@acme.example --with-key',
  "listen --subscribe 'ticket.*' --tenant Acme",
  'deliveries replay --tenant Acme --state exhausted --since 2h --dry-run',
])}`,
    )
    .exitOverride()
    // Commander prints no errors, because `reportError` prints them.
    .configureOutput({ outputError: () => undefined });
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const command = program.command(name).summary(summary).description(`${summary}.`);
    if (isRequested(name)) add(command, await load());
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
    for (const option of secrets) await readSecret(this, option);
    await (await findAction())?.call(this);
  });
}

/** If the option value is `-`, reads the value from the first line of standard input. */
async function readSecret(command: Command, option: Option): Promise<void> {
  const name = option.attributeName();
  if (command.getOptionValue(name) === '-') command.setOptionValue(name, await readLine(option.long ?? name));
}
