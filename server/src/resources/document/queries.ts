import { createHash } from 'node:crypto';
import {
  type DescribedWorkspace,
  maxListedCategories,
  openApiDocument,
  splitDocument,
} from '@itsm-api/contract/openapi';
import type { FastifyRequest } from 'fastify';
import { sql } from '../../database/client/sql.ts';
import { type None, one } from '../../database/client/statements.ts';
import { includesEtag } from '../../shared/etag.ts';
import { lazy } from '../../shared/lazy.ts';

/** Returns the document without the parts that depend on a workspace, and a hash of it that identifies the release. */
const findDocument = lazy(() => {
  const { shared, complete } = splitDocument(openApiDocument());
  return { complete, release: createHash('sha256').update(Buffer.concat(shared)).digest('base64url').slice(0, 12) };
});

/** Whether every stored value of a field has its JSON type, according to a count after the last change of its definition. */
const isUniform = sql`(active AND nonconforming = 0 AND counted_at > updated_at)`;

/** What the document of a workspace depends on, as far as one small row describes it. */
interface Facts extends Pick<DescribedWorkspace, 'isStrict' | 'hasCategories'> {
  /** A hash that changes with the fields, the ticket categories and the strict mode. */
  tag: string;
  /** The fields that are uniform, such as `TICKET.site`. */
  uniform: string[];
}

const selectFacts = one<None, Facts>(
  ({ tenant }) => sql`SELECT md5(concat_ws(' ', fields.tag, uniform, categories.tag, "isStrict")) AS tag,
      uniform, "hasCategories", "isStrict"
    FROM (SELECT string_agg(concat_ws(' ', resource, key, version, updated_at), ',' ORDER BY resource, key) AS tag,
        coalesce(json_agg(resource || '.' || key ORDER BY resource, key) FILTER (WHERE ${isUniform}), '[]') AS uniform
      FROM custom_field_definitions WHERE tenant_id = ${tenant}) AS fields,
    (SELECT concat_ws(' ', count(*), sum(version), max(updated_at)) AS tag, count(*) > 0 AS "hasCategories"
      FROM ticket_categories WHERE tenant_id = ${tenant}) AS categories,
    (SELECT coalesce(bool_or(strict_custom_fields), false) AS "isStrict"
      FROM ticket_sequences WHERE tenant_id = ${tenant}) AS mode`,
);

/**
 * Returns the bytes of the workspace's OpenAPI document, and sets the headers of the response. If the client has the
 * current document, reads only its ETag, and returns no bytes, because the response is a 304.
 */
export async function readDocument(
  { ctx, headers, method }: Pick<FastifyRequest, 'ctx' | 'headers' | 'method'>,
  reply: { headers(values: Record<string, string>): unknown },
): Promise<Buffer> {
  const { db, isImport = false } = ctx;
  const { release, complete } = await findDocument();
  const { tag, uniform, ...facts } = (await db.$sql(selectFacts)) as Facts;
  const etag = `"${release}-${tag}${isImport ? '-import' : ''}"`;
  reply.headers({ etag, 'cache-control': 'private, no-cache', 'content-type': 'application/json; charset=utf-8' });
  if (method === 'GET' && includesEtag(headers['if-none-match'] ?? '', etag)) return Buffer.of();
  const fields = await db.customFieldDefinition.findMany({ orderBy: [{ resource: 'asc' }, { key: 'asc' }] });
  const where = { active: true };
  const categories = await db.categoryConfig.findMany({ where, orderBy: { id: 'asc' }, take: maxListedCategories + 1 });
  const chunks = complete({
    ...facts,
    fields: fields.map((field) => ({ ...field, isUniform: uniform.includes(`${field.resource}.${field.key}`) })),
    isRequiring: !isImport,
    categories,
  });
  return Buffer.concat(chunks);
}
