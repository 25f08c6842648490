import type { CsvColumns } from '../../resources/csv/csv-columns.ts';
import { common, type Verb } from './command.ts';

/** Returns the description of the command that imports a CSV file. */
export function importVerb<Line extends object>(columns: CsvColumns<Line>): Verb {
  const { resource, one, names, needed, unique, user, hasCustomFields, changeLine } = columns;
  const all = `${names.join(', ')}${hasCustomFields ? ', and customFields.NAME for each custom field' : ''}`;
  const call = `${resource} import ${resource}.csv --tenant Acme`;
  return {
    summary: `Import ${resource} from a CSV file`,
    details: [
      `If a line is invalid, the command imports nothing. Columns, in any order: ${all}. Required columns: ` +
        `${needed.join(', ')}. An empty cell means no value.`,
      ...(user === undefined ? [] : [`${user} contains an ID or an email address.`]),
      ...(changeLine === undefined
        ? []
        : [`With --update, only ${unique} is required for an existing ${one}, and an empty cell changes nothing.`]),
    ].join(' '),
    arguments: [
      { flags: '<file>', about: 'CSV file in UTF-8, separated by commas, semicolons or tabs, with a header line' },
    ],
    options: [
      common.tenant,
      ...(changeLine === undefined ? [] : [{ flags: '--update', about: `also update existing ${resource}` }]),
      { flags: '--dry-run', about: 'validate the file without importing it' },
    ],
    examples: [`${call} --dry-run`, call, ...(changeLine === undefined ? [] : [`${call} --update`])],
  };
}

/** Returns the description of the command that prints a CSV template. */
export function templateVerb<Line extends object>({ resource, one }: CsvColumns<Line>): Verb {
  return {
    summary: `Print a CSV template for imports, with all columns and one example ${one}`,
    examples: [`${resource} template > ${resource}.csv`],
    plain: true,
  };
}

/**
 * Returns the description of the command that exports all rows.
 * @param csv whether the resource supports CSV exports
 */
export function exportVerb(resource: string, { csv = false } = {}): Verb {
  const examples = [`${resource} export ${resource}.jsonl --tenant Acme`];
  return {
    summary: `Export all ${resource} of a tenant to a file, and print a cursor for later changes`,
    details: [
      'The format is JSON Lines: one object per line, in the format of the API.',
      ...(csv ? [`If the name ends with .csv, the format is CSV with the columns of \`${resource} import\`.`] : []),
    ].join(' '),
    arguments: [{ flags: '<file>', about: 'file to create' }],
    options: [common.tenant, { flags: '--yes', about: 'replace an existing file without confirmation' }],
    examples: csv ? [...examples, `${resource} export ${resource}.csv --tenant Acme`] : examples,
  };
}
