import * as z from 'zod';
import type { CellStyle, NounDeclaration } from '../../../administration/noun.ts';
import { describeColumns, withArticle } from '../../../administration/noun-columns.ts';
import { fieldsOf, keyShape, toRequest } from '../../../administration/noun-fields.ts';
import { findUserNames, findUsersById } from '../../../resources/users/queries.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { type AnyPage, form, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import {
  PageNumber,
  perPage,
  renderEmptyList,
  SearchText,
  searchForm,
  searchList,
  withAnyOption,
} from '../../ui/filtered-list.ts';
import { optional, renderForm, selectField, submit } from '../../ui/form-fields.ts';
import {
  badge,
  type Cell,
  facts,
  html,
  linkButton,
  pager,
  type SafeHtml,
  section,
  table,
  withQuery,
} from '../../ui/html.ts';
import { csvFiles } from '../csv/csv-download.ts';
import { csvImport, importedNotice } from '../csv/csv-upload.ts';
import { formShape, renderFields } from './noun-form.ts';

type Row = Record<string, unknown>;

const roles = ['ADMIN'] as const;

/** Returns the pages of a noun that administrators manage: the list, the form for a new row, and the page of a row. */
export async function nounPages(noun: NounDeclaration): Promise<AnyPage[]> {
  const { one, many, audit, schemas, search, isShort = false } = noun;
  const operations = await noun.load();
  const path = `/developer/${noun.path}`;
  const fields = fieldsOf(noun);
  const [inCreate, inUpdate] = [fields.filter((each) => each.isInCreate), fields.filter((each) => each.isInUpdate)];
  const filtered = search === undefined ? [] : fields.filter(({ name }) => noun.filters?.includes(name));
  const filterShape: Record<string, z.ZodType> = {
    ...(search !== undefined && { q: SearchText }),
    ...Object.fromEntries(filtered.map(({ name, choices = [] }) => [name, optional(z.enum(choices))])),
  };
  const hasFiles = operations.rows !== undefined && operations.csv !== undefined;
  const none = (isFiltered: boolean) => {
    if (isFiltered) return html`No ${many} match your search. <a href="${path}">Show all ${many}</a>`;
    const file = hasFiles ? html` or <a href="${path}/import">import a CSV file</a>` : null;
    return html`No ${many} yet. <a href="${path}/new">Create ${withArticle(one)}</a>${file}.`;
  };
  const Key = z.strictObject(keyShape(noun));
  const all = html`<p><a href="${path}">All ${many}</a></p>`;
  const addressOf = (row: Row) =>
    withQuery(`${path}/one`, Object.fromEntries(noun.key.map((name) => [name, String(row[name])])));
  const titleOf = (row: Row) => noun.title.map((name) => row[name]).join(': ');
  const toResult = (row: Row) => ({
    ...{ redirect: addressOf(row), subject: String(row[noun.title[0] ?? '']) },
    ...(noun.isAuditedByForms === true && { target: { type: audit, id: Number(row.id) } }),
  });

  const list = page({
    path,
    menu: capitalize(many),
    roles,
    query: z.strictObject({ page: PageNumber, ...filterShape }),
    async show({ visit, query: { page, ...given }, address }) {
      const { q = '', ...chosen }: Partial<Record<string, string>> = given;
      const filters = Object.entries(chosen).filter(([, value]) => value !== undefined);
      const { list, words } = await searchList(q, schemas.query.shape.q ?? z.undefined(), (q) =>
        operations.list(visit.context, {
          ...Object.fromEntries(filters.map(([name, value]) => [name, [value]])),
          ...{ page, perPage: isShort ? 100 : perPage, q },
        }),
      );
      const columns = describeColumns(noun.list);
      const users = columns.filter(({ style }) => style === 'user');
      const ids = list.data.flatMap((row) => users.map(({ cell }) => cell(row))).filter((id) => typeof id === 'number');
      const names = await findUserNames(visit.context, ids);
      const rows = list.data.map((row) => {
        const [first, ...others] = columns.map(({ style, cell }) => renderCell(cell(row), { visit, style, names }));
        return [html`<a href="${addressOf(row)}">${first}</a>`, ...others];
      });
      const titles = columns.map(({ title }) => title);
      const found = table(capitalize(many), titles, rows, renderEmptyList(words, none(q !== '' || filters.length > 0)));
      const pages = isShort ? null : pager(list.meta, address);
      const inputs = filtered.map(({ name, label, choices = [] }) =>
        selectField(undefined, { name, label, value: chosen[name], options: withAnyOption(choices, 'Any') }),
      );
      return {
        title: capitalize(many),
        body: html`<p class="lead">${withCode(noun.lead)}</p>
${hasFiles ? noun.csvColumns?.((csv) => importedNotice(csv, visit.flash)) : null}
<p class="actions">${linkButton(`${path}/new`, `New ${one}`, 'main')}${hasFiles ? html` ${linkButton(`${path}/import`, 'Import CSV')} ${linkButton(`${path}/export`, 'Export CSV')}` : null}</p>
${search === undefined ? html`${found}${pages}` : html`${searchForm(path, words, search, inputs)}<div id="found">${found}${pages}</div>`}`,
      };
    },
  });

  const create = page({
    path: `${path}/new`,
    roles,
    async show(request) {
      const inputs = await renderFields(operations, request.visit.context, inCreate);
      const body = renderForm(request, 'create', (sent) => html`${inputs(sent)}${submit('Create')}`);
      return { title: `New ${one}`, body: html`${all}${body}` };
    },
    forms: {
      create: form({
        fields: z.strictObject(formShape(operations, inCreate)),
        audit: `${audit}.created`,
        run: async ({ visit: { context }, fields }) =>
          toResult(await operations.create(context, await toRequest(operations, context, fields))),
      }),
    },
  });

  const detail = page({
    path: `${path}/one`,
    roles,
    params: Key,
    hasParamsInQuery: true,
    async show(request) {
      const { visit, params } = request;
      const row = await operations.get(visit.context, params);
      const shown = inUpdate.map((field) => ({ ...field, isHidden: noun.isShown?.(row, field.name) === false }));
      const inputs = await renderFields(operations, visit.context, shown, row);
      const lines = describeColumns(noun.facts ?? [...noun.key, 'createdAt', 'updatedAt']);
      const values = lines.map(({ title, style, cell }) => [title, renderCell(cell(row), { visit, style }) || null]);
      return {
        title: titleOf(row),
        body: html`${all}
${facts(Object.fromEntries(values))}
${await renderPeople(visit, noun, row)}
${section(
  'Details',
  renderForm(
    request,
    'change',
    (sent) => html`${etagField({ etag: String(row.etag) })}${inputs(sent)}${submit('Save')}`,
  ),
)}`,
      };
    },
    forms: {
      change: form({
        params: Key,
        fields: z.strictObject({ ...formShape(operations, inUpdate), etag: Etag }),
        audit: `${audit}.updated`,
        async run({ visit: { context }, params, fields: { etag, ...typed } }) {
          const patch = await toRequest(operations, context, typed);
          return toResult(
            await changeIfUnchanged(context, String(etag), (context) => operations.update(context, params, patch)),
          );
        },
      }),
    },
  });
  const files = operations.csv?.((csv) =>
    operations.rows === undefined ? [] : [csvImport(csv), ...csvFiles({ ...csv, rows: operations.rows })],
  );
  return [list, ...(noun.hasOwnForms === true ? [] : [create, detail]), ...(files ?? [])];
}

interface CellContext {
  visit: UserContext;
  style: CellStyle | undefined;
  /** The names of the users in the list. */
  names?: Map<number, string>;
}

function renderCell(value: unknown, { visit, style, names }: CellContext): Cell {
  if (value === null || value === undefined || value === false) return '';
  switch (style) {
    case 'time':
      return visit.time(String(value));
    case 'status':
      return badge(String(value), inUse.has(String(value)) ? 'good' : 'plain');
    case 'warning':
      return value === 0 ? '' : badge(String(value), 'warn');
    case 'user':
      return html`<a href="/developer/users/${Number(value)}">${names?.get(Number(value))}</a>`;
    default:
      return value === true ? 'yes' : String(value);
  }
}

const inUse = new Set(['active', 'ACTIVE', 'IN_USE']);

async function renderPeople({ context }: UserContext, { people }: NounDeclaration, row: Row): Promise<SafeHtml | null> {
  if (people === undefined) return null;
  const members = await findUsersById(context, people.ids(row));
  const items = members.map(
    ({ id, name, active }) => html`<li><a href="/developer/users/${id}">${name}</a>${active ? '' : ' (inactive)'}</li>`,
  );
  return section(`${people.title} (${members.length})`, html`<ul>${items}</ul>`);
}

/** Renders the parts of a text in backticks as code. */
function withCode(text: string): SafeHtml {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
