import * as z from 'zod';
import { endpoints, FileContent, IdParam, item, list, listQuery, meta } from '../endpoint.ts';
import { Id, responseText, TicketId, Timestamp, trimmedText, UserId } from '../fields.ts';
import { attachmentLimits } from '../limits.ts';
import { TicketIdParam } from './ticket-reference.ts';

export const FileName = trimmedText(1, 255)
  .refine((name) => !/[/\\\t\n\r]/.test(name) && name !== '.' && name !== '..', 'must be a file name without a path')
  .meta({ description: 'The name of the file, without a path.', example: 'vpn-client.log' });

/** The declared type of a file without a `Content-Type`. */
export const defaultFileType = 'application/octet-stream';

export const Attachment = z
  .object({
    id: Id,
    ticketId: TicketId.meta({ description: 'The ticket to which the file is attached.' }),
    name: responseText(FileName),
    contentType: z.string().meta({
      description:
        `The \`Content-Type\` of the upload, or \`${defaultFileType}\` if it was missing, malformed or a range such as ` +
        "`text/*`. The server doesn't check that the content has this type.",
    }),
    size: z.int().min(1).meta({ description: 'The size in bytes.' }),
    sha256: z.string().meta({ description: 'The SHA-256 hash of the content, in lowercase hexadecimal.' }),
    uploaderId: UserId.meta({ description: 'The user who uploaded the file: the user of the API key.' }),
    createdAt: Timestamp.meta({ description: 'When the file was attached. Attachments never change.' }),
  })
  .meta({
    id: 'Attachment',
    description: 'A file that is attached to a ticket. `GET /attachments/{id}/content` returns its content.',
    example: {
      id: 1,
      ticketId: 38,
      name: 'vpn-client.log',
      contentType: 'text/plain',
      size: 4821,
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      uploaderId: 2,
      createdAt: '2026-11-20T10:05:00.000Z',
    },
  });
export type Attachment = z.output<typeof Attachment>;

/** The value of `changes.attachments` in activity and events. */
export const ChangedAttachment = Attachment.pick({ id: true, name: true }).meta({
  id: 'ChangedAttachment',
  description: 'An attachment that was added or deleted.',
  example: { id: 1, name: 'vpn-client.log' },
});

/** The query of an upload. */
export const NewAttachmentQuery = z.strictObject({ name: FileName });
export type NewAttachmentQuery = z.output<typeof NewAttachmentQuery>;

export const AttachmentQuery = listQuery({});
export type AttachmentQuery = z.output<typeof AttachmentQuery>;

const effects = 'Changes `attachmentCount` and `updatedAt` of the ticket, and emits `ticket.updated`.';
const { maxBytes, maxWorkspaceBytes, maxConcurrentTransfers } = attachmentLimits;
const { maxIdleSeconds, minUploadBytesPerSecond, maxUploadMinutes } = attachmentLimits;

/** The description of `POST /tickets/{id}/attachments`, whose client method is `client.tickets.attach`. */
export const attachDescription =
  'The body is the content of the file, without any encoding. `Content-Type` is the type of the file: ' +
  `\`${defaultFileType}\` by default. \`Content-Length\` is required. ` +
  `By default, the maximum size of a file is ${maxBytes / 2 ** 20} MiB, and of all files of a workspace ${maxWorkspaceBytes / 2 ** 30} GiB. ` +
  `Each server process runs at most ${maxConcurrentTransfers} concurrent uploads of a workspace. ` +
  `An upload fails if it is slower than ${minUploadBytesPerSecond} bytes per second for ${maxIdleSeconds} seconds, and ` +
  `after ${maxUploadMinutes} minutes. ${effects}`;

export const attachments = endpoints({
  list: {
    method: 'GET',
    path: '/tickets/:id/attachments',
    summary: "List a ticket's attachments",
    description: 'Returns the newest attachments first, without their content.',
    metadata: meta({ scope: 'tickets:read', group: 'tickets' }),
    pathParams: TicketIdParam,
    query: AttachmentQuery,
    responses: { 200: list(Attachment) },
  },
  get: {
    method: 'GET',
    path: '/attachments/:id',
    summary: 'Get an attachment',
    description: 'Returns the name, type and size of the file, but not its content.',
    metadata: meta({ scope: 'tickets:read', group: 'tickets' }),
    pathParams: IdParam,
    responses: { 200: item(Attachment) },
  },
  download: {
    method: 'GET',
    path: '/attachments/:id/content',
    summary: 'Download an attachment',
    description:
      'Returns the content of the file. `Content-Type` is the declared type of the upload. ' +
      'Treat the content as untrusted: any client that can write tickets can upload any content. ' +
      `Each server process runs at most ${maxConcurrentTransfers} concurrent downloads of a workspace.`,
    metadata: meta({ scope: 'tickets:read', group: 'tickets', binary: 'response' }),
    pathParams: IdParam,
    responses: { 200: FileContent },
  },
  delete: {
    method: 'DELETE',
    path: '/attachments/:id',
    summary: 'Delete an attachment',
    description:
      `Returns the deleted attachment, and deletes its content. ${effects} ` +
      'Comments that refer to the attachment keep its id.',
    metadata: meta({ scope: 'tickets:write', group: 'tickets' }),
    pathParams: IdParam,
    responses: { 200: item(Attachment) },
  },
});
