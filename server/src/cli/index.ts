#!/usr/bin/env node
import { Command } from 'commander';
import { loadEnvFile } from '../env.ts';
import { addAssets } from './assets.ts';
import { addDeliveries } from './deliveries.ts';
import { addDoctor } from './doctor.ts';
import { Interrupted, reportError } from './errors.ts';
import { examples, programName } from './help.ts';
import { addKeys } from './keys.ts';
import { addListen } from './listen.ts';
import { addMigrate } from './migrate.ts';
import { addProjects } from './projects.ts';
import { addSecrets } from './secrets.ts';
import { addSeed } from './seed.ts';
import { addTasks } from './tasks.ts';
import { addTenants } from './tenants.ts';
import { addTickets } from './tickets.ts';
import { addUsers } from './users.ts';

loadEnvFile();

const program = new Command(programName)
  .description(
    'Makes what the API has no endpoint for: tenants, users, keys, projects and assets; exports rows; sees and mends deliveries; ends a change of keys.',
  )
  .addHelpText(
    'after',
    `
It works on the database of DATABASE_URL or, without that, on the one below DATA_DIR, whether the server runs or not.
Exit codes: 0 done, 1 failed, 2 called wrongly.
${examples(
  'tenants create --name "Acme" --admin-email ada@acme.example',
  'keys create --tenant Acme --user ada@acme.example --name ci --scopes all',
)}`,
  )
  .exitOverride()
  // Errors are said by reportError.
  .configureOutput({ outputError: () => undefined });

const nouns = [addTenants, addUsers, addKeys, addTickets, addProjects, addTasks, addAssets, addDeliveries, addSecrets];
for (const addNoun of nouns) addNoun(program);
for (const verb of program.commands.flatMap((noun) => noun.commands)) {
  verb.option('--json', 'print one JSON document, errors included');
}

addListen(program);
addDoctor(program);
addMigrate(program);
addSeed(program);

// A reader such as `head` may go before everything is said.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

let started: Command | undefined;
program.hook('preAction', (_, command) => {
  started = command;
});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = reportError(error, { command: started, json: process.argv.includes('--json') });
  // What was under way must not connect again.
  if (error instanceof Interrupted) process.exit();
}
