import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/*
 * What stands in every page, so that nothing but the page is asked for. It may, because the policy names its hash.
 */
export const script = (await read('frame.js')) + (await read('script.js'));

const frameStyles = await read('frame.css');

/** Of pages of words. */
export const styles = frameStyles + (await read('text.css'));

/** Of the reference. */
export const referenceStyles = frameStyles + (await read('reference.css'));

/** Allows these styles, this script, and what the script fetches: nothing else, and from nobody else. */
export const policy = [
  "default-src 'none'",
  `script-src ${sourceOf(script)}`,
  `style-src ${sourceOf(styles)}`,
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function read(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), 'utf8');
}
