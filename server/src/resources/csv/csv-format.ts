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
  const safe = cells.map((cell) => (typeof cell === 'string' && formula.test(cell) ? `'${cell}` : cellText(cell)));
  return stringify([safe], {
    // Quotes cells that contain carriage returns and cells that start or end with white space. CSV readers would remove
    // these characters from unquoted cells.
    quoted_match: /^\s|\s$|\r/,
  });
}

/** Returns the text that `parseCsv` reads from a cell with this value. */
export function cellText(value: unknown): string {
  if (value == null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A record of a CSV file. */
export interface CsvRecord {
  /** The number of the line where the record begins. The first line is 1. */
  line: number;
  cells: string[];
}

/** A parsed CSV file. */
export interface CsvFile {
  /** The character between the cells. */
  delimiter: string;
  records: CsvRecord[];
}

/** The maximum size of a CSV record in bytes. */
const recordBytes = 256 * 1024;

/** The delimiters that spreadsheet programs use, depending on the language. The first one is the default. */
const delimiters = [',', ';', '\t'];

/** The error for a file that is not CSV in UTF-8. */
export class NoCsv extends Error {
  override name = 'NoCsv';
  /** The number of the line where the invalid cell begins. Undefined if the error affects the whole file. */
  readonly line: number | undefined;
  /** The column of the invalid cell, or `cell 2` if the column has no name. Empty if the error affects the whole file. */
  readonly column: string;

  /** @param message can follow the column, or otherwise the file name and a colon */
  constructor(message: string, line?: number, column = '') {
    super(message);
    this.line = line;
    this.column = column;
  }
}

/**
 * Parses a CSV file in UTF-8. Skips empty records. A first line such as `sep=;` defines the delimiter. Without this line,
 * the delimiter is the character that splits the header into the most known columns.
 * @param columns the names of the known columns
 * @param max the maximum number of records to return; errors in later records are not reported
 * @throws NoCsv
 */
export function parseCsv(bytes: Uint8Array, columns: readonly string[], max: number): CsvFile {
  const file = decode(bytes);
  const [firstLine = '', separator] = /^"?sep=([^"\r\n])"?(?:\r\n|\r|\n|$)/iu.exec(file) ?? [];
  const text = Buffer.from(file.slice(firstLine.length));
  const delimiter = separator ?? findDelimiter(text, columns);
  const start = firstLine === '' ? 1 : 2;
  try {
    let [lines, read] = [start, 0];
    const records = readRecords(text, delimiter, max).map(({ record, info }) => {
      // Doesn't use the parser's line numbers, because the parser counts a quoted CRLF as two line breaks.
      const since = text.toString('latin1', read, info.bytes);
      [lines, read] = [lines + countBreaks(since), info.bytes];
      const within = record.reduce((sum, cell) => sum + countBreaks(cell), 0);
      const line = lines - within - (/[\r\n]$/.test(since) ? 1 : 0);
      return { line, cells: record.map((cell) => cell.replace(apostrophe, '')) };
    });
    return { delimiter, records };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { bytes: endOfPrevious, index } = error as unknown as { bytes: number; index: number };
    // White space and empty lines can precede the cell.
    const [gap = ''] = /^\s*/.exec(text.toString('latin1', endOfPrevious)) ?? [];
    const line = start + countBreaks(text.toString('latin1', 0, endOfPrevious) + gap);
    const column = readHeader(text, delimiter)[index] || `cell ${index + 1}`;
    throw new NoCsv(cellErrors[error.code] ?? error.message, line, column);
  }
}

const quoteError = 'continues after its closing quote, so the file is not valid CSV. Double each quote in the value';

/** The descriptions of the parser's errors, which complete a sentence that begins with the column name. */
const cellErrors: Record<string, string> = {
  INVALID_OPENING_QUOTE:
    'contains a quote but does not start with one, so the file is not valid CSV. ' +
    'Put quotes around the value, and double each quote in it',
  CSV_INVALID_CLOSING_QUOTE: quoteError,
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: quoteError,
  CSV_QUOTE_NOT_CLOSED: 'has no closing quote, so the file is not valid CSV. Add the quote',
  CSV_MAX_RECORD_SIZE: 'is in a row of more than 256 KiB. Shorten the row, or add a missing quote',
};

function readRecords(text: Buffer, delimiter: string, max: number) {
  return parse(text, {
    delimiter,
    info: true,
    trim: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: recordBytes,
    to: max,
  }) as unknown as { record: string[]; info: { bytes: number } }[];
}

/** Returns the cells of the header. Returns none if the header is not valid CSV with this delimiter. */
function readHeader(text: Buffer, delimiter: string): string[] {
  try {
    return readRecords(text, delimiter, 1)[0]?.record ?? [];
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
}

/** Returns the delimiter that splits the header into the most known columns, or else into the most cells. */
function findDelimiter(text: Buffer, columns: readonly string[]): string {
  const [best] = delimiters
    .map((delimiter) => ({ delimiter, header: readHeader(text, delimiter) }))
    .map(({ delimiter, header }) => ({
      delimiter,
      cells: header.length,
      known: header.filter((name) => findNames(columns, name).length > 0).length,
    }))
    .toSorted((a, b) => b.known - a.known || b.cells - a.cells);
  return best?.delimiter ?? ',';
}

/** Returns the names that a heading can mean: the exact name, or otherwise all names that differ only in case. */
export function findNames(names: readonly string[], heading: string): string[] {
  if (names.includes(heading)) return [heading];
  return [...new Set(names.filter((name) => name.toLowerCase() === heading.toLowerCase()))];
}

function countBreaks(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}

/** Decodes UTF-8, and removes the byte order mark. @throws NoCsv, with the encoding if the file has another one */
function decode(bytes: Uint8Array): string {
  const [first, second, third, fourth] = bytes;
  // The first character of a CSV file is in ASCII, or it is a byte order mark.
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (hasMark || first === 0 || second === 0) {
    const isLong = (first === 0 && second === 0) || (third === 0 && fourth === 0);
    throw new NoCsv(`the file is not in UTF-8, but in UTF-${isLong ? 32 : 16}. Save it as "CSV UTF-8"`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (hasErrorCode(error, 'ERR_STRING_TOO_LONG')) throw new NoCsv('the file is larger than 512 MB. Split it');
    throw new NoCsv('the file is not in UTF-8, but in an older encoding, such as Windows-1252. Save it as "CSV UTF-8"');
  }
}
