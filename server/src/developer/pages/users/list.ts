import { UserQuery, UserRole } from '@itsm-api/contract';
import * as z from 'zod';
import { findSignInStatus, listInvitedUsers } from '../../../auth/accounts/sign-in-status.ts';
import { listUsers } from '../../../resources/users/queries.ts';
import { page } from '../../framework/page.ts';
import { filterField, PageNumber, perPage, renderSearch, SearchText, searchList } from '../../ui/filtered-list.ts';
import { optional } from '../../ui/form-fields.ts';
import { badge, html, linkButton } from '../../ui/html.ts';
import { canSignIn, renderStatus } from './detail.ts';

const path = '/developer/users';
const roles = ['ADMIN'] as const;

/** The page that lists users. */
export const users = page({
  path,
  menu: 'Users',
  roles,
  query: z.strictObject({
    page: PageNumber,
    q: SearchText,
    role: optional(UserRole),
    status: optional(z.enum(['active', 'inactive', 'invited'])),
  }),
  async show({ visit, query, address }) {
    const { accounts, context, user: signedIn, time } = visit;
    const { tenantId } = signedIn.account;
    const { q, role, status, page } = query;
    const invited = status === 'invited' ? { ids: await listInvitedUsers(accounts, tenantId) } : {};
    const active = status === undefined ? undefined : [status !== 'inactive'];
    const found = await searchList(q, UserQuery.shape.q, (q) =>
      listUsers(context, { page, perPage, q, role: role && [role], active }, invited),
    );
    const signIns = await findSignInStatus(
      accounts,
      tenantId,
      found.list.data.map(({ id }) => id),
    );
    const rows = found.list.data.map((user) => [
      html`<a href="${path}/${user.id}">${user.name}</a> ${user.kind === 'SERVICE' ? badge('service account') : null}<br><small>${user.email}</small>`,
      user.role,
      renderStatus(user, signIns.get(user.id)),
      canSignIn(user) ? time(signIns.get(user.id)?.lastSignInAt ?? null) : null,
      time(user.createdAt),
    ]);
    return {
      title: 'Users',
      body: html`<p class="lead">The users of this workspace, newest first.</p>
<p class="actions">${linkButton(`${path}/new`, 'Invite a user', 'main')}
${linkButton(`${path}/new-service-account`, 'Create a service account')}</p>
${renderSearch(found, {
  ...{ path, address, placeholder: 'Name or email' },
  filters: [filterField('role', 'Role', role, UserRole.options), filterField('status', 'Status', status, statuses)],
  ...{ caption: 'Users', heads: ['User', 'Role', 'Status', 'Last sign-in', 'Created'], rows },
  none: html`No users match your search. <a href="${path}">Show all users</a>`,
})}`,
    };
  },
});

const statuses = [
  { value: 'active', label: 'active' },
  { value: 'inactive', label: 'inactive' },
  { value: 'invited', label: 'invited, not joined' },
];
