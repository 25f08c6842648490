import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { ItsmClient, type ItsmError, type NewComment, type NewTicketItem } from '@itsm-api/client';

/**
 * Imports the tickets and comments of another service desk from a file with JSON Lines.
 *
 *     ITSM_KEY=itsm_… node examples/migrate-tickets.ts export.ndjson former.staff@acme.example
 *
 * ITSM_KEY is an import key. The given user gets the tickets of requesters who aren't users. If the program stops, run
 * it again. It continues with the tickets that are still missing.
 */
const { ITSM_URL = 'http://127.0.0.1:3000', ITSM_KEY } = process.env;
const [file = 'export.ndjson', fallback = ''] = process.argv.slice(2);
const client = new ItsmClient({ baseUrl: ITSM_URL, apiKey: ITSM_KEY, userAgent: 'migrate-tickets' });

/** One line of the file. Change these types and the next two functions to the format of your service desk. */
type OldComment = { id: number; author: string; body: string; public: boolean; createdAt: string };
type Times = { createdAt: string; solvedAt?: string; closedAt?: string };
type People = { requester: string; assignee?: string };
type Content = { id: number; subject: string; description: string; comments: OldComment[] };
type OldTicket = Content & People & Times & { status: keyof typeof states };
const states = { new: 'OPEN', open: 'IN_PROGRESS', pending: 'PENDING', solved: 'RESOLVED', closed: 'CLOSED' } as const;

/** The ids of the workspace's users by email address. */
const users = new Map<string, number>();
for await (const { email, id } of client.users.list({ perPage: 100 })) users.set(email, id);
if (!users.has(fallback)) throw new Error('The second argument must be the email address of a user.');

function toComment({ id, author, body, public: isPublic, createdAt }: OldComment): NewComment {
  const authorId = users.get(author);
  const visibility = isPublic ? 'PUBLIC' : 'INTERNAL';
  // The author of a comment must be a user, so the text names people who aren't.
  const text = authorId === undefined ? `${author} wrote:\n\n${body}` : body;
  return { externalId: `zendesk:${id}`, authorId, body: text, visibility, createdAt };
}

function toTicket({ id, subject: title, description, ...old }: OldTicket): NewTicketItem {
  return {
    ...{ externalId: `zendesk:${id}`, title, description, type: 'INCIDENT', category: 'OTHER' },
    ...{ requesterId: users.get(old.requester) ?? users.get(fallback), assigneeId: users.get(old.assignee ?? '') },
    ...{ status: states[old.status], createdAt: old.createdAt, resolvedAt: old.solvedAt, closedAt: old.closedAt },
    comments: old.comments.slice(0, 100).map(toComment),
  };
}

const counts = { imported: 0, existing: 0, failed: 0 };

/** Returns the id of the ticket or comment that already has the external id, or undefined for another error. */
function existingId({ code, details: [first] = [] }: ItsmError): number | undefined {
  return code === 'EXTERNAL_ID_EXISTS' && first?.path === 'externalId' ? first.id : undefined;
}

function report(externalId: string | null | undefined, error: ItsmError): void {
  counts.failed++;
  console.error(`${externalId}: ${error.message}`);
}

async function importTickets(batch: OldTicket[]): Promise<void> {
  const { results } = await client.tickets.createMany(batch.map(toTicket));
  for (const { item, index, ...result } of results) {
    const id = result.ok ? result.data.id : existingId(result.error);
    if (!result.ok && id === undefined) report(item.externalId, result.error);
    if (id === undefined) continue;
    counts[result.ok ? 'imported' : 'existing']++;
    // A new ticket can have 100 comments. The other comments follow.
    const more = batch[index]?.comments.slice(100).map(toComment) ?? [];
    const { failed } = await client.comments.createMany(id, more);
    for (const { item, error } of failed) if (existingId(error) === undefined) report(item.externalId, error);
  }
  console.log(`${counts.imported} tickets imported, ${counts.existing} already existed, ${counts.failed} failed`);
}

const lines = createInterface({ input: createReadStream(file) });
const batch: OldTicket[] = [];
for await (const line of lines) if (batch.push(JSON.parse(line)) === 100) await importTickets(batch.splice(0));
if (batch.length > 0) await importTickets(batch);
if (counts.failed > 0) process.exitCode = 1;
