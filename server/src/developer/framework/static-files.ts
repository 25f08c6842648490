import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { serveSharedFiles } from '../../http/shared-files.ts';

const readText = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');

/** The developer area uses the documentation site's style sheets and script, and adds its own. */
const styles = ['../../docs-site/frame.css', '../../docs-site/shared.css', '../ui/style.css'];
const style = (await Promise.all(styles.map(readText))).join('');
const script = (await readText('../../docs-site/frame.js')) + (await readText('../ui/script.js'));

export const stylePath = toPath(style, 'css');
export const scriptPath = toPath(script, 'js');

/**
 * Serves the style sheet and the script. Their paths contain a hash of the content, so browsers can cache them forever.
 */
export async function addStaticFiles(app: FastifyInstance): Promise<void> {
  await app.register(async (scope) => {
    serveSharedFiles(scope, 'public, max-age=31536000, immutable');
    scope.get(stylePath, (_request, reply) => reply.type('text/css; charset=utf-8').send(style));
    scope.get(scriptPath, (_request, reply) => reply.type('text/javascript; charset=utf-8').send(script));
  });
}

function toPath(text: string, extension: string): string {
  return `/developer/files/${createHash('sha256').update(text).digest('base64url').slice(0, 16)}.${extension}`;
}
