import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type ApiChanges, ItsmClient, type Ticket } from '@itsm-api/client';

/**
 * Reports a problem with an asset, syncs the workspace to a folder, and prints the article that solves the problem.
 *
 *     ITSM_KEY=itsm_… node examples/service-desk.ts workspace
 *
 * Each run reports the problem again, and syncs only the changes since the previous run.
 */
const { ITSM_URL = 'http://127.0.0.1:3000', ITSM_KEY } = process.env;
const folder = process.argv[2] ?? 'workspace';
const client = new ItsmClient({ baseUrl: ITSM_URL, apiKey: ITSM_KEY, userAgent: 'service-desk' });

const asset = await client.assets.create({ name: 'Printer', assetTag: `PR-${Date.now()}`, type: 'PRINTER' });
const problem = { title: 'Paper jam in the printer', description: 'Every third page.', assetIds: [asset.id] };
const fields = { ...problem, type: 'INCIDENT', category: 'HARDWARE' } as const;
const dueAt = new Date(Date.now() + 8 * 60 * 60 * 1000).toISOString();
const ticket = await client.tickets.create({ ...fields, dueAt });
const content = Buffer.alloc(20 * 1024 * 1024, 'paper jam\n');
const log = await client.tickets.attach(ticket.id, { name: 'printer.log', type: 'text/plain', content });
const duplicate = await client.tickets.create(fields);
await client.links.create(duplicate.id, { type: 'DUPLICATES', ticketId: ticket.id });
const comment = { body: 'The log shows each jam.', visibility: 'PUBLIC', attachmentIds: [log.id] } as const;
await client.comments.create(ticket.id, comment);
console.log(`Created ${ticket.ticketNumber} and its duplicate ${duplicate.ticketNumber}.`);

/** Makes the files of a ticket equal to its attachments. Each file has an id as its name, because names can be unsafe. */
async function syncFiles({ id, attachmentCount }: Ticket): Promise<void> {
  const files = `${folder}/files/${id}`;
  const attachments = attachmentCount > 0 ? await client.attachments.list(id).toArray() : [];
  const ids = attachments.map((attachment) => String(attachment.id));
  if (ids.length > 0) await mkdir(files, { recursive: true });
  const existing = await readdir(files).catch((): string[] => []);
  for (const name of existing.filter((name) => !ids.includes(name))) await rm(`${files}/${name}`);
  for (const name of ids.filter((name) => !existing.includes(name))) {
    await writeFile(`${files}/${name}.part`, (await client.attachments.download(name)).body);
    await rename(`${files}/${name}.part`, `${files}/${name}`);
  }
}

type Read<Row> = (cursor?: string) => ApiChanges<Row>;
async function sync<Row extends { id: number }>(name: string, read: Read<Row>, save = async (_row: Row) => {}) {
  await mkdir(`${folder}/${name}`, { recursive: true });
  const changes = read(await readFile(`${folder}/${name}/cursor`, 'utf8').catch(() => undefined));
  for await (const { data, meta } of changes.pages()) {
    for (const row of data) await save(row);
    for (const row of data) await writeFile(`${folder}/${name}/${row.id}.json`, JSON.stringify(row));
    await writeFile(`${folder}/${name}/cursor.part`, meta.nextCursor);
    await rename(`${folder}/${name}/cursor.part`, `${folder}/${name}/cursor`);
    console.log(`Synced ${name}: ${data.length} changed.`);
  }
}
await sync('tickets', (cursor) => client.tickets.changes({ cursor }), syncFiles);
await sync('comments', (cursor) => client.comments.changes({ cursor }));
await sync('assets', (cursor) => client.assets.changes({ cursor }));

const [found] = await client.articles.list({ q: ticket.title }).toArray({ limit: 1 });
if (found) console.log(`\n${found.title}\n\n${(await client.articles.get(found.id)).body}`);
