import { type CategoryConfig, maxCategoryLevels, NewCategoryConfig, TicketCategory } from '@itsm-api/contract';
import * as z from 'zod';
import {
  createTicketCategory,
  getTicketCategory,
  listTicketCategories,
  updateTicketCategory,
} from '../../../resources/ticket-categories/queries.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { type FormState, form, type PageRequest, page, type View } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { PageNumber, perPage, withAnyOption } from '../../ui/filtered-list.ts';
import {
  checkbox,
  checked,
  emptyAsNull,
  optional,
  renderForm,
  selectField,
  submit,
  textField,
} from '../../ui/form-fields.ts';
import { badge, facts, html, pager, type SafeHtml, section, table, withQuery } from '../../ui/html.ts';

const path = '/developer/ticket-categories';
const { id, name, parentId, category } = NewCategoryConfig.shape;
const fields = { name, parentId: emptyAsNull(parentId.unwrap()), category: emptyAsNull(category.unwrap()) };

/**
 * The page that lists ticket categories. With the query parameter `id`, it shows one category. The path doesn't contain
 * the id, because ids can be longer than a path parameter.
 */
export const ticketCategories = page({
  path,
  menu: 'Ticket categories',
  roles: ['ADMIN'],
  query: z.strictObject({ page: PageNumber, id: optional(id) }),
  show(request) {
    const { id } = request.query;
    return id === undefined ? showList(request) : showCategory(request, id);
  },
  forms: {
    create: form({
      fields: z.strictObject({ id, ...fields }),
      audit: 'category.created',
      run: async ({ visit, fields }) => toResult(await createTicketCategory(visit.context, fields)),
    }),
    change: form({
      fields: z.strictObject({ id, ...fields, active: checked, etag: Etag }),
      audit: 'category.updated',
      async run({ visit, fields: { id, etag, ...patch } }) {
        return toResult(
          await changeIfUnchanged(visit.context, etag, (context) => updateTicketCategory(context, id, patch)),
        );
      },
    }),
  },
});

type Request = PageRequest<UserContext, unknown, { page: number; id?: string | undefined }>;

async function showList(request: Request): Promise<View> {
  const { visit, query, address } = request;
  const list = await listTicketCategories(visit.context, { page: query.page, perPage });
  const rows = list.data.map((each) => [
    html`<a href="${addressOf(each)}">${each.id}</a>`,
    each.name,
    each.parentId ?? '',
    each.category ?? '',
    each.active ? badge('active', 'good') : badge('inactive'),
    visit.time(each.updatedAt),
  ]);
  const fields = (sent: FormState | undefined) =>
    html`${textField(sent, { name: 'id', label: 'ID', required: true, hint: 'Tickets contain this value in categoryConfigId. It never changes.' })}${inputs(sent)}${submit('Create')}`;
  return {
    title: 'Ticket categories',
    body: html`<p class="lead">The categories that refine the fixed categories of tickets, in the order of their IDs. As soon as there is
one, requests can set only an active category as <code>categoryConfigId</code>.</p>
${table('Ticket categories', ['ID', 'Name', 'Parent', 'Category', 'Status', 'Updated'], rows, 'No ticket categories yet.')}
${pager(list.meta, address)}
${section('New category', renderForm(request, 'create', fields))}`,
  };
}

async function showCategory(request: Request, id: string): Promise<View> {
  const { visit } = request;
  const category = await getTicketCategory(visit.context, id);
  const fields = (sent: FormState | undefined) => html`${etagField(category)}
<input type="hidden" name="id" value="${category.id}">${inputs(sent, category)}
${checkbox('active', 'yes', 'Active: requests can set this category', sent === undefined ? category.active : 'active' in sent.values)}
${submit('Save')}`;
  return {
    title: category.name,
    body: html`<p><a href="${path}">All ticket categories</a></p>
${facts({ ID: category.id, Created: visit.time(category.createdAt), Updated: visit.time(category.updatedAt) })}
${section('Details', renderForm(request, 'change', fields))}`,
  };
}

function inputs(sent: FormState | undefined, category?: CategoryConfig): SafeHtml {
  const options = withAnyOption(TicketCategory.options, 'None');
  return html`${textField(sent, { name: 'name', label: 'Name', value: category?.name, required: true })}
${textField(sent, { name: 'parentId', label: 'Parent ID', value: category?.parentId, hint: `The category above this one. Categories have up to ${maxCategoryLevels} levels.` })}
${selectField(sent, { name: 'category', label: 'Category', value: category?.category, options, hint: 'New tickets with this category get the fixed category, unless their request contains another one.' })}`;
}

function addressOf({ id }: CategoryConfig): string {
  return withQuery(path, { id });
}

function toResult(category: CategoryConfig) {
  return { redirect: addressOf(category), subject: category.name };
}
