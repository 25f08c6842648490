import type { Attachment } from '@itsm-api/contract';
import type { UserContext } from '../framework/request-context.ts';
import { formatSize } from './format-size.ts';
import { html, type SafeHtml, table } from './html.ts';

/** Renders attachments with links to their contents. @param names the names of the users who uploaded them, by id */
export function attachmentTable(
  visit: Pick<UserContext, 'time'>,
  attachments: readonly Attachment[],
  names: ReadonlyMap<number, string>,
): SafeHtml {
  const rows = attachments.map(({ id, name, size, uploaderId, createdAt }) => {
    const link = html`<a href="/developer/attachments/${id}/content">${name}</a>`;
    return [link, formatSize(size), names.get(uploaderId) ?? `user ${uploaderId}`, visit.time(createdAt)];
  });
  return table('Attachments', ['Name', 'Size', 'Uploaded by', 'Time'], rows, 'No attachments yet.');
}
