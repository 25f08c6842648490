import * as z from 'zod';
import { readsOf } from '../changes.ts';
import { filter, listQuery, search } from '../endpoint.ts';
import {
  CalendarDate,
  Description,
  Id,
  Priority,
  responseText,
  trimmedText,
  UserId,
  versionFields,
} from '../fields.ts';

export const ProjectStatus = z
  .enum(['PLANNED', 'ACTIVE', 'ON_HOLD', 'COMPLETED', 'CANCELLED'])
  .meta({ id: 'ProjectStatus', description: 'The status of the project.' });
export type ProjectStatus = z.output<typeof ProjectStatus>;

const Key = z
  .string()
  .regex(/^[A-Z][A-Z0-9]{0,19}$/, 'must be 1 to 20 capital letters and digits, starting with a letter')
  .meta({ description: 'The short name of the project, unique in the workspace.', example: 'OFFICE' });
const Name = trimmedText(1, 255).meta({ description: 'The name of the project.' });
const ManagerId = UserId.meta({ description: 'The user who leads the project, or null if there is none.' });
const StartDate = CalendarDate.meta({ description: 'The start date, or null if not set.' });
const EndDate = CalendarDate.meta({ description: 'The end date, or null if not set.' });

export const Project = z
  .object({
    id: Id,
    key: Key,
    name: responseText(Name),
    description: responseText(Description).nullable(),
    status: ProjectStatus,
    priority: Priority,
    managerId: ManagerId.nullable(),
    startDate: StartDate.nullable(),
    endDate: EndDate.nullable(),
    ...versionFields,
  })
  .meta({
    id: 'Project',
    description: 'A project. List its tasks with `GET /projects/{id}/tasks`.',
    example: {
      id: 2,
      key: 'OFFICE',
      name: 'Move to the new office',
      description: 'Network, desks and printers on floor 3.',
      status: 'ACTIVE',
      priority: 'HIGH',
      managerId: 2,
      startDate: '2026-09-01',
      endDate: '2026-12-15',
      createdAt: '2026-08-20T08:00:00.000Z',
      updatedAt: '2026-11-02T15:45:00.000Z',
      etag: '"1-mvzfjvc0"',
    },
  });
export type Project = z.output<typeof Project>;

/** A new project. */
export const NewProject = z.strictObject({
  key: Key,
  name: Name,
  description: Description.nullish(),
  status: ProjectStatus.nullish(),
  priority: Priority.nullish(),
  managerId: ManagerId.nullish(),
  startDate: StartDate.nullish(),
  endDate: EndDate.nullish(),
});
export type NewProject = z.output<typeof NewProject>;

/** Changes to a project. The project key can't change. */
export const ProjectPatch = z.strictObject({
  name: Name.optional(),
  description: Description.nullish(),
  status: ProjectStatus.optional(),
  priority: Priority.optional(),
  managerId: Id.nullish(),
  startDate: CalendarDate.nullish(),
  endDate: CalendarDate.nullish(),
});
export type ProjectPatch = z.output<typeof ProjectPatch>;

export const ProjectQuery = listQuery({ status: filter(ProjectStatus), q: search('key, name and description') });
export type ProjectQuery = z.output<typeof ProjectQuery>;

export const projects = readsOf('/projects', 'a project', {
  ...{ row: Project, query: ProjectQuery, scope: 'projects:read', group: 'projects' },
  agents: {
    list: {
      tool: 'list_projects',
      when: 'Finds projects.',
      short: ['id', 'key', 'name', 'status', 'priority', 'managerId', 'endDate'],
    },
  },
});
