import { NewProject, Project, ProjectPatch, ProjectQuery } from '@itsm-api/contract';
import { projectColumns } from '../resources/projects/columns.ts';
import { declareNoun } from './noun.ts';

export const projects = declareNoun({
  ...{ path: 'projects', one: 'project', many: 'projects', audit: 'project', isAuditedByForms: true },
  schemas: { row: Project, create: NewProject, update: ProjectPatch, query: ProjectQuery },
  ...{ key: ['id'], example: '3', title: ['key', 'name'], order: 'newest first' },
  csvColumns: (use) => use(projectColumns),
  fields: {
    key: {
      ...{ label: 'Key', option: '--key <key>', about: 'key of capital letters and digits, unique in the tenant' },
      hint: "Uppercase letters and digits. Must be unique in the workspace. You can't change it later.",
    },
    name: { label: 'Name' },
    description: { label: 'Description', lines: 4 },
    status: { label: 'Status', fallback: 'PLANNED' },
    priority: { label: 'Priority', fallback: 'MEDIUM' },
    managerId: {
      ...{ label: 'Manager', option: '--manager <user>', about: 'email address or ID of the user', suggest: 'users' },
      hint: 'Email address or ID of an active user. Leave empty if there is no manager.',
    },
    startDate: { label: 'Start date', isDate: true },
    endDate: { label: 'End date', isDate: true },
  },
  ...{ filters: ['status'], search: 'Key, name or description' },
  table: ['id', 'key', 'name', 'status', 'priority', ['endDate', 'Ends'], 'updatedAt'],
  list: ['key', 'name', 'status', 'priority', ['managerId', 'Manager', 'user'], 'endDate', 'updatedAt'],
  card: [
    ...(['id', 'key', 'name', 'description', 'status', 'priority', 'managerId'] as const),
    ...([['startDate', 'Starts'], ['endDate', 'Ends'], 'createdAt', 'updatedAt'] as const),
  ],
  lead: 'The projects of this workspace, newest first.',
  verbs: {
    list: { examples: ['', '--status ACTIVE', '--q office'] },
    create: { examples: ['--key OFFICE --name "Move to the new office" --manager ada@acme.example'] },
    update: { examples: ['3 --status COMPLETED', "3 --manager ''"] },
    deactivate: { summary: 'Put a project on hold: set its status to ON_HOLD' },
    activate: { summary: 'Start or resume a project: set its status to ACTIVE' },
  },
  next: ({ status }) => (status === 'PLANNED' ? 'activate' : undefined),
  activation: (_row, verb): ProjectPatch => ({ status: verb === 'activate' ? 'ACTIVE' : 'ON_HOLD' }),
  async load() {
    const [queries, { userConverter }] = await Promise.all([
      import('../resources/projects/queries.ts'),
      import('./user-converter.ts'),
    ]);
    return {
      list: queries.listProjects,
      get: (context, { id }) => queries.getProject(context, id),
      create: queries.createProject,
      update: (context, { id }, patch) => queries.updateProject(context, id, patch),
      rows: queries.projectRows,
      csv: (use) => use(queries.projectCsv),
      converters: { managerId: userConverter('managerId') },
    };
  },
});
