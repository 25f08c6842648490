import type { NewProject, Project, ProjectPatch, ProjectQuery } from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { createUnique } from '../../database/client/unique-violation.ts';
import { lockRow } from '../../database/row-lock.ts';
import { notFound, requireRow, takenBy } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeDate, serializeId, serializeTimestamps, toDate } from '../../shared/serialize.ts';
import type { ImportResults } from '../csv/csv-columns.ts';
import type { CsvResource } from '../csv/csv-import.ts';
import { checkNewRows, type ImportOptions } from '../csv/import-checks.ts';
import { chunksOf } from '../shared/chunks.ts';
import { type Context, transaction } from '../shared/context.ts';
import { checkUsers, reference } from '../shared/foreign-keys.ts';
import { anyOf, type Page, readSearchablePage } from '../shared/lists.ts';
import { changeVersioned } from '../shared/versioned-change.ts';
import { rowsOf } from '../sync/change-feed.ts';
import { type ProjectLine, projectColumns } from './columns.ts';

type ProjectRow = Prisma.ProjectGetPayload<object>;

/** Returns a page of projects, newest first (spec §4). */
export function listProjects({ db }: Context, query: ProjectQuery): Promise<Page<Project>> {
  const where = anyOf('status', query.status);
  return readSearchablePage(query, {
    db,
    resource: 'projects',
    where,
    count: () => db.project.count({ where }),
    find: async (asked) => (await db.project.findMany({ orderBy: { id: 'desc' }, ...asked })).map(presentProject),
  });
}

/** Functions that read projects for incremental sync and exports. */
export const projectRows = rowsOf('projects', (db, page) => db.project.findMany(page), presentProject);

/** Returns one project. @throws ApiError NOT_FOUND */
export async function getProject({ db }: Context, id: number): Promise<Project> {
  return presentProject(requireRow(await db.project.findFirst({ where: { id } }), 'project'));
}

/** Creates a project. @throws ApiError INVALID_REFERENCE, or VALIDATION_ERROR if the project key is already in use */
export function createProject(context: Context, input: NewProject): Promise<Project> {
  return transaction(context, async (context) => {
    const { db } = context;
    await checkUsers(context, reference('managerId', input.managerId));
    const taken = takenBy('project', input.key);
    const row = await createUnique('key', taken, () => db.project.create({ data: toColumns(input) }));
    return presentProject(row);
  });
}

/**
 * Creates all projects in one transaction. If any project is invalid, creates none.
 * @throws ApiError VALIDATION_ERROR; the paths in the details begin with the index of the invalid project, as in
 * `0.key`
 */
export function createProjects(
  context: Context,
  inputs: readonly NewProject[],
  { onProgress }: ImportOptions,
): Promise<ImportResults> {
  return transaction(context, async (context) => {
    const results = await checkProjects(context, inputs);
    let created = 0;
    for (const chunk of chunksOf(inputs, 500)) {
      const data = chunk.map(toColumns);
      await createUnique('key', takenDuringImport, () => context.db.project.createMany({ data }));
      created += chunk.length;
      onProgress?.(created);
    }
    return results;
  });
}

const takenDuringImport =
  'must be unique, and one of these keys was taken during the import. Import the file again to see which one.';

/**
 * Checks that `createProjects` would succeed with these inputs.
 * @throws ApiError VALIDATION_ERROR with the details that `createProjects` would return
 */
export async function checkProjects({ db }: Context, inputs: readonly NewProject[]): Promise<ImportResults> {
  const rows = inputs.map(({ key, managerId }) => ({ unique: { key }, userId: managerId }));
  await checkNewRows(db, projectColumns, rows, {
    key: async (keys) => {
      const found = await db.project.findMany({ where: { key: { in: keys } }, select: { key: true } });
      return found.map(({ key }) => key);
    },
  });
  return { created: inputs.length, updated: 0, unchanged: 0 };
}

/**
 * Updates a project. If the patch changes nothing, `updatedAt` stays the same.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, INVALID_REFERENCE
 */
export function updateProject(context: Context, id: number, patch: ProjectPatch): Promise<Project> {
  return changeVersioned(context, {
    lock: ({ db }) => lockRow(db, 'projects', id),
    read: (context) => getProject(context, id),
    merge: (before) => ({ ...before, ...patch }),
    write: async (context, { before }) => {
      await checkUsers(context, reference('managerId', patch.managerId, before.managerId));
      const { startDate, endDate, ...columns } = patch;
      const [row] = await context.db.project.updateManyAndReturn({
        where: { id },
        data: {
          ...columns,
          ...(startDate !== undefined && { startDate: toDate(startDate) }),
          ...(endDate !== undefined && { endDate: toDate(endDate) }),
        },
      });
      if (row === undefined) throw notFound('project');
      return presentProject(row);
    },
  });
}

/** The CSV export and import of projects. */
export const projectCsv: CsvResource<Project, ProjectLine, NewProject> = {
  columns: projectColumns,
  rows: projectRows,
  customFields: async () => [],
  inputOf: (line, managerId) => ({ ...line, managerId }),
  check: checkProjects,
  write: createProjects,
};

/** Serializes a project for API responses. */
export function presentProject(row: ProjectRow): Project {
  return withEtag(row.version, {
    id: serializeId(row.id),
    key: row.key,
    name: row.name,
    description: row.description,
    status: row.status,
    priority: row.priority,
    managerId: serializeId(row.managerId),
    startDate: serializeDate(row.startDate),
    endDate: serializeDate(row.endDate),
    ...serializeTimestamps(row),
  });
}

/** Returns the column values for a new project (docs/decisions/data-model.md). */
function toColumns(input: NewProject) {
  return {
    key: input.key,
    name: input.name,
    description: input.description ?? null,
    status: input.status ?? 'PLANNED',
    priority: input.priority ?? 'MEDIUM',
    managerId: input.managerId ?? null,
    startDate: toDate(input.startDate ?? null),
    endDate: toDate(input.endDate ?? null),
  } satisfies Record<keyof NewProject, unknown>;
}
