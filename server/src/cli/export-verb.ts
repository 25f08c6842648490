import { common, type Verb } from './command.ts';

/** The command that copies all rows of a resource into a file. @param csv whether it can be one of CSV, too */
export function exportVerb(resource: string, { csv = false } = {}): Verb {
  const examples = [`${resource} export ${resource}.jsonl --tenant Acme`];
  return {
    summary: `Write all ${resource} of a tenant to a file, and tell the cursor by which to follow what changes after`,
    details: [
      'JSON Lines: a row on each line, as the API answers it.',
      ...(csv ? [`CSV where the name ends with .csv, in the columns that \`${resource} import\` takes.`] : []),
    ].join(' '),
    arguments: [{ flags: '<file>', about: 'a file that is not there yet' }],
    options: [common.tenant, { flags: '--yes', about: 'replace the file if it is there' }],
    examples: csv ? [...examples, `${resource} export ${resource}.csv --tenant Acme`] : examples,
  };
}
