import { integerFromText, NewProject, Priority, type Project, ProjectPatch, ProjectStatus } from '@itsm-api/contract';
import * as z from 'zod';
import type { Context } from '../context.ts';
import { createProject, getProject, listProjects, projectRows, updateProject } from '../resources/projects/queries.ts';
import { activeTenantContext, tenantContext } from '../resources/tenants/queries.ts';
import type { Runtime } from '../runtime.ts';
import { common, type Noun, type Parameter, type Verb } from './command.ts';
import { exportOf } from './export.ts';
import { shell } from './help.ts';
import { firstOf, Limit, moreHint } from './listing.ts';
import { action } from './run.ts';
import { clearing, updateInput } from './update.ts';
import { findUserId, UserReference } from './user-reference.ts';
import { state } from './view.ts';

const statuses = ProjectStatus.options;
const id = { flags: '<id>', about: 'id of the project', values: 'projects' } as const;
const Named = z.strictObject({ tenant: z.string(), id: integerFromText() });

const name = { flags: '--name <name>' };
const fields = [
  { flags: '--description <text>' },
  { flags: '--status <status>', about: `${statuses.join(', ')} (a new one: PLANNED)`, values: statuses },
  {
    flags: '--priority <priority>',
    about: `${Priority.options.join(', ')} (a new one: MEDIUM)`,
    values: Priority.options,
  },
  { flags: '--manager <user>', about: 'e-mail address or id', values: 'users' },
  { flags: '--start-date <date>', about: 'such as 2026-11-20' },
  { flags: '--end-date <date>', about: 'such as 2026-11-20' },
] satisfies Parameter[];

export const projects: Noun = {
  verbs: {
    list: {
      summary: 'List the projects of a tenant, newest first',
      options: [
        common.tenant,
        { flags: '--status <status>', about: `only ${statuses.join(', ')}`, values: statuses },
        { flags: '--q <words>', about: 'only those with these words in key, name or description' },
        common.limit,
        common.utc,
      ],
      examples: ['projects list --tenant Acme', 'projects list --tenant Acme --status ACTIVE'],
      run: action({
        input: z.strictObject({
          tenant: z.string(),
          status: ProjectStatus.optional(),
          q: z.string().min(1).optional(),
          limit: Limit,
        }),
        work: async (runtime, { tenant, status, q, limit }) => {
          const context = await tenantContext(runtime, tenant);
          return firstOf(limit, (page) => listProjects(context, { ...page, q, status: status && [status] }));
        },
        format: (found, { table, time }) =>
          table(
            ['ID', 'KEY', 'NAME', 'STATUS', 'PRIORITY', 'ENDS', 'UPDATED'],
            found.map(({ id, key, name, status, priority, endDate, updatedAt }) => {
              return [id, key, name, state(status), priority, endDate, time(updatedAt)];
            }),
          ),
        hint: moreHint,
      }),
    },
    show: {
      summary: 'Show a project',
      arguments: [id],
      options: [common.tenant, common.utc],
      examples: ['projects show 3 --tenant Acme'],
      run: action({
        input: Named,
        work: async (runtime, { tenant, id }) => getProject(await tenantContext(runtime, tenant), id),
        format: (project, { card, time }) =>
          card({
            ...{ id: project.id, key: project.key, name: project.name, description: project.description },
            status: state(project.status),
            priority: project.priority,
            'manager id': project.managerId,
            starts: project.startDate,
            ends: project.endDate,
            created: time(project.createdAt),
            updated: time(project.updatedAt),
          }),
      }),
    },
    create: {
      summary: 'Create a project',
      options: [
        common.tenant,
        { flags: '--key <key>', about: 'capital letters and digits, unique in the tenant', required: true },
        { ...name, required: true },
        ...fields,
      ],
      examples: [
        'projects create --tenant Acme --key OFFICE --name "Move to the new office" --manager ada@acme.example',
      ],
      run: action({
        input: NewProject.omit({ managerId: true }).extend({ tenant: z.string(), manager: UserReference.optional() }),
        work: async (runtime, { tenant, manager, ...project }) => {
          const context = await activeTenantContext(runtime, tenant);
          return createProject(context, { ...project, managerId: await findUserId(context, 'manager', manager) });
        },
        format: (project) => `Created the project ${project.key}, ${project.name} (id ${project.id}).`,
        next: ({ id, status }, { tenant }) =>
          status === 'PLANNED' ? [shell`projects activate ${id} --tenant ${tenant}`] : [],
      }),
    },
    update: {
      summary: 'Change a project',
      details: clearing.replace('notes', 'description'),
      arguments: [id],
      options: [common.tenant, name, ...fields],
      examples: ['projects update 3 --tenant Acme --status COMPLETED', "projects update 3 --tenant Acme --manager ''"],
      run: action({
        input: updateInput(Named.shape, {
          ...ProjectPatch.omit({ managerId: true }).shape,
          manager: UserReference.nullish(),
        }),
        work: async (runtime, { tenant, id, manager, ...patch }) => {
          const context = await tenantContext(runtime, tenant);
          return updateProject(context, id, { ...patch, ...(await managerOf(context, manager)) });
        },
        format: told,
      }),
    },
    deactivate: become('ON_HOLD', 'Put a project on hold'),
    activate: become('ACTIVE', 'Have a project begin, or go on'),
    export: exportOf(projectRows),
  },
};

function become(status: ProjectStatus, what: string): Verb {
  const verb = status === 'ACTIVE' ? 'activate' : 'deactivate';
  return {
    summary: `${what}: its status becomes ${status}`,
    arguments: [id],
    options: [common.tenant],
    examples: [`projects ${verb} 3 --tenant Acme`],
    run: action({
      input: Named,
      work: async (runtime: Runtime, { tenant, id }) =>
        updateProject(await tenantContext(runtime, tenant), id, { status }),
      format: told,
    }),
  };
}

async function managerOf(context: Context, manager: UserReference | null | undefined) {
  return manager === undefined ? {} : { managerId: await findUserId(context, 'manager', manager ?? undefined) };
}

function told({ key, name, id, status }: Project): string {
  return `The project ${key}, ${name} (id ${id}), is ${status}.`;
}
