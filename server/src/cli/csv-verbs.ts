import type { CsvColumns } from '../resources/csv-columns.ts';
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
