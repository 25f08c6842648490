import { Priority, ProjectStatus } from '@itsm-api/contract';
import { projectColumns } from '../../resources/projects/columns.ts';
import { common, noun, type Parameter } from '../lib/command.ts';
import { exportVerb, importVerb, templateVerb } from '../lib/file-verbs.ts';
import { clearing } from '../lib/update.ts';

const statuses = ProjectStatus.options;
const id = { flags: '<id>', about: 'ID of the project', values: 'projects' } as const;

const name = { flags: '--name <name>' };
const fields = [
  { flags: '--description <text>' },
  { flags: '--status <status>', about: `${statuses.join(', ')} (default: PLANNED)`, values: statuses },
  {
    flags: '--priority <priority>',
    about: `${Priority.options.join(', ')} (default: MEDIUM)`,
    values: Priority.options,
  },
  { flags: '--manager <user>', about: 'email address or ID of the user', values: 'users' },
  { flags: '--start-date <date>', about: 'date such as 2026-11-20' },
  { flags: '--end-date <date>', about: 'date such as 2026-11-20' },
] satisfies Parameter[];

export const projects = noun({
  verbs: {
    list: {
      summary: 'List the projects of a tenant, newest first',
      options: [
        common.tenant,
        { flags: '--status <status>', about: `only ${statuses.join(', ')}`, values: statuses },
        common.q,
        common.limit,
        common.utc,
      ],
      examples: [
        'projects list --tenant Acme',
        'projects list --tenant Acme --status ACTIVE',
        'projects list --tenant Acme --q office',
      ],
    },
    show: {
      summary: 'Show a project',
      arguments: [id],
      options: [common.tenant, common.utc],
      examples: ['projects show 3 --tenant Acme'],
    },
    create: {
      summary: 'Create a project',
      options: [
        common.tenant,
        { flags: '--key <key>', about: 'key of capital letters and digits, unique in the tenant', required: true },
        { ...name, required: true },
        ...fields,
      ],
      examples: [
        'projects create --tenant Acme --key OFFICE --name "Move to the new office" --manager ada@acme.example',
      ],
    },
    update: {
      summary: 'Update a project',
      details: clearing.replace('notes', 'description'),
      arguments: [id],
      options: [common.tenant, name, ...fields],
      examples: ['projects update 3 --tenant Acme --status COMPLETED', "projects update 3 --tenant Acme --manager ''"],
    },
    deactivate: {
      summary: 'Put a project on hold: set its status to ON_HOLD',
      arguments: [id],
      options: [common.tenant],
      examples: ['projects deactivate 3 --tenant Acme'],
    },
    activate: {
      summary: 'Start or resume a project: set its status to ACTIVE',
      arguments: [id],
      options: [common.tenant],
      examples: ['projects activate 3 --tenant Acme'],
    },
    import: importVerb(projectColumns),
    template: templateVerb(projectColumns),
    export: exportVerb('projects', { csv: true }),
  },
  actions: () => import('../actions/projects.ts'),
  withoutDatabase: () => import('../actions/templates/projects.ts'),
});
