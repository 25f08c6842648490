import {
  type CategoryConfig,
  type CategoryConfigPatch,
  type CategoryConfigQuery,
  type ErrorDetail,
  maxCategoryLevels,
  maxTicketCategories,
  type NewCategoryConfig,
} from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { lockTenant } from '../../database/row-lock.ts';
import { ApiError, invalidField, notFound, requireRow, takenBy } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeTimestamps } from '../../shared/serialize.ts';
import { validationError } from '../../shared/validation.ts';
import { auditChanges, auditRow, recordAudit } from '../audit/audit-entry.ts';
import type { ImportResults } from '../csv/csv-columns.ts';
import type { Importable } from '../csv/csv-import.ts';
import { type Context, type Transaction, transaction } from '../shared/context.ts';
import { type Page, readPage } from '../shared/lists.ts';
import { changeVersioned } from '../shared/versioned-change.ts';
import { ticketCategoryColumns } from './columns.ts';

/** Returns a page of ticket categories, in the order of their ids (spec §4). */
export function listTicketCategories({ db }: Context, query: CategoryConfigQuery): Promise<Page<CategoryConfig>> {
  return readPage(query, {
    count: () => db.ticketCategory.count(),
    // `orderBy` is set if the page is nearer to the end of the list.
    find: async ({ orderBy, ...range }) => {
      const direction = orderBy === undefined ? 'asc' : 'desc';
      return (await db.ticketCategory.findMany({ orderBy: { id: direction }, ...range })).map(presentTicketCategory);
    },
  });
}

/** Returns one ticket category. @throws ApiError NOT_FOUND */
export async function getTicketCategory({ db }: Context, id: string): Promise<CategoryConfig> {
  return presentTicketCategory(requireRow(await db.ticketCategory.findFirst({ where: { id } }), 'category'));
}

/** Creates an active ticket category. @throws ApiError VALIDATION_ERROR */
export function createTicketCategory(context: Context, input: NewCategoryConfig): Promise<CategoryConfig> {
  return transaction(context, async (context) => {
    await lockTenant(context.db, 'ticketCategories');
    const [faults = []] = await findFaults(context, [input]);
    if (faults.length > 0) throw validationError(faults);
    const [category] = await insertTicketCategories(context, [input]);
    return category as CategoryConfig;
  });
}

/**
 * Creates all ticket categories in one transaction. If any of them is invalid, creates none. A parent can be one of the
 * other new categories.
 * @throws ApiError VALIDATION_ERROR; the paths in the details begin with the index of the invalid category, as in
 * `0.parentId`
 */
export function importTicketCategories(context: Context, inputs: readonly NewCategoryConfig[]): Promise<ImportResults> {
  return transaction(context, async (context) => {
    await lockTenant(context.db, 'ticketCategories');
    const results = await checkTicketCategories(context, inputs);
    await insertTicketCategories(context, inputs);
    return results;
  });
}

/**
 * Checks that `importTicketCategories` would succeed with these inputs.
 * @throws ApiError VALIDATION_ERROR with the details that `importTicketCategories` would return
 */
export async function checkTicketCategories(
  context: Context,
  inputs: readonly NewCategoryConfig[],
): Promise<ImportResults> {
  const details = (await findFaults(context, inputs)).flatMap((faults, index) =>
    faults.map(({ path, message }) => ({ path: `${index}.${path}`, message })),
  );
  if (details.length > 0) {
    throw new ApiError('VALIDATION_ERROR', 'No categories were created. Correct the rows in `details`.', { details });
  }
  return { created: inputs.length, updated: 0, unchanged: 0 };
}

/** The CSV import of ticket categories. */
export const ticketCategoryCsv: Importable<NewCategoryConfig, NewCategoryConfig> = {
  columns: ticketCategoryColumns,
  customFields: async () => [],
  inputOf: (line) => line,
  check: checkTicketCategories,
  write: importTicketCategories,
};

/**
 * Updates a ticket category. If the patch changes nothing, `updatedAt` stays the same.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, VALIDATION_ERROR
 */
export function updateTicketCategory(
  context: Context,
  id: string,
  patch: CategoryConfigPatch,
): Promise<CategoryConfig> {
  return changeVersioned(context, {
    lock: ({ db }) => lockTenant(db, 'ticketCategories'),
    read: (context) => getTicketCategory(context, id),
    merge: (before) => ({ ...before, ...patch }),
    write: async (context, { before, after }) => {
      const parents = await readParents(context);
      parents.set(id, after.parentId);
      // The levels of all descendants also change.
      const faults = [id, ...parents.keys()].map((each) => findParentFault(parents, each));
      const fault = faults.find((each) => each !== undefined);
      if (fault !== undefined) throw invalidField('VALIDATION_ERROR', 'parentId', fault);
      const { name, parentId, category, active } = after;
      const data = { name, parentId, category, active };
      const [row] = await context.db.ticketCategory.updateManyAndReturn({ where: { id }, data });
      if (row === undefined) throw notFound('category');
      const changes = auditChanges(before, after, stored, nameOnly);
      await recordAudit(context, { action: 'category.updated', target: targetOf(before), changes });
      return presentTicketCategory(row);
    },
  });
}

/** Maps the id of each ticket category to the id of its parent, or null. */
type ParentIds = Map<string, string | null>;

async function readParents({ db }: Context): Promise<ParentIds> {
  const rows = await db.ticketCategory.findMany({ select: { id: true, parentId: true } });
  return new Map(rows.map(({ id, parentId }) => [id, parentId]));
}

/**
 * Returns what is wrong with each of the new ticket categories. To prevent concurrent changes, the caller must lock the
 * ticket categories of the tenant.
 * @throws ApiError VALIDATION_ERROR if the tenant would have too many ticket categories
 */
async function findFaults(context: Context, inputs: readonly NewCategoryConfig[]): Promise<ErrorDetail[][]> {
  const existing = await readParents(context);
  const parents: ParentIds = new Map(existing);
  for (const { id, parentId = null } of inputs) parents.set(id, parentId);
  if (parents.size > maxTicketCategories) {
    const message = `A workspace has at most ${maxTicketCategories} ticket categories, including inactive ones. Change an existing category instead.`;
    throw new ApiError('VALIDATION_ERROR', message);
  }
  return inputs.map(({ id }) => {
    if (existing.has(id)) return [{ path: 'id', message: takenBy('category', id) }];
    const message = findParentFault(parents, id);
    return message === undefined ? [] : [{ path: 'parentId', message }];
  });
}

const tooManyLevels = `would make more than ${maxCategoryLevels} levels. Choose a category on a higher level.`;

/** Returns what is wrong with the parent of a ticket category, or undefined if it is valid. */
function findParentFault(parents: ParentIds, id: string): string | undefined {
  const parentId = parents.get(id) ?? null;
  if (parentId !== null && !parents.has(parentId)) return 'must be the id of a ticket category of this workspace';
  let level = 1;
  for (let above = parentId; above !== null; above = parents.get(above) ?? null) {
    if (above === id) return 'must not be the category itself or one of its descendants';
    level += 1;
    if (level > maxCategoryLevels) return tooManyLevels;
  }
  return undefined;
}

async function insertTicketCategories(
  context: Context & Transaction,
  inputs: readonly NewCategoryConfig[],
): Promise<CategoryConfig[]> {
  const data = inputs.map(({ id, name, parentId = null, category = null }) => ({ id, name, parentId, category }));
  const categories = (await context.db.ticketCategory.createManyAndReturn({ data })).map(presentTicketCategory);
  const entries = categories.map((category) => {
    const changes = auditChanges({}, category, stored);
    return auditRow(context, { action: 'category.created', target: targetOf(category), changes });
  });
  await context.db.auditEntry.createMany({ data: entries });
  return categories;
}

/** The fields of a ticket category whose values the audit log stores. Of the name, it stores only that it changed. */
const stored = ['parentId', 'category', 'active'] as const;
const nameOnly = ['name'] as const;

function targetOf({ id }: CategoryConfig) {
  return { type: 'category', id } as const;
}

/** Serializes a ticket category for API responses. */
function presentTicketCategory(row: Prisma.TicketCategoryGetPayload<object>): CategoryConfig {
  return withEtag(row.version, {
    id: row.id,
    name: row.name,
    parentId: row.parentId,
    category: row.category,
    active: row.active,
    ...serializeTimestamps(row),
  });
}
