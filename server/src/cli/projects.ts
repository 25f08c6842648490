import { NewProject, Priority, ProjectStatus } from '@itsm-api/contract';
import type { Command } from 'commander';
import * as z from 'zod';
import { createProject, projectRows } from '../resources/projects/queries.ts';
import { activeTenantContext } from '../resources/tenants/queries.ts';
import { addExport } from './export.ts';
import { examples } from './help.ts';
import { action } from './run.ts';
import { findUserId, UserReference } from './user-reference.ts';

export function addProjects(program: Command): void {
  const projects = program.command('projects').description('Create and export projects');

  projects
    .command('create')
    .description('Create a project')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .requiredOption('--key <key>', 'capital letters and digits, unique in the tenant')
    .requiredOption('--name <name>')
    .option('--description <text>')
    .option('--status <status>', `${ProjectStatus.options.join(', ')} (default: PLANNED)`)
    .option('--priority <priority>', `${Priority.options.join(', ')} (default: MEDIUM)`)
    .option('--manager <user>', 'e-mail address or id')
    .option('--start-date <date>', 'such as 2026-11-20')
    .option('--end-date <date>', 'such as 2026-11-20')
    .addHelpText(
      'after',
      examples('projects create --tenant Acme --key OFFICE --name "Move to the new office" --manager ada@acme.example'),
    )
    .action(
      action({
        input: NewProject.omit({ managerId: true }).extend({ tenant: z.string(), manager: UserReference.optional() }),
        work: async (runtime, { tenant, manager, ...project }) => {
          const context = await activeTenantContext(runtime, tenant);
          return createProject(context, { ...project, managerId: await findUserId(context, 'manager', manager) });
        },
        format: (project) => `Created the project ${project.key}, ${project.name} (id ${project.id}).`,
      }),
    );

  addExport(projects, projectRows);
}
