import { CsvError, parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { hasPgCode } from '../../shared/pg-errors.ts';

/*
 * CSV as spreadsheets write and read it. They work out what begins like a formula, whoever wrote it: before such text an
 * apostrophe is written, and taken off again where it is read (docs/decisions/data-model.md#csv).
 */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;
const apostrophe = /^'(?='*[=+\-@\t\r\n＝＋－＠])/;

/** A line of CSV, with its end. */
export function csvLine(cells: readonly unknown[]): string {
  const safe = cells.map((cell) => (typeof cell === 'string' && formula.test(cell) ? `'${cell}` : cell));
  return stringify([safe], {
    // Left to itself, it writes nothing for false and 1 for true.
    cast: { boolean: String },
    // White space at an edge is part of the cell only within quotes, and so is a carriage return.
    quoted_match: /^\s|\s$|\r/,
  });
}

/** A record of a file. */
export interface CsvRecord {
  /** Where it begins, from 1. */
  line: number;
  cells: string[];
}

/** The most that one record may take. Bytes. */
const recordBytes = 256 * 1024;

/** The file is no CSV, or not in UTF-8. Its message says what is wrong, to be read after the file's name. */
export class NoCsv extends Error {
  override name = 'NoCsv';
}

/**
 * The records of a file in UTF-8, without those that are empty.
 * @param most how many are read, at most; what is behind them is not looked at
 * @throws NoCsv
 */
export function parseCsv(bytes: Uint8Array, most: number): CsvRecord[] {
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
      to: most,
    }) as unknown as { record: string[]; info: { bytes: number } }[];
    let [lines, read] = [0, 0];
    return records.map(({ record, info }) => {
      // The parser itself counts a line break of two characters within quotes as two.
      const since = text.toString('latin1', read, info.bytes);
      [lines, read] = [lines + countBreaks(since), info.bytes];
      const within = record.reduce((sum, cell) => sum + countBreaks(cell), 0);
      const line = lines - within + (/[\r\n]$/.test(since) ? 0 : 1);
      return { line, cells: record.map((cell) => cell.replace(apostrophe, '')) };
    });
  } catch (error) {
    if (error instanceof CsvError) throw new NoCsv(`it is not valid CSV. Correct this error: ${error.message}`);
    throw error;
  }
}

function countBreaks(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}

function decode(bytes: Uint8Array): string {
  try {
    // Takes off the byte order mark, too.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (hasPgCode(error, 'ERR_STRING_TOO_LONG')) throw new NoCsv('it is larger than 512 MB. Split it');
    throw new NoCsv('it is not in UTF-8. Save it as "CSV UTF-8"');
  }
}
