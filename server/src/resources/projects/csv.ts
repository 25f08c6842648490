import type { NewProject, Project } from '@itsm-api/contract';
import type { CsvResource } from '../csv/csv-import.ts';
import { type ProjectLine, projectColumns } from './columns.ts';
import { checkProjects, createProjects, projectRows } from './queries.ts';

/** The CSV export and import of projects. */
export const projectCsv: CsvResource<Project, ProjectLine, NewProject> = {
  columns: projectColumns,
  rows: projectRows,
  customFields: async () => [],
  inputOf: (line, managerId) => ({ ...line, managerId }),
  check: checkProjects,
  write: createProjects,
};
