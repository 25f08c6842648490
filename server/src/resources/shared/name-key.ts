import { normalizeText } from '@itsm-api/contract';

/**
 * Normalizes a name. Names that differ only in case or in compatible characters (NFKC) have the same normalized form.
 * Converts the name to upper case first, because only this conversion maps ß to SS (Unicode §3.13 D146).
 */
export function toNameKey(name: string): string {
  return normalizeText(normalizeText(name, 'NFKC').toUpperCase().toLowerCase(), 'NFKC');
}
