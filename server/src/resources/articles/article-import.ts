import { createHash } from 'node:crypto';
import { NewArticle, text } from '@itsm-api/contract';
import { Marked, type Token, type Tokens } from 'marked';
import { parse as parseYaml } from 'yaml';
import * as z from 'zod';
import { lockTenant } from '../../database/row-lock.ts';
import { detailsOf } from '../../shared/validation.ts';
import { chunksOf } from '../shared/chunks.ts';
import { type Context, transaction } from '../shared/context.ts';
import { reserveArticles, updateArticle } from './queries.ts';

/** A Markdown file in an imported folder. */
export interface FolderFile {
  /** The path relative to the folder, with `/` as the separator. */
  path: string;
  content: Uint8Array;
}

/** The result of an import. If there are problems, nothing was imported. */
interface ImportResult {
  created: number;
  updated: number;
  unchanged: number;
  /** The paths of articles from earlier imports whose files are missing. */
  missing: string[];
  problems: { path: string; message: string }[];
}

interface ImportedArticle extends NewArticle {
  path: string;
  importedHash: Uint8Array<ArrayBuffer>;
}

const Path = text(1, 500);

/**
 * Imports Markdown files as articles, in one transaction (docs/decisions/articles-design.md). Publishes new articles. Updates
 * articles whose files have changed since the last import, and keeps their status.
 * @throws ApiError VALIDATION_ERROR if the tenant would have too many articles
 */
export async function importArticles(context: Context, files: readonly FolderFile[]): Promise<ImportResult> {
  const parsed = files.map(parseFile);
  const problems = parsed.filter((each) => 'message' in each);
  const result: ImportResult = { created: 0, updated: 0, unchanged: 0, missing: [], problems };
  if (problems.length > 0) return result;
  const articles = parsed.filter((each) => 'body' in each);
  return transaction(context, async (context) => {
    const { db } = context;
    // Locks the tenant's articles, so that no other import adds articles with the same paths.
    await lockTenant(db, 'articles');
    const select = { id: true, path: true, importedHash: true } as const;
    const rows = await db.article.findMany({ where: { path: { not: null } }, select, orderBy: { path: 'asc' } });
    const known = new Map(rows.map((row) => [row.path, row]));
    const added = articles.filter(({ path }) => !known.has(path));
    await reserveArticles(context, added.length);
    for (const chunk of chunksOf(added, 50)) {
      await db.article.createMany({
        data: chunk.map(({ category, ...article }) => ({
          ...article,
          category: category ?? null,
          status: 'PUBLISHED' as const,
        })),
      });
    }
    const changed = articles.flatMap((article) => {
      const row = known.get(article.path);
      const isSame = row === undefined || Buffer.compare(row.importedHash ?? Buffer.of(), article.importedHash) === 0;
      return isSame ? [] : [{ ...article, id: Number(row.id) }];
    });
    for (const { id, title, category, body, importedHash } of changed) {
      await updateArticle(context, id, { title, category, body });
      await db.article.updateMany({ where: { id }, data: { importedHash } });
    }
    const paths = new Set(articles.map(({ path }) => path));
    return {
      created: added.length,
      updated: changed.length,
      unchanged: articles.length - added.length - changed.length,
      missing: rows.flatMap(({ path }) => (path === null || paths.has(path) ? [] : [path])),
      problems,
    };
  });
}

const FrontMatter = z.object({
  title: z.union([z.string(), z.number()]).transform(String).nullish(),
  category: z.union([z.string(), z.number()]).transform(String).nullish(),
});

/**
 * Converts a file to an article. If the file starts with the heading that becomes the title, the text omits this
 * heading.
 */
function parseFile({ path, content }: FolderFile): ImportedArticle | { path: string; message: string } {
  try {
    const whole = new TextDecoder('utf-8', { fatal: true }).decode(content).replaceAll('\r\n', '\n');
    const [head = '', yaml] = /^---\n([\s\S]*?\n)?---[ \t]*(?:\n|$)/.exec(whole) ?? [];
    const matter = FrontMatter.parse((yaml && parseYaml(yaml)) || {});
    const markdown = whole.slice(head.length).trim();
    const tokens = new Marked().lexer(markdown);
    const heading = tokens.find((token: Token): token is Tokens.Heading => token.type === 'heading');
    const isTitle = matter.title == null && heading === tokens[0];
    const [folder, ...rest] = path.split('/');
    const article = NewArticle.parse({
      title: matter.title ?? heading?.text,
      category: matter.category ?? (rest.length > 0 ? folder : null),
      body: isTitle ? markdown.slice(heading?.raw.length).trim() : markdown,
    });
    const hashed = JSON.stringify([article.title, article.category, article.body]);
    const importedHash = new Uint8Array(createHash('sha256').update(hashed).digest());
    return { ...article, path: Path.parse(path), importedHash };
  } catch (error) {
    return { path, message: problemOf(error) };
  }
}

function problemOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return error instanceof Error ? error.message : String(error);
  const [first] = detailsOf(error.issues, 'is unknown');
  return `${first?.path} ${first?.message}`.trim();
}
