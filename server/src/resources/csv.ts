import { CsvError, parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';

/*
 * CSV as spreadsheets write and read it. They work out what begins like a formula, whoever wrote it: before such text an
 * apostrophe is written, and taken off again where it is read (docs/decisions/assets.md#csv).
 */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;
const apostrophe = /^'(?='*[=+\-@\t\r\n＝＋－＠])/;

/** A line of CSV, with its end. */
export function csvLine(cells: readonly unknown[]): string {
  const safe = cells.map((cell) => (typeof cell === 'string' && formula.test(cell) ? `'${cell}` : cell));
  // Left to itself, it writes nothing for false and 1 for true.
  return stringify([safe], { cast: { boolean: String } });
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
  const text = decode(bytes);
  try {
    const records = parse(
      // The parser counts a line break of two characters within quotes as two lines.
      text.replaceAll(/\r\n?/g, '\n'),
      {
        info: true,
        trim: true,
        relax_column_count: true,
        skip_empty_lines: true,
        skip_records_with_empty_values: true,
        max_record_size: recordBytes,
        to: most,
      },
    ) as unknown as { record: string[]; info: { lines: number } }[];
    return records.map(({ record, info }) => ({
      cells: record.map((cell) => cell.replace(apostrophe, '')),
      line: info.lines - record.join('').split('\n').length + 1,
    }));
  } catch (error) {
    if (error instanceof CsvError) throw new NoCsv(`it is not valid CSV: ${error.message}`);
    throw error;
  }
}

function decode(bytes: Uint8Array): string {
  try {
    // Takes off the byte order mark, too.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new NoCsv('it is not in UTF-8; save it as "CSV UTF-8"');
  }
}
