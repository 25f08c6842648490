/** What pg has in `lib` and its types leave out. */
declare module 'pg/lib/utils.js' {
  /** A value as it is sent: text, bytes or null. */
  export function prepareValue(value: unknown): string | Buffer | null;
}
