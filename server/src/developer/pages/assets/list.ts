import { AssetQuery, AssetStatus, AssetType } from '@itsm-api/contract';
import * as z from 'zod';
import { assetCsv } from '../../../resources/assets/csv.ts';
import { listAssets } from '../../../resources/assets/queries.ts';
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

const path = '/developer/assets';

/** The page that lists assets. */
export const assets = page({
  path,
  menu: 'Assets',
  roles: ['ADMIN'],
  query: z.strictObject({
    page: PageNumber,
    q: SearchText,
    type: optional(AssetType),
    status: optional(AssetStatus),
  }),
  async show({ visit, query, address }) {
    const { q, type, status, page } = query;
    const { list, words } = await searchList(q, AssetQuery.shape.q, (q) =>
      listAssets(visit.context, { page, perPage, q, type: type && [type], status: status && [status] }),
    );
    const names = await findUserNames(
      visit.context,
      list.data.map(({ assignedToId }) => assignedToId),
    );
    const rows = list.data.map(({ id, assetTag, name, type, status, assignedToId, updatedAt }) => [
      html`<a href="${path}/${id}">${assetTag}</a>`,
      name,
      type,
      badge(status, status === 'IN_USE' ? 'good' : 'plain'),
      assignedToId === null ? '' : html`<a href="/developer/users/${assignedToId}">${names.get(assignedToId)}</a>`,
      visit.time(updatedAt),
    ]);
    const filters = [
      selectField(undefined, {
        name: 'type',
        label: 'Type',
        value: type,
        options: withAnyOption(AssetType.options, 'Any'),
      }),
      selectField(undefined, {
        ...{ name: 'status', label: 'Status', value: status },
        options: withAnyOption(AssetStatus.options, 'Any'),
      }),
    ];
    return {
      title: 'Assets',
      body: html`<p class="lead">The assets of this workspace, newest first.</p>
${importedNotice(assetCsv.columns, visit.flash)}
<p class="actions">${linkButton(`${path}/new`, 'New asset', 'main')} ${linkButton(`${path}/import`, 'Import CSV')}
 ${linkButton(`${path}/export`, 'Export CSV')}</p>
${searchForm(path, words, 'Name, tag or serial number', filters)}
<div id="found">${table('Assets', ['Tag', 'Name', 'Type', 'Status', 'Assigned to', 'Updated'], rows, renderEmptyList(words, none(query)))}
${pager(list.meta, address)}</div>`,
    };
  },
});

function none({
  q = '',
  type,
  status,
}: {
  q?: string | undefined;
  type?: string | undefined;
  status?: string | undefined;
}) {
  if (q !== '' || type !== undefined || status !== undefined) return 'No assets match your search.';
  return html`No assets yet. <a href="${path}/new">Create an asset</a> or <a href="${path}/import">import a CSV file</a>.`;
}

/** The pages that import and export assets as CSV. */
export const assetFiles = [csvImport(assetCsv), ...csvFiles(assetCsv)];
