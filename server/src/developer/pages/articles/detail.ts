import { type ArticlePatch, type ArticleStatus, IdParam } from '@itsm-api/contract';
import * as z from 'zod';
import {
  createArticle,
  type EditableArticle,
  getEditableArticle,
  updateArticle,
} from '../../../resources/articles/queries.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { form, type PageRequest, page } from '../../framework/page.ts';
import { renderForm, submit } from '../../ui/form-fields.ts';
import { facts, html, section } from '../../ui/html.ts';
import { ArticleFields, articleInputs, path, previewForm, renderPreview, roles, statusBadge } from './fields.ts';

export const newArticle = page({
  path: `${path}/new`,
  roles,
  async show(request) {
    const { address } = request;
    return {
      title: 'New article',
      body: html`<p><a href="${path}">All articles</a></p>
${renderForm(keepTyped(request, 'create'), 'create', (sent) => articleInputs(sent, { address, save: 'Create draft' }))}
${renderPreview(request)}`,
    };
  },
  forms: {
    create: form({
      fields: ArticleFields,
      audit: 'article.created',
      run: async ({ visit, fields }) => toResult(await createArticle(visit.context, fields)),
    }),
    preview: previewForm,
  },
});

/** The page of an article. */
export const article = page({
  path: `${path}/:id`,
  roles,
  params: IdParam,
  async show(request) {
    const { visit, params, address, sent } = request;
    const article = await getEditableArticle(visit.context, params.id);
    // After a preview, the form still contains the ETag of the version that the user has edited.
    const etag = sent.preview?.values.etag?.[0] ?? article.etag;
    return {
      title: article.title,
      body: html`<p><a href="${path}">All articles</a></p>
${facts({
  ID: article.id,
  Status: statusBadge(article.status),
  'Imported from': article.path,
  Created: visit.time(article.createdAt),
  Updated: visit.time(article.updatedAt),
})}
<div class="actions">${statusForms(request, article)}</div>
${section(
  'Edit',
  renderForm(
    keepTyped(request, 'change'),
    'change',
    (sent) => html`${etagField({ etag })}${articleInputs(sent, { address, save: 'Save', article })}`,
  ),
)}
${renderPreview(request)}`,
    };
  },
  forms: {
    change: form({
      params: IdParam,
      fields: ArticleFields.extend({ etag: Etag }),
      audit: 'article.updated',
      run: async ({ visit, params, fields: { etag, ...fields } }) =>
        toResult(await changeIfUnchanged(visit.context, etag, (context) => updateArticle(context, params.id, fields))),
    }),
    preview: previewForm,
    publish: statusForm('article.published', { status: 'PUBLISHED' }),
    draft: statusForm('article.unpublished', { status: 'DRAFT' }),
    archive: statusForm('article.archived', { status: 'ARCHIVED' }),
  },
});

/** Defines the form of a button that changes the status of an article. */
function statusForm(audit: string, patch: Pick<ArticlePatch, 'status'>) {
  return form({
    params: IdParam,
    fields: z.strictObject({ etag: Etag }),
    audit,
    run: async ({ visit, params, fields: { etag } }) =>
      toResult(await changeIfUnchanged(visit.context, etag, (context) => updateArticle(context, params.id, patch))),
  });
}

/** The buttons that change the status, by current status. */
const moves: Record<ArticleStatus, Record<string, string>> = {
  DRAFT: { publish: 'Publish', archive: 'Archive' },
  PUBLISHED: { draft: 'Change to draft', archive: 'Archive' },
  ARCHIVED: { publish: 'Publish', draft: 'Change to draft' },
};

function statusForms(request: PageRequest, article: EditableArticle) {
  return Object.entries(moves[article.status]).map(([name, label]) =>
    renderForm(request, name, () => html`${etagField(article)}${submit(label, 'plain')}`),
  );
}

/** Returns the request with the values that the browser sent for a preview, so that the form `name` shows them. */
function keepTyped(request: PageRequest, name: string): PageRequest {
  const typed = request.sent[name] ?? request.sent.preview;
  return typed === undefined ? request : { ...request, sent: { [name]: typed } };
}

function toResult({ id, title }: EditableArticle) {
  return { redirect: `${path}/${id}`, subject: title, target: { type: 'article', id } as const };
}
