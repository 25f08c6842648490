import type { CellStyle, Column, NounDeclaration } from './noun.ts';

type Row = Record<string, unknown>;

/** The fields that have the same name and style in all nouns. */
const common: Record<string, Exclude<Column, string>> = {
  active: { title: 'Status', style: 'status', cell: (row) => (row.active === true ? 'active' : 'inactive') },
  status: ['status', 'Status', 'status'],
  createdAt: ['createdAt', 'Created', 'time'],
  updatedAt: ['updatedAt', 'Updated', 'time'],
};

export interface DescribedColumn {
  title: string;
  style?: CellStyle | undefined;
  cell(row: Row): unknown;
}

/** Returns the titles, the styles and the functions of columns. */
export function describeColumns(columns: readonly Column[]): DescribedColumn[] {
  return columns.map((column) => {
    const given = typeof column === 'string' ? (common[column] ?? [column, toTitle(column)]) : column;
    if ('cell' in given) return given;
    const [name, title, style] = given;
    return { title, style, cell: (row: Row) => row[name] };
  });
}

/** Returns the default details of a row: all fields. */
export function allFields({ schemas }: NounDeclaration): Column[] {
  return Object.keys(schemas.row.shape).filter((name) => name !== 'etag');
}

/** Returns the name of a row in sentences, such as `OFFICE, New office (ID 3)`. */
export function nameRow({ title, key }: NounDeclaration, row: Row): string {
  const others = key.filter((name) => !title.includes(name));
  const ids = others.map((name) => (name === 'id' ? `ID ${row[name]}` : row[name]));
  return `${title.map((name) => row[name]).join(', ')} (${ids.join(', ')})`;
}

/** Returns a name with its article, such as `an asset`. */
export function withArticle(name: string): string {
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
}

/** Converts the name of a field to words, such as `managerId` to `Manager ID`. */
function toTitle(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/\bid(?=s?$)/, 'ID');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
