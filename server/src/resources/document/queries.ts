import { createHash } from 'node:crypto';
import { maxWorkspaceOptions } from '@itsm-api/contract';
import {
  type DescribedField,
  type DescribedWorkspace,
  maxListedCategories,
  splitDocument,
} from '@itsm-api/contract/openapi';
import type { FastifyRequest } from 'fastify';
import { sql, tenant } from '../../database/client/sql.ts';
import { oneAsJson, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { findApiDocument } from '../../shared/api-document.ts';
import { createByteCache } from '../../shared/content/byte-cache.ts';
import { bestEncoders, encodingFor, type ReplyHeaders, varyByEncoding } from '../../shared/content/content-encoding.ts';
import { includesEtag } from '../../shared/etag.ts';
import { lazy } from '../../shared/lazy.ts';
import { findForms, type ResolvedForm } from '../request-forms/stored-form.ts';

/** Returns the document without the parts that depend on a workspace, and a hash of it that identifies the release. */
const findDocument = lazy(async () => {
  const { shared, complete } = splitDocument(await findApiDocument());
  return { complete, release: createHash('sha256').update(Buffer.concat(shared)).digest('base64url').slice(0, 12) };
});

/** Whether every stored value of a field has its JSON type, according to a count after the last change of its definition. */
const isUniform = sql`(active AND nonconforming = 0 AND counted_at > updated_at)`;

/** What the document of a workspace depends on, as far as one small row describes it. */
interface Facts extends Pick<DescribedWorkspace, 'isStrict' | 'hasCategories'> {
  /** A hash that changes with the fields, the ticket categories, the forms and the strict mode. */
  tag: string;
  /** The fields that are uniform, such as `TICKET.site`. */
  uniform: string[];
}

const selectFacts = oneAsJson<{ readsCategories: boolean }, Facts>(
  ({ readsCategories }) => sql`SELECT
      md5(concat_ws(' ', fields.tag, uniform, categories.tag, forms.tag, "isStrict")) AS tag, uniform, "hasCategories", "isStrict"
    FROM (SELECT string_agg(concat_ws(' ', resource, key, version, updated_at), ',' ORDER BY resource, key) AS tag,
        coalesce(json_agg(resource || '.' || key ORDER BY resource, key) FILTER (WHERE ${isUniform}), '[]') AS uniform
      FROM custom_field_definitions WHERE tenant_id = ${tenant}) AS fields,
    (SELECT concat_ws(' ', count(*), sum(version), max(updated_at)) AS tag, count(*) > 0 AS "hasCategories"
      FROM ticket_categories WHERE tenant_id = ${tenant} AND ${readsCategories}) AS categories,
    (SELECT concat_ws(' ', count(*), sum(version), max(updated_at)) AS tag
      FROM request_forms WHERE tenant_id = ${tenant}) AS forms,
    (SELECT coalesce(bool_or(strict_custom_fields), false) AS "isStrict"
      FROM ticket_sequences WHERE tenant_id = ${tenant}) AS mode`,
);

/** Reads the definitions, without their options if there are more than a workspace can have. */
const selectFields = rows<{ maxOptions: number }, Omit<DescribedField, 'isUniform'>>(
  ({ maxOptions }) => sql`SELECT resource, key, type, label, description, required, filterable, active,
      CASE WHEN sum(jsonb_array_length(options)) OVER () <= ${maxOptions} THEN options END AS options
    FROM custom_field_definitions WHERE tenant_id = ${tenant} ORDER BY resource, key`,
);

/** The encoded documents of all workspaces, at most 32 MiB. A document has up to 3 MB before its compression. */
const findEncoded = createByteCache(32 * 2 ** 20);

/**
 * Returns the bytes of the workspace's OpenAPI document, and sets the headers of the response. If the client has the
 * current document, reads only its ETag, and returns no bytes, because the response is a 304.
 */
export async function readDocument(request: FastifyRequest, reply: ReplyHeaders): Promise<Buffer> {
  const { ctx, headers, identity, method } = request;
  const { db, isImport = false } = ctx;
  const { release, complete } = await findDocument();
  const facts = (await db.$sql(selectFacts, { readsCategories: identity.scopes.has('tickets:read') })) as Facts;
  const encoding = encodingFor(request);
  const etag = `"${release}-${facts.tag}${isImport ? '-import' : ''}-${encoding}"`;
  varyByEncoding(reply);
  reply.header('etag', etag);
  reply.header('cache-control', 'private, no-cache');
  reply.header('content-type', 'application/json; charset=utf-8');
  if (method === 'GET' && includesEtag(headers['if-none-match'] ?? '', etag)) return Buffer.of();
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return findEncoded(`${db.$tenantId} ${etag}`, async () => {
    const workspace = await describeWorkspace(db, facts);
    return bestEncoders[encoding](Buffer.concat(complete({ ...workspace, isRequiring: !isImport })));
  });
}

/** Returns the parts of a form that the document describes. */
function describeForm({ key, name, questions }: ResolvedForm): DescribedWorkspace['forms'][number] {
  const asked = questions.map(({ key, required, default: preset, help }) => ({ key, required, default: preset, help }));
  return { key, name, questions: asked };
}

async function describeWorkspace(
  db: TenantClient,
  { uniform, isStrict, hasCategories }: Facts,
): Promise<Omit<DescribedWorkspace, 'isRequiring'>> {
  const fields = await db.$sql(selectFields, { maxOptions: maxWorkspaceOptions });
  const where = { active: true };
  const categories = hasCategories
    ? await db.ticketCategory.findMany({ where, orderBy: { id: 'asc' }, take: maxListedCategories + 1 })
    : [];
  return {
    isStrict,
    hasCategories,
    fields: fields.map((field) => ({ ...field, isUniform: uniform.includes(`${field.resource}.${field.key}`) })),
    categories,
    forms: (await findForms(db)).filter(({ active }) => active).map(describeForm),
  };
}
