import { CsvError, parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { hasErrorCode } from '../../shared/error-codes.ts';

/*
 * Reads and writes CSV for spreadsheet programs. These programs evaluate text that looks like a formula. Therefore,
 * `csvLine` adds an apostrophe before such text, and `parseCsv` removes it (docs/decisions/data-model.md#csv).
 */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;
const apostrophe = /^'(?='*[=+\-@\t\r\n＝＋－＠])/;

/** Formats cells as one line of CSV, with a line break at the end. */
export function csvLine(cells: readonly unknown[]): string {
  const safe = cells.map((cell) => (typeof cell === 'string' && formula.test(cell) ? `'${cell}` : cell));
  return stringify([safe], {
    // Writes booleans as `true` and `false`. By default, the library writes false as an empty cell and true as 1.
    cast: { boolean: String },
    // Quotes cells that contain carriage returns and cells that start or end with white space. CSV readers would remove
    // these characters from unquoted cells.
    quoted_match: /^\s|\s$|\r/,
  });
}

/** A record of a CSV file. */
export interface CsvRecord {
  /** The number of the line where the record begins. The first line is 1. */
  line: number;
  cells: string[];
}

/** The maximum size of a CSV record in bytes. */
const recordBytes = 256 * 1024;

/** The error for a file that is not CSV in UTF-8. The message can follow the file name and a colon. */
export class NoCsv extends Error {
  override name = 'NoCsv';
}

/**
 * Parses a CSV file in UTF-8. Skips empty records.
 * @param max the maximum number of records to return; errors in later records are not reported
 * @throws NoCsv
 */
export function parseCsv(bytes: Uint8Array, max: number): CsvRecord[] {
  const text = Buffer.from(decode(bytes));
  try {
    const records = parse(text, {
      info: true,
      trim: true,
      relax_column_count: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      max_record_size: recordBytes,
      to: max,
    }) as unknown as { record: string[]; info: { bytes: number } }[];
    let [lines, read] = [0, 0];
    return records.map(({ record, info }) => {
      // Doesn't use the parser's line numbers, because the parser counts a quoted CRLF as two line breaks.
      const since = text.toString('latin1', read, info.bytes);
      [lines, read] = [lines + countBreaks(since), info.bytes];
      const within = record.reduce((sum, cell) => sum + countBreaks(cell), 0);
      const line = lines - within + (/[\r\n]$/.test(since) ? 0 : 1);
      return { line, cells: record.map((cell) => cell.replace(apostrophe, '')) };
    });
  } catch (error) {
    if (error instanceof CsvError) throw new NoCsv(`the file is not valid CSV. Correct this error: ${error.message}`);
    throw error;
  }
}

function countBreaks(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}

function decode(bytes: Uint8Array): string {
  try {
    // Decodes UTF-8 and removes the byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (hasErrorCode(error, 'ERR_STRING_TOO_LONG')) throw new NoCsv('the file is larger than 512 MB. Split it');
    throw new NoCsv('the file is not in UTF-8. Save it as "CSV UTF-8"');
  }
}
