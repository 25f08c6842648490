import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/*
 * Each text page contains its script and styles, so a browser loads the page with one request. The content security
 * policy allows the script and the styles by their hashes.
 */
export const script = (await read('frame.js')) + (await read('docs.js'));

const frameStyles = await read('frame.css');

/** The styles of text pages, such as guides. */
export const styles = frameStyles + (await read('shared.css')) + (await read('text.css'));

/** The styles of the API reference. */
export const referenceStyles = frameStyles + (await read('reference.css'));

/**
 * The content security policy of text pages. It allows only the inlined script and styles, images from this server, and
 * requests to this server.
 */
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
