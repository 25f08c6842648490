import type { Ticket } from '@itsm-api/contract';
import { withEtag } from '../../shared/etag.ts';
import { serializeTimestamp, serializeTimestamps } from '../../shared/serialize.ts';
import { formatTicketNumber } from '../shared/ticket-number.ts';
import type { TicketRow } from './sql.ts';

/** Serializes a ticket for API responses and events. */
export function presentTicket(row: TicketRow): Ticket {
  return withEtag(row.version, {
    id: row.id,
    ticketNumber: formatTicketNumber(row.type, row.number),
    title: row.title,
    description: row.description,
    type: row.type,
    status: row.status,
    priority: row.priority,
    category: row.category,
    categoryConfigId: row.categoryConfigId,
    formKey: row.formKey,
    requesterId: row.requesterId,
    assigneeId: row.assigneeId,
    teamId: row.teamId,
    watcherUserIds: row.watcherUserIds,
    assetIds: row.assetIds,
    tags: row.tags,
    parentId: row.parentId,
    externalId: row.externalId,
    customFields: row.customFields,
    resolution: row.resolution,
    resolvedAt: serializeTimestamp(row.resolvedAt),
    closedAt: serializeTimestamp(row.closedAt),
    dueAt: serializeTimestamp(row.dueAt),
    firstResponseDueAt: serializeTimestamp(row.firstResponseDueAt),
    plannedStartAt: serializeTimestamp(row.plannedStartAt),
    plannedEndAt: serializeTimestamp(row.plannedEndAt),
    approvalStatus: row.approvalStatus,
    firstRespondedAt: serializeTimestamp(row.firstRespondedAt),
    redactedAt: serializeTimestamp(row.redactedAt),
    commentCount: row.commentCount,
    attachmentCount: row.attachmentCount,
    linkCount: row.linkCount,
    ...serializeTimestamps(row),
  });
}
