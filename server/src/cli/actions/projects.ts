import {
  integerFromText,
  NewProject,
  type Project,
  ProjectPatch,
  ProjectQuery,
  ProjectStatus,
} from '@itsm-api/contract';
import * as z from 'zod';
import { projectCsv } from '../../resources/projects/csv.ts';
import {
  createProject,
  getProject,
  listProjects,
  projectRows,
  updateProject,
} from '../../resources/projects/queries.ts';
import type { Context } from '../../resources/shared/context.ts';
import { activeTenantContext, tenantContext } from '../../resources/tenants/queries.ts';
import { findUserId } from '../../resources/users/queries.ts';
import { UserReference } from '../../resources/users/user-reference.ts';
import type { Action } from '../lib/command.ts';
import { exportAction } from '../lib/export.ts';
import { shell } from '../lib/help.ts';
import { importAction } from '../lib/import.ts';
import { firstOf, Limit, listContext, moreHint } from '../lib/listing.ts';
import { statusLabel } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { updateInput } from '../lib/update.ts';

const Named = z.strictObject({ tenant: z.string(), id: integerFromText() });

export const list = action({
  input: z.strictObject({
    tenant: z.string(),
    status: ProjectStatus.optional(),
    q: ProjectQuery.shape.q,
    limit: Limit,
  }),
  work: async (runtime, { tenant, status, q, limit }) => {
    const context = await listContext(runtime, tenant, q);
    return firstOf(limit, (page) => listProjects(context, { ...page, status: status && [status], q }));
  },
  format: (found, { table, time }) =>
    table(
      ['ID', 'KEY', 'NAME', 'STATUS', 'PRIORITY', 'ENDS', 'UPDATED'],
      found.map(({ id, key, name, status, priority, endDate, updatedAt }) => {
        return [id, key, name, statusLabel(status), priority, endDate, time(updatedAt)];
      }),
    ),
  hint: moreHint,
});

export const show = action({
  input: Named,
  work: async (runtime, { tenant, id }) => getProject(await tenantContext(runtime, tenant), id),
  format: (project, { card, time }) =>
    card({
      ...{ id: project.id, key: project.key, name: project.name, description: project.description },
      status: statusLabel(project.status),
      priority: project.priority,
      'manager id': project.managerId,
      starts: project.startDate,
      ends: project.endDate,
      created: time(project.createdAt),
      updated: time(project.updatedAt),
    }),
});

export const create = action({
  input: NewProject.omit({ managerId: true }).extend({ tenant: z.string(), manager: UserReference.optional() }),
  work: async (runtime, { tenant, manager, ...project }) => {
    const context = await activeTenantContext(runtime, tenant);
    return createProject(context, { ...project, managerId: await findUserId(context, 'manager', manager) });
  },
  format: (project) => `Created the project ${project.key}, ${project.name} (ID ${project.id}).`,
  next: ({ id, status }, { tenant }) =>
    status === 'PLANNED' ? [shell`projects activate ${id} --tenant ${tenant}`] : [],
});

export const update = action({
  input: updateInput(Named.shape, {
    ...ProjectPatch.omit({ managerId: true }).shape,
    manager: UserReference.nullish(),
  }),
  work: async (runtime, { tenant, id, manager, ...patch }) => {
    const context = await tenantContext(runtime, tenant);
    return updateProject(context, id, { ...patch, ...(await toManagerPatch(context, manager)) });
  },
  format: formatStatus,
});

export const deactivate = setStatusAction('ON_HOLD');
export const activate = setStatusAction('ACTIVE');

const importFile = importAction(projectCsv);
const exportRows = exportAction(projectRows, projectCsv);

export { exportRows as export, importFile as import };

function setStatusAction(status: ProjectStatus): Action {
  return action({
    input: Named,
    work: async (runtime, { tenant, id }) => updateProject(await tenantContext(runtime, tenant), id, { status }),
    format: formatStatus,
  });
}

async function toManagerPatch(context: Context, manager: UserReference | null | undefined) {
  return manager === undefined ? {} : { managerId: await findUserId(context, 'manager', manager ?? undefined) };
}

function formatStatus({ key, name, id, status }: Project): string {
  return `The project ${key}, ${name} (ID ${id}), has status ${status}.`;
}
