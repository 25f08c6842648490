import type { CsvColumns } from '../../resources/csv/csv-columns.ts';
import { common, type Verb } from './command.ts';

/** The command that creates what a CSV file holds. */
export function importVerb<Line extends object>(columns: CsvColumns<Line>): Verb {
  const { resource, names, needed, user, hasCustomFields } = columns;
  const all = `${names.join(', ')}${hasCustomFields ? ', and customFields.NAME for each custom field' : ''}`;
  const call = `${resource} import ${resource}.csv --tenant Acme`;
  return {
    summary: `Create the ${resource} of a CSV file: all of them, or none when a line is wrong`,
    details:
      `Columns, in any order: ${all}. Needed are ${needed.join(', ')}; an empty cell means none. ${user} may hold an id or ` +
      'an e-mail address.',
    arguments: [{ flags: '<file>', about: 'CSV in UTF-8, with commas and a line of column names' }],
    options: [common.tenant, { flags: '--dry-run', about: 'only look whether every line could be imported' }],
    examples: [`${call} --dry-run`, call],
  };
}

/** The command that prints a file to begin with. */
export function templateVerb<Line extends object>({ resource, one }: CsvColumns<Line>): Verb {
  const article = /^[aeiou]/.test(one) ? 'an' : 'a';
  return {
    summary: `Print a CSV file to begin an import with: the columns, and ${article} ${one} that shows what they hold`,
    examples: [`${resource} template > ${resource}.csv`],
    plain: true,
  };
}

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
