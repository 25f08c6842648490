import * as z from 'zod';
import type { CellStyle, NounDeclaration } from '../../../administration/noun.ts';
import { describeColumns, withArticle } from '../../../administration/noun-columns.ts';
import { fieldsOf, keyShape, toRequest } from '../../../administration/noun-fields.ts';
import { findUserNames, findUsersById } from '../../../resources/users/queries.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { type AnyPage, form, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { filterField, PageNumber, perPage, renderSearch, SearchText, searchList } from '../../ui/filtered-list.ts';
import { optional, renderForm, submit } from '../../ui/form-fields.ts';
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
  const operations = await noun.load();
  const parts = { noun, operations, path: `/developer/${noun.path}`, fields: fieldsOf(noun) };
  const files = operations.csv?.((csv) =>
    operations.rows === undefined ? [] : [csvImport(csv), ...csvFiles({ ...csv, rows: operations.rows })],
  );
  return [listPage(parts), ...(noun.hasOwnForms === true ? [] : [newPage(parts), rowPage(parts)]), ...(files ?? [])];
}

/** What the pages of a noun share. */
interface Parts {
  noun: NounDeclaration;
  operations: Awaited<ReturnType<NounDeclaration['load']>>;
  path: string;
  fields: ReturnType<typeof fieldsOf>;
}

function listPage({ noun, operations, path, fields }: Parts): AnyPage {
  const { one, many, schemas, search, isShort = false } = noun;
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
  return page({
    path,
    menu: capitalize(many),
    roles,
    query: z.strictObject({ page: PageNumber, ...filterShape }),
    async show({ visit, query: { page, ...given }, address }) {
      const { q = '', ...chosen }: Partial<Record<string, string>> = given;
      const filters = Object.entries(chosen).filter(([, value]) => value !== undefined);
      const found = await searchList(q, schemas.query.shape.q ?? z.undefined(), (q) =>
        operations.list(visit.context, {
          ...Object.fromEntries(filters.map(([name, value]) => [name, [value]])),
          ...{ page, perPage: isShort ? 100 : perPage, q },
        }),
      );
      const { titles, rows } = await renderRows(visit, noun, found.list.data);
      const shown = { caption: capitalize(many), heads: titles, rows, none: none(q !== '' || filters.length > 0) };
      const pages = isShort ? null : pager(found.list.meta, address);
      const inputs = filtered.map(({ name, label, choices = [] }) => filterField(name, label, chosen[name], choices));
      return {
        title: capitalize(many),
        body: html`<p class="lead">${withCode(noun.lead)}</p>
${hasFiles ? noun.csvColumns?.((csv) => importedNotice(csv, visit.flash)) : null}
<p class="actions">${linkButton(`${path}/new`, `New ${one}`, 'main')}${hasFiles ? html` ${linkButton(`${path}/import`, 'Import CSV')} ${linkButton(`${path}/export`, 'Export CSV')}` : null}</p>
${
  search === undefined
    ? html`${table(shown.caption, titles, rows, shown.none)}${pages}`
    : renderSearch(found, { path, address, placeholder: search, filters: inputs, ...shown })
}`,
      };
    },
  });
}

function newPage({ noun, operations, path, fields }: Parts): AnyPage {
  const inCreate = fields.filter((each) => each.isInCreate);
  return page({
    path: `${path}/new`,
    roles,
    async show(request) {
      const inputs = await renderFields(operations, request.visit.context, inCreate);
      const body = renderForm(request, 'create', (sent) => html`${inputs(sent)}${submit('Create')}`);
      return { title: `New ${noun.one}`, body: html`${linkToList(noun)}${body}` };
    },
    forms: {
      create: form({
        fields: z.strictObject(formShape(operations, inCreate)),
        audit: `${noun.audit}.created`,
        run: async ({ visit: { context }, fields }) =>
          toResult(noun, await operations.create(context, await toRequest(operations, context, fields))),
      }),
    },
  });
}

function rowPage({ noun, operations, path, fields }: Parts): AnyPage {
  const inUpdate = fields.filter((each) => each.isInUpdate);
  const Key = z.strictObject(keyShape(noun));
  return page({
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
      const etag = etagField({ etag: String(row.etag) });
      return {
        title: noun.title.map((name) => row[name]).join(': '),
        body: html`${linkToList(noun)}
${facts(Object.fromEntries(values))}
${await renderPeople(visit, noun, row)}
${section(
  'Details',
  renderForm(request, 'change', (sent) => html`${etag}${inputs(sent)}${submit('Save')}`),
)}`,
      };
    },
    forms: {
      change: form({
        params: Key,
        fields: z.strictObject({ ...formShape(operations, inUpdate), etag: Etag }),
        audit: `${noun.audit}.updated`,
        async run({ visit: { context }, params, fields: { etag, ...typed } }) {
          const patch = await toRequest(operations, context, typed);
          const change = (within: typeof context) => operations.update(within, params, patch);
          return toResult(noun, await changeIfUnchanged(context, String(etag), change));
        },
      }),
    },
  });
}

function linkToList({ path, many }: NounDeclaration): SafeHtml {
  return html`<p><a href="/developer/${path}">All ${many}</a></p>`;
}

function addressOf({ path, key }: NounDeclaration, row: Row): string {
  return withQuery(`/developer/${path}/one`, Object.fromEntries(key.map((name) => [name, String(row[name])])));
}

/** Returns the result of a form that has written a row. */
function toResult(noun: NounDeclaration, row: Row) {
  return {
    ...{ redirect: addressOf(noun, row), subject: String(row[noun.title[0] ?? '']) },
    ...(noun.isAuditedByForms === true && { target: { type: noun.audit, id: Number(row.id) } }),
  };
}

/** Returns the titles and the cells of the table of a list. The first cell links to the page of the row. */
async function renderRows(visit: UserContext, noun: NounDeclaration, data: readonly Row[]) {
  const columns = describeColumns(noun.list);
  const users = columns.filter(({ style }) => style === 'user');
  const ids = data.flatMap((row) => users.map(({ cell }) => cell(row))).filter((id) => typeof id === 'number');
  const names = await findUserNames(visit.context, ids);
  const rows = data.map((row) => {
    const [first, ...others] = columns.map(({ style, cell }) => renderCell(cell(row), { visit, style, names }));
    return [html`<a href="${addressOf(noun, row)}">${first}</a>`, ...others];
  });
  return { titles: columns.map(({ title }) => title), rows };
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
