import { type ArticleStatus, NewArticle } from '@itsm-api/contract';
import * as z from 'zod';
import type { EditableArticle } from '../../../resources/articles/queries.ts';
import { type FormState, form, type PageRequest } from '../../framework/page.ts';
import { emptyAsNull, submit, textArea, textField, unixLines } from '../../ui/form-fields.ts';
import { badge, html, type SafeHtml, section } from '../../ui/html.ts';
import { renderArticle } from './article-html.ts';

export const path = '/developer/articles';
export const roles = ['ADMIN', 'AGENT'] as const;
const { shape } = NewArticle;

export const ArticleFields = z.strictObject({
  title: shape.title,
  category: emptyAsNull(shape.category),
  body: unixLines(shape.body),
});

/** The form that shows a preview of the typed text. It stores nothing. */
export const previewForm = form({
  fields: z.object({ body: unixLines(shape.body) }),
  audit: null,
  run: async ({ visit, fields }) => ({ found: await renderArticle(visit.context.db.$tenantId, fields.body) }),
});

/** Renders the preview of the typed text, if the browser requested it. */
export function renderPreview({ sent }: Pick<PageRequest, 'sent'>): SafeHtml | null {
  const found = sent.preview?.found;
  return found === undefined ? null : section('Preview', found as SafeHtml);
}

/**
 * Renders the fields and buttons of an article's form.
 * @param address the address of the page, to which the button "Preview" sends the form
 */
export function articleInputs(
  sent: FormState | undefined,
  { address, save, article }: { address: string; save: string; article?: EditableArticle },
): SafeHtml {
  const { title, category, body } = article ?? {};
  return html`${textField(sent, { name: 'title', label: 'Title', value: title, required: true })}
${textField(sent, { name: 'category', label: 'Category', value: category, hint: 'Free text without commas. Leave empty if there is none.' })}
${textArea(sent, { name: 'body', label: 'Text', value: body, rows: 20, hint: 'Markdown, at most 256 KiB. HTML is shown as text.' })}
<p class="actions">${submit(save)} <button type="submit" class="button plain" formaction="${address}?form=preview" formnovalidate>Preview</button></p>`;
}

export function statusBadge(status: ArticleStatus): SafeHtml {
  return badge(status, status === 'PUBLISHED' ? 'good' : status === 'DRAFT' ? 'warn' : 'plain');
}
