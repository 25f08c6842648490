import * as z from 'zod';
import { BulkItemError, bulk, bulkItems, bulkResults, itemStatus } from '../bulk.ts';
import { newRowsOf } from '../changes.ts';
import { endpoints, filter, item, list, listQuery, meta } from '../endpoint.ts';
import {
  ExternalId,
  Id,
  longText,
  responseText,
  TicketId,
  Timestamp,
  TimestampInput,
  UserId,
  validateAll,
} from '../fields.ts';
import { importField } from '../imports.ts';
import { UserReference } from '../references.ts';
import { TicketIdParam } from './ticket-reference.ts';

export const CommentVisibility = z.enum(['PUBLIC', 'INTERNAL']).meta({
  id: 'CommentVisibility',
  description:
    'The intended audience: PUBLIC comments are for the requester, and INTERNAL comments are for staff. ' +
    'The visibility is only a label: an API key that can read the ticket can read all its comments.',
});
export type CommentVisibility = z.output<typeof CommentVisibility>;

const Body = longText('The text of the comment');

/** The maximum number of attachments that a comment names. */
const maxAttachments = 50;
const AttachmentIds = z
  .array(Id)
  .refine((ids) => new Set(ids).size <= maxAttachments, {
    ...validateAll,
    error: `must contain at most ${maxAttachments} attachments`,
  })
  .meta({
    description:
      `The attachments of the ticket that belong to the comment: at most ${maxAttachments} ids, in ascending order in ` +
      'responses. An attachment can be deleted later. Its id remains.',
  });

export const Comment = z
  .object({
    id: Id,
    ticketId: TicketId.meta({ description: 'The ticket to which the comment belongs.' }),
    authorId: UserId.meta({
      description:
        'The author: the user of the API key that created the comment, or the author that an import key set.',
    }),
    body: responseText(Body),
    visibility: CommentVisibility,
    attachmentIds: AttachmentIds,
    externalId: responseText(ExternalId).nullable(),
    createdAt: Timestamp.meta({
      description: 'When the comment was created. A comment changes only if an administrator redacts it.',
    }),
    redactedAt: Timestamp.nullable().meta({
      description: 'When an administrator last replaced `body` with `[redacted]` to erase personal data, or null.',
    }),
  })
  .meta({
    id: 'Comment',
    description: 'A comment on a ticket.',
    example: {
      id: 77,
      ticketId: 38,
      authorId: 2,
      body: 'The gateway was restarted; does it still happen?',
      visibility: 'PUBLIC',
      attachmentIds: [],
      externalId: null,
      createdAt: '2026-11-20T10:05:00.000Z',
      redactedAt: null,
    },
  });
export type Comment = z.output<typeof Comment>;

/** A new comment as part of the event `ticket.updated`. */
export const EventComment = Comment.pick({
  id: true,
  authorId: true,
  body: true,
  visibility: true,
  createdAt: true,
}).meta({ id: 'EventComment', description: 'A comment on the ticket of the event.' });
export type EventComment = z.output<typeof EventComment>;

export const NewComment = z
  .strictObject({
    body: Body,
    visibility: CommentVisibility,
    attachmentIds: AttachmentIds.nullish(),
    externalId: ExternalId.nullish(),
    authorId: importField(
      UserReference,
      'The author, by id or email address, who can be inactive. The default is the user of the API key.',
    ),
    createdAt: importField(TimestampInput, 'When the comment was created.'),
  })
  .meta({
    id: 'NewComment',
    description: 'A new comment.',
    example: { body: 'The gateway was restarted; does it still happen?', visibility: 'PUBLIC' },
  });
export type NewComment = z.output<typeof NewComment>;

/** The body of a bulk request that creates comments. */
export const NewComments = z.strictObject({ comments: bulk(NewComment) }).meta({
  id: 'NewComments',
  description: 'The comments to create. Each item succeeds or fails independently.',
  example: {
    comments: [
      { body: 'The gateway was restarted; does it still happen?', visibility: 'PUBLIC' },
      { body: 'Third restart this week.', visibility: 'INTERNAL' },
    ],
  },
});
export type NewComments = z.output<typeof NewComments>;

const CreatedComment = z.object({ status: itemStatus([201]), data: Comment }).meta({
  id: 'CreatedComment',
  description: 'An item whose comment was created.',
  example: { status: 201, data: z.globalRegistry.get(Comment)?.example },
});

export const NewCommentResult = z.union([CreatedComment, BulkItemError]).meta({
  id: 'NewCommentResult',
  description: 'The result of one item. `status` shows whether the item succeeded.',
  example: z.globalRegistry.get(CreatedComment)?.example,
});
export type NewCommentResult = z.output<typeof NewCommentResult>;

export const CommentQuery = listQuery({ externalId: filter(ExternalId) });
export type CommentQuery = z.output<typeof CommentQuery>;

export const comments = endpoints({
  list: {
    method: 'GET',
    path: '/tickets/:id/comments',
    summary: "List a ticket's comments",
    description: 'Returns PUBLIC and INTERNAL comments, newest first.',
    metadata: meta({
      scope: 'tickets:read',
      group: 'tickets',
      agent: {
        tool: 'list_comments',
        when: 'Newest first.',
        short: ['authorId', 'body', 'visibility', 'createdAt'],
      },
    }),
    pathParams: TicketIdParam,
    query: CommentQuery,
    responses: { 200: list(Comment) },
  },
  changes: newRowsOf(
    '/comments/changes',
    'the comments of all tickets',
    Comment,
    meta({ scope: 'tickets:read', group: 'tickets' }),
  ),
  create: {
    method: 'POST',
    path: '/tickets/:id/comments',
    summary: 'Comment on a ticket',
    description:
      'Adds a comment to a ticket with any status. ' +
      'Changes `commentCount` and `updatedAt` of the ticket, and emits `ticket.updated`.',
    metadata: meta({
      scope: 'tickets:write',
      group: 'tickets',
      proposable: 'comments_create',
      agent: {
        tool: 'comment_on_ticket',
        when: 'PUBLIC comments are for the requester, INTERNAL for staff.',
        short: ['id', 'visibility', 'createdAt'],
      },
    }),
    pathParams: TicketIdParam,
    body: NewComment,
    responses: { 201: item(Comment) },
  },
  createMany: {
    method: 'POST',
    path: '/tickets/:id/comments/bulk',
    summary: 'Comment on a ticket many times',
    description:
      `Adds up to ${bulkItems} comments to a ticket, in the given order. ` +
      'The request counts once against the rate limits. Each item succeeds or fails independently. ' +
      '`data` contains one result for each item: the HTTP status, and the comment or the error. ' +
      'Emits `ticket.updated` for each comment.',
    metadata: meta({ scope: 'tickets:write', group: 'tickets' }),
    pathParams: TicketIdParam,
    body: NewComments,
    responses: { 200: bulkResults(NewCommentResult) },
  },
});
