import { NewProject } from '@itsm-api/contract';
import type * as z from 'zod';
import type { CsvColumns } from '../csv/csv-columns.ts';
import { UserReference } from '../users/user-reference.ts';

const ProjectLine = NewProject.extend({ managerId: UserReference.nullish() });
export type ProjectLine = z.output<typeof ProjectLine>;

/** The CSV format of projects. */
export const projectColumns: CsvColumns<ProjectLine> = {
  resource: 'projects',
  one: 'project',
  line: ProjectLine,
  names: ProjectLine.keyof().options,
  needed: ['key', 'name'],
  unique: 'key',
  user: 'managerId',
  hasCustomFields: false,
  preview: {
    ...{ Key: 'key', Name: 'name', Status: 'status', Priority: 'priority' },
    ...{ Manager: 'managerId', 'Start date': 'startDate', 'End date': 'endDate' },
  },
  example: {
    key: 'OFFICE',
    name: 'Move to the new office',
    description: 'Network, desks and printers on floor 3.',
    status: 'ACTIVE',
    priority: 'HIGH',
    managerId: 'ada@acme.example',
    startDate: '2026-09-01',
    endDate: '2026-12-15',
  },
};
