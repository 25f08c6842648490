import { ProjectQuery, ProjectStatus } from '@itsm-api/contract';
import * as z from 'zod';
import { projectCsv } from '../../../resources/projects/csv.ts';
import { listProjects } from '../../../resources/projects/queries.ts';
import { findUserNames } from '../../../resources/users/queries.ts';
import { page } from '../../framework/page.ts';
import {
  PageNumber,
  perPage,
  renderEmptyList,
  SearchText,
  searchForm,
  searchList,
  withAnyOption,
} from '../../ui/filtered-list.ts';
import { optional, selectField } from '../../ui/form-fields.ts';
import { badge, html, linkButton, pager, table } from '../../ui/html.ts';
import { csvFiles } from '../csv/csv-download.ts';
import { csvImport, importedNotice } from '../csv/csv-upload.ts';

const path = '/developer/projects';

/** The page that lists projects. */
export const projects = page({
  path,
  menu: 'Projects',
  roles: ['ADMIN'],
  query: z.strictObject({ page: PageNumber, q: SearchText, status: optional(ProjectStatus) }),
  async show({ visit, query, address }) {
    const { q = '', status, page } = query;
    const { list, words } = await searchList(q, ProjectQuery.shape.q, (q) =>
      listProjects(visit.context, { page, perPage, q, status: status && [status] }),
    );
    const names = await findUserNames(
      visit.context,
      list.data.map(({ managerId }) => managerId),
    );
    const rows = list.data.map(({ id, key, name, status, priority, managerId, endDate, updatedAt }) => [
      html`<a href="${path}/${id}">${key}</a>`,
      name,
      badge(status, status === 'ACTIVE' ? 'good' : 'plain'),
      priority,
      managerId === null ? '' : html`<a href="/developer/users/${managerId}">${names.get(managerId)}</a>`,
      endDate ?? '',
      visit.time(updatedAt),
    ]);
    const none =
      q === '' && status === undefined
        ? html`No projects yet. <a href="${path}/new">Create a project</a> or <a href="${path}/import">import a CSV file</a>.`
        : 'No projects match your search.';
    const options = withAnyOption(ProjectStatus.options, 'Any');
    return {
      title: 'Projects',
      body: html`<p class="lead">The projects of this workspace, newest first.</p>
${importedNotice(projectCsv.columns, visit.flash)}
<p class="actions">${linkButton(`${path}/new`, 'New project', 'main')} ${linkButton(`${path}/import`, 'Import CSV')}
 ${linkButton(`${path}/export`, 'Export CSV')}</p>
${searchForm(path, words, 'Key, name or description', [selectField(undefined, { name: 'status', label: 'Status', value: status, options })])}
<div id="found">${table('Projects', ['Key', 'Name', 'Status', 'Priority', 'Manager', 'End date', 'Updated'], rows, renderEmptyList(words, none))}
${pager(list.meta, address)}</div>`,
    };
  },
});

/** The pages that import and export projects as CSV. */
export const projectFiles = [
  csvImport(projectCsv, {
    Key: 'key',
    Name: 'name',
    Status: 'status',
    Priority: 'priority',
    Manager: 'managerId',
    'Start date': 'startDate',
    'End date': 'endDate',
  }),
  ...csvFiles(projectCsv),
];
