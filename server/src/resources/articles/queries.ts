import type {
  Article,
  ArticlePatch,
  ArticleQuery,
  ArticleStatus,
  ArticleSummary,
  NewArticle,
  PageQuery,
} from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { empty, sql, tenant } from '../../database/client/sql.ts';
import { dynamic } from '../../database/client/statements.ts';
import { lockRow, lockTenant } from '../../database/row-lock.ts';
import { ApiError, notFound, requireRow } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeId, serializeTimestamps } from '../../shared/serialize.ts';
import { type Context, transaction } from '../shared/context.ts';
import { anyOf, type Page, pageMeta, readPage } from '../shared/lists.ts';
import { rejectBroadQuery, searchTexts } from '../shared/search.ts';
import { changeVersioned } from '../shared/versioned-change.ts';
import type { FeedRows } from '../sync/change-feed.ts';

type ArticleRow = Prisma.ArticleGetPayload<object>;

/** The maximum number of articles of a tenant, in any status. A search finds at most this number of articles. */
export const maxArticles = 10_000;

/** An article in the developer area. The status can be DRAFT, and the text is never null. */
export interface EditableArticle extends Omit<Article, 'status' | 'body'> {
  status: ArticleStatus;
  body: string;
  /** The path of the file from which `itsm articles import` created the article. */
  path: string | null;
}

/** An article in the list of the developer area. */
type ListedArticle = Omit<EditableArticle, 'body' | 'path'>;

/** The filters of the list in the developer area. */
interface ListedQuery extends PageQuery {
  status?: ArticleStatus | undefined;
  q?: string | undefined;
}

/** Returns a page of published articles (docs/decisions/articles-design.md). */
export async function listArticles(context: Context, query: ArticleQuery): Promise<Page<ArticleSummary>> {
  const { data, meta } = await readArticles(context, query, { status: ['PUBLISHED'], category: query.category });
  return { data: data.map((article) => ({ ...article, status: 'PUBLISHED' })), meta };
}

/** Returns a page of all articles, including drafts, in the order of `listArticles`. */
export function listAllArticles(context: Context, query: ListedQuery): Promise<Page<ListedArticle>> {
  return readArticles(context, query, { status: query.status && [query.status] });
}

/** The columns of a list. The text can have 256 KiB, so lists don't read it. */
const summaryColumns = {
  ...{ id: true, title: true, category: true, status: true },
  ...{ version: true, createdAt: true, updatedAt: true },
} as const;

interface Filters {
  status?: ArticleStatus[] | undefined;
  category?: string[] | undefined;
}

async function readArticles(
  { db }: Context,
  query: PageQuery & { q?: string | undefined },
  { status, category }: Filters,
): Promise<Page<ListedArticle>> {
  const where = { ...anyOf('status', status), ...anyOf('category', category) };
  const select = summaryColumns;
  if (query.q === undefined) {
    return readPage(query, {
      count: () => db.article.count({ where }),
      find: async (range) =>
        (await db.article.findMany({ where, select, orderBy: { id: 'desc' }, ...range })).map(presentListed),
    });
  }
  const { page, perPage, q } = query;
  // With at most `maxArticles` articles, the search finds every match.
  const search = dynamic<{ count: number; ids: number[] | null }>(
    () => sql`
    WITH titled AS MATERIALIZED (${searchTexts('kb_titles', q, 'DESC')}),
      found AS MATERIALIZED (${searchTexts('articles', q, 'DESC')}),
      matching AS MATERIALIZED (
        SELECT a.id, titled.id IS NOT NULL AS in_title
        FROM found JOIN articles a USING (id) LEFT JOIN titled USING (id)
        WHERE a.tenant_id = ${tenant}
          ${status === undefined ? empty : sql`AND a.status = ANY (${status}::text[])`}
          ${category === undefined ? empty : sql`AND a.category = ANY (${category}::text[])`}
      )
    SELECT (SELECT count(*) FROM matching)::int AS count,
      (SELECT json_agg(id) FROM (
        SELECT id FROM matching ORDER BY in_title DESC, id DESC LIMIT ${perPage} OFFSET ${(page - 1) * perPage}
      ) AS page) AS ids`,
  );
  const [found] = await rejectBroadQuery(() => db.$sql(search));
  const ids = found?.ids ?? [];
  const rows = ids.length === 0 ? [] : await db.article.findMany({ where: { ...where, id: { in: ids } }, select });
  const byId = new Map(rows.map((row) => [Number(row.id), presentListed(row)]));
  return { data: ids.flatMap((id) => byId.get(id) ?? []), meta: pageMeta(query, { totalCount: found?.count ?? 0 }) };
}

/** Returns a published article. @throws ApiError NOT_FOUND */
export async function getArticle({ db }: Context, id: number): Promise<Article> {
  return presentArticle(requireRow(await db.article.findFirst({ where: { id, status: 'PUBLISHED' } }), 'article'));
}

/** Returns an article in any status, for the developer area. @throws ApiError NOT_FOUND */
export async function getEditableArticle({ db }: Context, id: number): Promise<EditableArticle> {
  return presentEditable(requireRow(await db.article.findFirst({ where: { id } }), 'article'));
}

/** Reads the articles that are or were published, for incremental sync. Triggers add no other articles to the feed. */
export const articleFeed: FeedRows<Article> = {
  resource: 'articles',
  selectRows: async (db, ids) => (await db.article.findMany({ where: { id: { in: ids } } })).map(presentArticle),
};

/** Creates a draft. @throws ApiError VALIDATION_ERROR if the tenant has `maxArticles` articles */
export function createArticle(context: Context, { category, ...input }: NewArticle): Promise<EditableArticle> {
  return transaction(context, async (context) => {
    await reserveArticles(context, 1);
    return presentEditable(await context.db.article.create({ data: { ...input, category: category ?? null } }));
  });
}

/**
 * Checks that the tenant can have more articles. Locks the tenant's articles until the end of the transaction, so that
 * concurrent transactions can't exceed the limit together.
 * @throws ApiError VALIDATION_ERROR
 */
export async function reserveArticles({ db }: Context, count: number): Promise<void> {
  await lockTenant(db, 'articles');
  if ((await db.article.count()) + count <= maxArticles) return;
  throw new ApiError(
    'VALIDATION_ERROR',
    `A workspace has at most ${maxArticles} articles, including drafts and archived articles. Edit an existing article instead.`,
  );
}

/**
 * Updates an article. If the patch changes nothing, `updatedAt` stays the same.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED
 */
export function updateArticle(context: Context, id: number, patch: ArticlePatch): Promise<EditableArticle> {
  return changeVersioned(context, {
    lock: ({ db }) => lockRow(db, 'articles', id),
    read: (context) => getEditableArticle(context, id),
    merge: (before) => ({ ...before, ...patch }),
    write: async ({ db }, { before, after: { title, category, body, status } }) => {
      const isWithdrawn = before.status === 'PUBLISHED' && status !== 'PUBLISHED';
      const [row] = await db.article.updateManyAndReturn({
        where: { id },
        data: {
          ...{ title, category: category ?? null, body, status },
          ...(isWithdrawn && { withdrawnTitle: before.title, withdrawnCategory: before.category }),
        },
      });
      if (row === undefined) throw notFound('article');
      return presentEditable(row);
    },
  });
}

/**
 * Serializes an article for API responses. Shows an article that isn't published as it was when it was last published,
 * but without its text.
 */
function presentArticle(row: ArticleRow): Article {
  const isPublished = row.status === 'PUBLISHED';
  return withEtag(row.version, {
    id: serializeId(row.id),
    title: isPublished ? row.title : (row.withdrawnTitle ?? row.title),
    category: isPublished || row.withdrawnTitle === null ? row.category : row.withdrawnCategory,
    status: isPublished ? 'PUBLISHED' : 'ARCHIVED',
    body: isPublished ? row.body : null,
    ...serializeTimestamps(row),
  });
}

function presentListed(row: Pick<ArticleRow, keyof typeof summaryColumns>): ListedArticle {
  return withEtag(row.version, {
    id: serializeId(row.id),
    title: row.title,
    category: row.category,
    status: row.status,
    ...serializeTimestamps(row),
  });
}

function presentEditable(row: ArticleRow): EditableArticle {
  return { ...presentListed(row), body: row.body, path: row.path };
}
