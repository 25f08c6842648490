import { UserQuery, UserRole } from '@itsm-api/contract';
import * as z from 'zod';
import { listUsers } from '../../../resources/users/queries.ts';
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
import { renderStatus } from './detail.ts';

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
    active: optional(z.enum(['true', 'false'])),
  }),
  async show({ visit, query, address }) {
    const { q, role, active, page } = query;
    const { list, words } = await searchList(q, UserQuery.shape.q, (q) =>
      listUsers(visit.context, { page, perPage, q, role: role && [role], active: active && [active === 'true'] }),
    );
    const rows = list.data.map((user) => [
      html`<a href="${path}/${user.id}">${user.name}</a> ${user.kind === 'SERVICE' ? badge('service account') : null}`,
      user.email,
      user.role,
      renderStatus(user),
      visit.time(user.createdAt),
    ]);
    const filters = [
      selectField(undefined, {
        name: 'role',
        label: 'Role',
        value: role,
        options: withAnyOption(UserRole.options, 'Any'),
      }),
      selectField(undefined, { name: 'active', label: 'Status', value: active, options: states }),
    ];
    return {
      title: 'Users',
      body: html`<p class="lead">The users of this workspace, newest first.</p>
<p class="actions">${linkButton(`${path}/new`, 'Invite a user', 'main')}
${linkButton(`${path}/new-service-account`, 'Create a service account')}</p>
${searchForm(path, words, 'Name or email', filters)}
<div id="found">${table('Users', ['Name', 'Email', 'Role', 'Status', 'Created'], rows, renderEmptyList(words, 'No users match your search.'))}
${pager(list.meta, address)}</div>`,
    };
  },
});

const states = [
  { value: '', label: 'Any' },
  { value: 'true', label: 'active' },
  { value: 'false', label: 'inactive' },
];
