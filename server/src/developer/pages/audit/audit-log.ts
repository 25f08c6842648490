import { integerFromText, text } from '@itsm-api/contract';
import * as z from 'zod';
import { listAudit } from '../../../resources/audit/queries.ts';
import { page } from '../../framework/page.ts';
import { PageNumber } from '../../ui/filtered-list.ts';
import { html, pager, table, withQuery } from '../../ui/html.ts';

const perPage = 50;

/** The page that shows the audit log of the developer area. */
export const audit = page({
  path: '/developer/audit',
  menu: 'Audit log',
  roles: ['ADMIN'],
  query: z.strictObject({
    page: PageNumber,
    userId: integerFromText().optional(),
    action: text(1, 100).optional(),
  }),
  async show({ visit, query, address }) {
    const { data, meta } = await listAudit(visit.context, { ...query, perPage });
    const first = (values: Parameters<typeof withQuery>[1]) => withQuery(address, { ...values, page: undefined });
    const rows = data.map(({ at, user, action, subject, address: from, userAgent }) => [
      visit.time(at),
      user === null ? 'Command line' : html`<a href="${first({ userId: user.id })}">${user.name}</a>`,
      html`<a href="${first({ action })}"><code>${action}</code></a>`,
      subject ?? '',
      html`${from}<br><span class="agent">${userAgent}</span>`,
    ]);
    const filtered = query.userId !== undefined || query.action !== undefined;
    return {
      title: 'Audit log',
      body: html`<p class="lead">Actions in the developer area, newest first.</p>
${filtered ? html`<p><a class="button plain" href="/developer/audit">Clear filters</a></p>` : null}
${table('Audit log', ['Time', 'User', 'Action', 'Subject', 'Client'], rows, 'No entries.')}
${pager(meta, address)}`,
    };
  },
});
