/** Declares an internal module of pg that pg's types omit. */
declare module 'pg/lib/utils.js' {
  /** Converts a parameter to its wire format: text, bytes or null. */
  export function prepareValue(value: unknown): string | Buffer | null;
}
