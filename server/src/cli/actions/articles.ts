import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import * as z from 'zod';
import { type FolderFile, importArticles } from '../../resources/articles/article-import.ts';
import { activeTenantContext } from '../../resources/tenants/queries.ts';
import { CommandError } from '../lib/cli-errors.ts';
import { action } from '../lib/run-command.ts';

const maxShownProblems = 20;

const importFolder = action({
  input: z.strictObject({ folder: z.string(), tenant: z.string() }),
  work: async (runtime, { folder, tenant }) => {
    const context = await activeTenantContext(runtime, tenant);
    const files = await readMarkdown(folder);
    if (files.length === 0) throw new CommandError(`${folder} contains no *.md files. Choose a folder with articles`);
    const { problems, ...imported } = await importArticles(context, files);
    if (problems.length === 0) return imported;
    const shown = problems.slice(0, maxShownProblems);
    const lines = shown.map(({ path, message }) => `${join(folder, path)}: ${message}`);
    if (problems.length > shown.length) lines.push(`${folder}: and ${problems.length - shown.length} more`);
    throw new CommandError([...lines, `${folder}: nothing was imported`], problems);
  },
  format: ({ created, updated, unchanged }) => `Created: ${created}. Updated: ${updated}. Unchanged: ${unchanged}.`,
  hint: ({ missing }) =>
    missing.length === 0
      ? undefined
      : `The folder no longer contains the files of these articles, which stay unchanged: ${missing.join(', ')}. To hide an article, archive it in the developer area.`,
});

export { importFolder as import };

/** Reads all Markdown files in a folder and its subfolders, sorted by path. Skips hidden files and folders. */
async function readMarkdown(folder: string): Promise<FolderFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: Error) => {
    throw new CommandError(`${folder} can't be read: ${error.message}. Choose a folder that you can read`);
  });
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split(sep).some((part) => part.startsWith('.')));
  const files: FolderFile[] = [];
  for (const path of paths.sort()) {
    files.push({ path: path.split(sep).join('/').normalize('NFC'), content: await readFile(join(folder, path)) });
  }
  return files;
}
