import { integerFromText, text } from '@itsm-api/contract';
import * as z from 'zod';
import { auditTargetTypes } from '../../../resources/audit/audit-entry.ts';
import { type AuditEntry, findActor, listAudit } from '../../../resources/audit/queries.ts';
import { findUserNames } from '../../../resources/users/queries.ts';
import { page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { filterField, UncountedPageNumber } from '../../ui/filtered-list.ts';
import { optional, submit, textField } from '../../ui/form-fields.ts';
import { html, type SafeHtml, table, uncountedPager, withQuery } from '../../ui/html.ts';
import { parseTimeRange, timeRangeFields, timeRangeQuery } from '../../ui/time-range.ts';

const path = '/developer/audit';
const perPage = 50;

const Query = z.strictObject({
  page: UncountedPageNumber,
  ...timeRangeQuery,
  /** The id or email address of a user, or the name of an operating-system user. */
  actor: optional(text(1, 255)),
  action: optional(text(1, 100)),
  targetType: optional(z.enum(auditTargetTypes)),
  targetId: optional(integerFromText()),
});
type Query = z.output<typeof Query>;

/** The page that shows the audit log. */
export const audit = page({
  path,
  menu: 'Audit log',
  roles: ['ADMIN'],
  query: Query,
  async show({ visit, query, address }) {
    const { since, until, actor, ...equal } = query;
    const { data, hasMore } = await listAudit(visit.context, {
      ...equal,
      ...(await findActor(visit.context, actor)),
      ...parseTimeRange({ since, until }, visit),
      perPage,
    });
    const names = await findUserNames(
      visit.context,
      data.map(({ userId }) => userId),
    );
    const first = (values: Parameters<typeof withQuery>[1]) => withQuery(address, { ...values, page: undefined });
    const link = (values: Parameters<typeof withQuery>[1], text: string | SafeHtml) =>
      html`<a href="${first(values)}">${text}</a>`;
    const rows = data.map((entry) => {
      const { at, action, targetType, targetId, count, subject, address: from, userAgent } = entry;
      const target = targetId === null ? targetType : `${targetType} ${targetId}`;
      return [
        visit.time(at),
        renderActor(entry, names, link),
        html`${link({ action }, html`<code>${action}</code>`)}${count > 1 ? ` × ${count}` : ''}`,
        target === null
          ? (subject ?? '')
          : link(
              { targetType: targetType ?? undefined, targetId: typeof targetId === 'number' ? targetId : undefined },
              target,
            ),
        html`${renderChanges(entry)}`,
        html`${from}<br><span class="agent">${userAgent}</span>`,
      ];
    });
    const isFiltered = Object.entries(query).some(([name, value]) => name !== 'page' && value !== undefined);
    const heads = ['Time', 'Actor', 'Action', 'Target', 'Changes', 'Client'];
    return {
      title: 'Audit log',
      body: html`<p class="lead">Changes to users, API keys, webhooks and settings, and other actions in the developer area,
newest first. To export the log, run <code>itsm audit export</code>.</p>
${filters(query, visit)}
${isFiltered ? html`<p><a class="button plain" href="${path}">Clear filters</a></p>` : null}
${table('Audit log', heads, rows, isFiltered ? 'No entries match your filters. Clear them to see all entries.' : 'No entries yet. Changes in the developer area appear here.')}
${uncountedPager({ page: query.page, hasMore }, address)}`,
    };
  },
});

function filters(query: Query, visit: UserContext): SafeHtml {
  const { actor, targetType, targetId } = query;
  return html`<form class="filters" method="get" action="${path}" role="search">
${timeRangeFields(query, visit)}
${textField(undefined, { name: 'actor', label: 'Actor', placeholder: 'Email or ID', value: actor })}
${filterField('targetType', 'Target', targetType, auditTargetTypes)}
${textField(undefined, { name: 'targetId', label: 'Target ID', type: 'number', value: targetId })}
${submit('Filter', 'plain')}</form>`;
}

function renderActor(
  { action, userId, keyId, osUser, targetType }: AuditEntry,
  names: Map<number, string>,
  link: (values: Record<string, string | number>, text: string) => SafeHtml,
): SafeHtml | string {
  if (userId !== null) {
    return html`${link({ actor: userId }, names.get(userId) ?? `user ${userId}`)}${keyId === null ? '' : `, key ${keyId}`}`;
  }
  if (osUser !== null) return html`Command line<br>${link({ actor: osUser }, osUser)}`;
  // Entries of earlier releases don't contain the operating-system user.
  return targetType === null && action !== 'session.failed' ? 'Command line' : '';
}

/** Renders the changed fields, one per line, such as `role: AGENT to ADMIN`. */
function renderChanges({ changes }: AuditEntry): SafeHtml[] {
  return Object.entries(changes ?? {}).map(
    ([name, change]) => html`<div>${name}${change === null ? '' : `: ${toText(change)}`}</div>`,
  );
}

function toText({ from, to }: { from: unknown; to: unknown }): string {
  return from === null ? formatValue(to) : `${formatValue(from)} to ${formatValue(to)}`;
}

function formatValue(value: unknown): string {
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
