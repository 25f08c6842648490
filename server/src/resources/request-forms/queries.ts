import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type AdministeredForm,
  answersSchema,
  maxCustomFieldBytes,
  maxRequestForms,
  type NewRequestForm,
  type PageQuery,
  type RequestForm,
  type RequestFormDetail,
  type RequestFormPatch,
} from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { json } from '../../database/client/json-column.ts';
import { createUnique } from '../../database/client/unique-violation.ts';
import { lockTenant } from '../../database/row-lock.ts';
import { invalidField, notFound } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeId, serializeTimestamps } from '../../shared/serialize.ts';
import { nearestName } from '../../shared/suggestion.ts';
import { validationError } from '../../shared/validation.ts';
import { auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { findMisfit } from '../custom-fields/value-checks.ts';
import { type Context, transaction } from '../shared/context.ts';
import { checkReferences, noReferences, reference } from '../shared/foreign-keys.ts';
import { type Page, readPage, slicePage } from '../shared/lists.ts';
import { changeVersioned } from '../shared/versioned-change.ts';
import { rowsOf } from '../sync/change-feed.ts';
import { findForm, findForms, type ResolvedForm } from './stored-form.ts';
import { namesIn, titleTypes } from './ticket-texts.ts';

/** Returns a page of forms, in the order of their keys. */
export function listRequestForms({ db }: Context, query: PageQuery): Promise<Page<RequestForm>> {
  return readPage(query, {
    count: () => db.requestForm.count(),
    // `orderBy` is set if the page is nearer to the end of the list.
    find: async ({ orderBy, ...range }) => {
      const direction = orderBy === undefined ? 'asc' : 'desc';
      return (await db.requestForm.findMany({ orderBy: { key: direction }, ...range })).map(presentForm);
    },
  });
}

/** Functions that read forms for incremental sync. */
export const requestFormRows = rowsOf('request_forms', (db, page) => db.requestForm.findMany(page), presentForm);

/** Returns one form with the JSON Schema of its answers. @throws ApiError NOT_FOUND */
export async function getRequestForm({ db }: Context, key: string): Promise<RequestFormDetail> {
  const form = await findForm(db, key);
  if (form === undefined) throw notFound('request form', 'key');
  const schema = answersSchema(form.name, form.questions);
  const hash = createHash('sha256').update(JSON.stringify(schema)).digest('base64url').slice(0, 12);
  const { etag, ...presented } = presentForm(form);
  // The definitions of the fields can change the schema without a new version of the form.
  return { ...presented, fields: form.fields, schema, etag: `${etag.slice(0, -1)}-${hash}"` };
}

/** Returns true if the workspace has an active form. */
export async function hasActiveForm({ db }: Context): Promise<boolean> {
  return (await db.requestForm.findFirst({ where: { active: true }, select: { id: true } })) !== null;
}

/** Returns a page of forms as administrators see them, in the order of their keys. */
export async function listAdministeredForms({ db }: Context, query: PageQuery): Promise<Page<AdministeredForm>> {
  return slicePage(query, (await findForms(db)).map(presentAdministered));
}

/** Returns one form as administrators see it. @throws ApiError NOT_FOUND */
export async function getAdministeredForm({ db }: Context, key: string): Promise<AdministeredForm> {
  const form = await findForm(db, key);
  if (form === undefined) throw notFound('request form', 'key');
  return presentAdministered(form);
}

/** Creates an active form. @throws ApiError VALIDATION_ERROR, INVALID_REFERENCE */
export function createForm(context: Context, { key, ...input }: NewRequestForm): Promise<AdministeredForm> {
  return transaction(context, async (context) => {
    const { db } = context;
    await lockTenant(db, 'requestForms');
    if ((await db.requestForm.count()) >= maxRequestForms) {
      const message = `is too much: a workspace has at most ${maxRequestForms} forms, including inactive ones. Change an existing form instead.`;
      throw invalidField('VALIDATION_ERROR', 'key', message);
    }
    const written = toColumns(input);
    await checkForm(context, written);
    const plainKey = key.replaceAll('-', '');
    const message = `${key}, without its hyphens, is already used by another form. Choose a different key.`;
    await createUnique('key', message, () =>
      db.requestForm.createMany({ data: [{ key, plainKey, ...written, fields: json(written.fields) }] }),
    );
    const form = await getAdministeredForm(context, key);
    const changes = auditChanges({}, form, stored);
    await recordAudit(context, { action: 'form.created', target: targetOf(form), changes });
    return form;
  });
}

/**
 * Updates a form. If the patch changes nothing, `updatedAt` stays the same.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, VALIDATION_ERROR, INVALID_REFERENCE
 */
export function updateForm(context: Context, key: string, patch: RequestFormPatch): Promise<AdministeredForm> {
  return changeVersioned(context, {
    lock: ({ db }) => lockTenant(db, 'requestForms'),
    read: (context) => getAdministeredForm(context, key),
    merge: (before) => ({ ...before, ...patch }),
    write: async (context, { before, after }) => {
      const written = toColumns(after);
      await checkForm(context, written, before);
      const data = { ...written, active: after.active, fields: json(written.fields) };
      await context.db.requestForm.updateMany({ where: { key }, data });
      const form = await getAdministeredForm(context, key);
      const changes = auditChanges(before, form, stored, nameOnly);
      await recordAudit(context, { action: 'form.updated', target: targetOf(before), changes });
      return form;
    },
  });
}

/** The columns that administrators write, apart from the key and the status. */
type Written = ReturnType<typeof toColumns>;

function toColumns(form: Omit<NewRequestForm, 'key'>) {
  const { name, description = null, type, category = null, categoryConfigId = null, priority = 'MEDIUM' } = form;
  const { teamId = null, tags = [], titleTemplate = null, fields = [] } = form;
  return { name, description, type, category, categoryConfigId, priority, teamId, tags, titleTemplate, fields };
}

/**
 * Checks the parts of a form that differ from its previous version, so that a form with an inactive team or option can
 * still change.
 * @throws ApiError VALIDATION_ERROR, INVALID_REFERENCE
 */
async function checkForm(context: Context, form: Written, before?: AdministeredForm): Promise<void> {
  await checkReferences(context, {
    ...noReferences,
    teams: reference('teamId', form.teamId, before?.teamId),
    categories: reference('categoryConfigId', form.categoryConfigId, before?.categoryConfigId),
  });
  const { fields, titleTemplate } = form;
  if (isDeepStrictEqual([fields, titleTemplate], [before?.fields, before?.titleTemplate])) return;
  const where = { resource: 'TICKET' as const, key: { in: fields.map(({ key }) => key) } };
  const definitions = await context.db.customFieldDefinition.findMany({ where });
  const ofKey = new Map(definitions.map((definition) => [definition.key, definition]));
  const details = fields.flatMap((field) => {
    // The key identifies the line of a field in the text that administrators write.
    const path = `fields.${field.key}`;
    if (before?.fields.some((each) => isDeepStrictEqual(each, field))) return [];
    const definition = ofKey.get(field.key);
    if (!definition?.active) {
      return [{ path, message: 'must be an active custom field of tickets. Define it first.' }];
    }
    const allowed = definition.options?.flatMap(({ value, active }) => (active ? [value] : [])) ?? null;
    return (['default', 'fixed'] as const).flatMap((name) => {
      const message = field[name] === null ? undefined : findMisfit({ ...definition, allowed }, field[name]);
      return message === undefined ? [] : [{ path: `${path}.${name}`, message }];
    });
  });
  const presets = fields.map((field) => [field.key, field.fixed ?? field.default]);
  if (Buffer.byteLength(JSON.stringify(Object.fromEntries(presets))) > maxCustomFieldBytes / 2) {
    const message = `must have at most ${maxCustomFieldBytes / 2} bytes of defaults and fixed values as JSON`;
    details.push({ path: 'fields', message });
  }
  const titled = fields.filter(
    ({ key, fixed }) => fixed === null && titleTypes.includes(ofKey.get(key)?.type as never),
  );
  const message = findTemplateFault(
    titleTemplate ?? '',
    titled.map(({ key }) => key),
  );
  if (message !== undefined) details.push({ path: 'titleTemplate', message });
  if (details.length > 0) throw validationError(details);
}

/** Returns what is wrong with a template, or undefined if it is valid. @param keys the fields that it can name */
function findTemplateFault(template: string, keys: readonly string[]): string | undefined {
  const unknown = namesIn(template).find((name) => name === undefined || !keys.includes(name));
  if (unknown === undefined) {
    return namesIn(template).includes(undefined) ? 'must have braces only around the keys of fields' : undefined;
  }
  const nearest = nearestName(unknown, keys);
  const next = nearest === undefined ? '' : ` Did you mean \`{${nearest}}\`?`;
  return `must name questions of the form with a type other than MULTI_SELECT and USER.${next}`;
}

/** The fields of a form whose values the audit log stores. Of texts, it stores only that they changed. */
const stored = ['type', 'category', 'categoryConfigId', 'priority', 'teamId', 'tags', 'active'] as const;
const nameOnly = ['name', 'description', 'titleTemplate', 'fields'] as const;

function targetOf({ key }: AdministeredForm) {
  return { type: 'form', id: key } as const;
}

/** The columns that every API key can read. */
type Shown = Pick<
  Prisma.RequestFormGetPayload<object>,
  'key' | 'name' | 'description' | 'active' | 'type' | 'priority' | 'tags' | 'titleTemplate' | 'version'
> &
  Parameters<typeof serializeTimestamps>[0] & { id: bigint | number };

/** Serializes a form for API responses. */
function presentForm(row: Shown): RequestForm {
  return withEtag(row.version, {
    id: serializeId(row.id),
    key: row.key,
    name: row.name,
    description: row.description,
    active: row.active,
    type: row.type,
    priority: row.priority,
    tags: row.tags,
    titleTemplate: row.titleTemplate,
    ...serializeTimestamps(row),
  });
}

function presentAdministered(form: ResolvedForm): AdministeredForm {
  const { fields, category, categoryConfigId, teamId, problems } = form;
  return { ...presentForm(form), fields, category, categoryConfigId, teamId, problems };
}
