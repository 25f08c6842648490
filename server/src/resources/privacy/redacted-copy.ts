import type { Changes, CustomFields } from '@itsm-api/contract';

/** The text that replaces a redacted text. */
export const redactedText = '[redacted]';

/** What a redaction replaces in copies of rows, by id. */
export interface RedactedRows {
  /**
   * The tickets whose copies can contain redacted texts. If `isRedacted` is false, only comments or attachments of the
   * ticket are redacted. `customFields` are the current ones.
   */
  tickets: ReadonlyMap<number, { isRedacted: boolean; customFields: CustomFields }>;
  comments: ReadonlySet<number>;
  attachments: ReadonlySet<number>;
  redactedAt: string;
}

type Fields = Record<string, unknown>;

/**
 * Returns a copy of an event, of a response or of a part of them, with redacted texts. Finds tickets, approvals,
 * comments and attachments by their fields. In copies of a redacted ticket, the custom fields have their current
 * values, because a request may have removed personal data from them.
 */
export function redactCopy(value: unknown, rows: RedactedRows): unknown {
  if (Array.isArray(value)) return value.map((item) => redactCopy(item, rows));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  const { redactedAt } = rows;
  const { id } = fields as { id: number };
  const ticket = rows.tickets.get(id);
  // A link also has an id and a ticket number.
  if ('ticketNumber' in fields && 'title' in fields && ticket?.isRedacted) {
    const { customFields } = ticket;
    return { ...fields, ...redactTexts(fields, ticketTexts), customFields, redactedAt };
  }
  if ('authorId' in fields && rows.comments.has(id)) {
    return { ...fields, body: redactedText, ...('redactedAt' in fields && { redactedAt }) };
  }
  if ('approverId' in fields && rows.tickets.get((fields as { ticketId: number }).ticketId)?.isRedacted) {
    return { ...fields, ...redactTexts(fields, approvalTexts) };
  }
  if ('sha256' in fields && rows.attachments.has(id)) return { ...fields, name: redactedText };
  const copy = Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, redactCopy(each, rows)]));
  const eventTicket = rows.tickets.get((fields.ticket as { id: number } | undefined)?.id ?? 0);
  return 'changes' in fields && eventTicket !== undefined
    ? { ...copy, changes: redactChanges(fields.changes as Changes, { ...eventTicket, attachments: rows.attachments }) }
    : copy;
}

const approvalTexts = ['note', 'comment'] as const;
const ticketTexts = ['title', 'description', 'resolution'] as const;

function redactTexts(fields: Fields, names: readonly string[]): Fields {
  const present = names.filter((name) => typeof fields[name] === 'string');
  return Object.fromEntries(present.map((name) => [name, redactedText]));
}

/** Returns the changes of a ticket with redacted texts, without custom fields and names of deleted attachments. */
export function redactChanges(
  changes: Changes,
  { isRedacted, attachments }: { isRedacted: boolean } & Pick<RedactedRows, 'attachments'>,
): Changes {
  const redactOne = (name: string, value: unknown): unknown => {
    if (name === 'attachments' && attachments.has(Object(value).id)) return { ...Object(value), name: redactedText };
    if (!isRedacted) return value;
    if (name === 'customFields') return {};
    return (ticketTexts as readonly string[]).includes(name) && typeof value === 'string' ? redactedText : value;
  };
  return Object.fromEntries(
    Object.entries(changes).map(([name, { from, to }]) => [
      name,
      { from: redactOne(name, from), to: redactOne(name, to) },
    ]),
  );
}
