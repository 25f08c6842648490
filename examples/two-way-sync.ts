import { readFile, rename, writeFile } from 'node:fs/promises';
import { ItsmClient, isItsmError, type Ticket } from '@itsm-api/client';

/**
 * Syncs the titles and priorities of tickets with another system, in both directions (docs/guides/two-way-sync.md). The
 * file other.json represents the other system. Run the program again to sync later changes.
 *
 *     ITSM_KEY=itsm_… node examples/two-way-sync.ts other.json sync.json
 */
const { ITSM_URL = 'http://127.0.0.1:3000', ITSM_KEY } = process.env;
const [otherFile = 'other.json', stateFile = 'sync.json'] = process.argv.slice(2);

/** The fields that both systems have. */
const fields = ['title', 'priority'] as const;
type Item = Pick<Ticket, (typeof fields)[number]>;

interface State {
  cursor?: string;
  /** For each ticket: its item in the other system, its last known version, and the fields that both had then. */
  links: Record<number, { key: string; etag: string; base: Item }>;
}

const client = new ItsmClient({ baseUrl: ITSM_URL, apiKey: ITSM_KEY, userAgent: 'two-way-sync' });
const items = await readJson<Record<string, Item>>(otherFile, {});
const state = await readJson<State>(stateFile, { links: {} });
const counts = { tickets: 0, items: 0, echoes: 0 };

const changed = new Map<number, Ticket>();
const feed = client.tickets.changes({ cursor: state.cursor });
for await (const ticket of feed) {
  // The program's own write returned this ETag, so the change is an echo.
  if (ticket.etag === state.links[ticket.id]?.etag) counts.echoes += 1;
  else changed.set(ticket.id, ticket);
}
for (const [id, { key, base }] of Object.entries(state.links)) {
  if (isDifferent(items[key] ?? base, base) && !changed.has(Number(id)))
    changed.set(Number(id), await client.tickets.get(Number(id)));
}
for (const ticket of changed.values()) await reconcile(ticket);

const linked = new Set(Object.values(state.links).map(({ key }) => key));
for (const [key, item] of Object.entries(items)) if (!linked.has(key)) await createTicket(key, item);

state.cursor = feed.cursor;
// If the program is killed before it saves the state, the next run finds equal fields and writes nothing twice.
await save(otherFile, items);
await save(stateFile, state);
console.log(`Wrote ${counts.tickets} tickets and ${counts.items} items, skipped ${counts.echoes} echoes.`);

/** Writes the merged fields of a ticket and its item to the systems that don't have them yet. */
async function reconcile(ticket: Ticket): Promise<void> {
  const link = state.links[ticket.id];
  const key = link?.key ?? ticket.externalId?.replace(/^other:/, '') ?? ticket.ticketNumber;
  const theirs: Item = { title: ticket.title, priority: ticket.priority };
  const ours = items[key];
  const merged = ours === undefined ? theirs : merge(link?.base, ours, theirs);
  if (ours === undefined || isDifferent(merged, ours)) counts.items += 1;
  items[key] = merged;
  let { etag } = ticket;
  if (isDifferent(merged, theirs)) {
    try {
      ({ etag } = await client.tickets.update(ticket.id, merged, { ifMatch: etag }));
      counts.tickets += 1;
    } catch (error) {
      // The feed returns the newer version in the next run, which merges again.
      if (isItsmError(error) && error.code === 'PRECONDITION_FAILED') return;
      throw error;
    }
  }
  state.links[ticket.id] = { key, etag, base: merged };
}

/** Takes each field from the system that changed it. If both changed it, takes it from the ticket. */
function merge(base: Item | undefined, ours: Item, theirs: Item): Item {
  const isOurs = (field: keyof Item) => theirs[field] === base?.[field];
  return {
    title: isOurs('title') ? ours.title : theirs.title,
    priority: isOurs('priority') ? ours.priority : theirs.priority,
  };
}

async function createTicket(key: string, item: Item): Promise<void> {
  const rest = { type: 'INCIDENT', category: 'OTHER', description: `From the other system: ${key}.` } as const;
  try {
    const { id, etag } = await client.tickets.create({ ...item, ...rest, externalId: `other:${key}` });
    state.links[id] = { key, etag, base: item };
    counts.tickets += 1;
  } catch (error) {
    // An earlier run created the ticket and was killed. The feed returns the ticket, which names the item.
    if (!(isItsmError(error) && error.code === 'EXTERNAL_ID_EXISTS')) throw error;
  }
}

function isDifferent(one: Item, other: Item): boolean {
  return fields.some((field) => one[field] !== other[field]);
}

async function readJson<Content>(file: string, fallback: Content): Promise<Content> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? fallback : JSON.parse(text);
}

/** Writes a temporary file and then renames it, so the file is always complete. */
async function save(file: string, content: object): Promise<void> {
  await writeFile(`${file}.part`, JSON.stringify(content, undefined, 2));
  await rename(`${file}.part`, file);
}
