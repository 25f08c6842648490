import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Approval, ItsmClient, type Ticket, type User } from '@itsm-api/client';
import { signTestEvent } from '@itsm-api/client/webhooks';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Sender, startSender } from '../support/sender.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const secret = 'a secret of the test, long enough';
let sender: Sender;
let baseUrl: string;
let client: ItsmClient;
const running: ChildProcess[] = [];

beforeAll(async () => {
  sender = await startSender();
  await sender.startWorker();
  baseUrl = await sender.api.app.listen({ port: 0, host: '127.0.0.1' });
  client = new ItsmClient({ baseUrl, apiKey: sender.workspace.key });
});
afterAll(() => sender.close());
afterEach(() => {
  for (const child of running.splice(0)) child.kill();
});

/** Runs an example with Node.js. Returns its output, its exit code, and the URL of its server. */
function run(name: string, { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {}) {
  const file = fileURLToPath(new URL(`../../examples/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ITSM_URL: baseUrl, ITSM_KEY: sender.workspace.key, PORT: '0', ...env },
  });
  running.push(child);
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return {
    output: () => output,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    exit: new Promise<number | null>((resolve) => child.on('exit', resolve)),
    /** Waits until the program prints a URL, and returns the URL. */
    url: () => eventually(() => /http:\S+/.exec(output)?.[0] ?? expect.fail(`It did not listen: ${output}`)),
  };
}

describe('examples/sync-tickets.ts', () => {
  it('exports every ticket to a file with examples/sync-tickets.ts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'itsm-sync-'));
    const file = join(folder, 'tickets.ndjson');
    try {
      const { id } = await sender.workspace.createTicket();
      const program = run('sync-tickets', { args: [file] });
      expect([await program.exit, program.output()]).toEqual([0, `Exported 1 tickets to ${file}.\n`]);
      const tickets = (await readFile(file, 'utf8')).trim().split('\n');
      expect(tickets.map((line) => JSON.parse(line))).toEqual([await client.tickets.get(id)]);

      const rejected = run('sync-tickets', { args: [file], env: { ITSM_KEY: 'itsm_wrong' } });
      expect(await rejected.exit).toBe(1);
      expect(rejected.output()).toMatch(
        /^The API key is invalid, expired or revoked\. Send the complete key, or create a new one\. \(INVALID_API_KEY, page 1, request \w+\)\n$/,
      );
      expect((await readFile(file, 'utf8')).trim().split('\n')).toEqual(tickets);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('examples/two-way-sync.ts', () => {
  it('merges changes of both systems, skips echoes, and creates nothing twice', async () => {
    const own = await createWorkspace(sender.api);
    const tickets = new ItsmClient({ baseUrl, apiKey: own.key }).tickets;
    const folder = await mkdtemp(join(tmpdir(), 'itsm-two-way-'));
    const [other, state] = ['other.json', 'sync.json'].map((name) => join(folder, name)) as [string, string];
    const items = async () => JSON.parse(await readFile(other, 'utf8'));
    const change = async (key: string, fields: object) => {
      const all = await items();
      await writeFile(other, JSON.stringify({ ...all, [key]: { ...all[key], ...fields } }));
    };
    const sync = async () => {
      const program = run('two-way-sync', { args: [other, state], env: { ITSM_KEY: own.key } });
      expect(await program.exit, program.output()).toBe(0);
      return program.output().trim();
    };
    // Transactions in other databases of the PostgreSQL server can delay the newest changes, so the test retries.
    const settled = () => eventually(async () => expect(await sync()).toMatch(/^Wrote 0 tickets and 0 items/));
    try {
      const { id, ticketNumber } = await own.createTicket({ title: 'From the desk', priority: 'LOW' });
      await writeFile(other, JSON.stringify({ 'A-1': { title: 'From the other', priority: 'HIGH' } }));
      expect(await sync()).toMatch(/^Wrote 1 tickets/);
      await settled();
      expect(await items()).toEqual({
        'A-1': { title: 'From the other', priority: 'HIGH' },
        [ticketNumber]: { title: 'From the desk', priority: 'LOW' },
      });

      // Each system changed another field.
      await change(ticketNumber, { title: 'Edited there' });
      await tickets.update(id, { priority: 'CRITICAL' });
      await sync();
      await settled();
      const merged = { title: 'Edited there', priority: 'CRITICAL' };
      expect((await items())[ticketNumber]).toEqual(merged);
      const { etag, ...ticket } = await tickets.get(id);
      expect(ticket).toMatchObject(merged);
      expect(await sync()).toMatch(/^Wrote 0 tickets and 0 items/);
      expect((await tickets.get(id)).etag).toBe(etag);

      // Both systems changed the same field, so the ticket has precedence.
      await tickets.update(id, { title: 'Edited here' });
      await change(ticketNumber, { title: 'Lost' });
      await eventually(async () => {
        await sync();
        expect((await items())[ticketNumber].title).toBe('Edited here');
      });

      // If the state is lost after a kill, the external id finds the ticket of the item.
      await rm(state);
      await settled();
      expect((await own.call('GET', '/tickets')).body.meta.totalCount).toBe(2);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('examples/migrate-tickets.ts', () => {
  it('imports each ticket and comment once, even if it is killed and the idempotency keys have expired', async () => {
    const { api } = sender;
    const own = await createWorkspace(api);
    const [author, fallback] = [await own.createUser(), await own.createUser()];
    const folder = await mkdtemp(join(tmpdir(), 'itsm-migrate-'));
    const file = join(folder, 'export.ndjson');
    const createdAt = '2019-03-01T08:00:00.000Z';
    const comment = { author: author.email, public: true, createdAt };
    const lines = Array.from({ length: 400 }, (_, index) => ({
      id: index,
      subject: `Ticket ${index}`,
      description: 'From another service desk.',
      status: 'closed',
      requester: 'someone@old.example',
      createdAt,
      solvedAt: '2019-03-02T08:00:00.000Z',
      closedAt: '2019-03-03T08:00:00.000Z',
      comments: Array.from({ length: index === 0 ? 130 : 2 }, (_, i) => ({
        ...comment,
        id: index * 1000 + i,
        body: `No. ${i}`,
      })),
    }));
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const env = { ITSM_KEY: await own.createKey({ isImport: true }) };
    try {
      const killed = run('migrate-tickets', { args: [file, fallback.email], env });
      await eventually(() => expect(killed.output()).toContain('100 tickets imported'));
      running.at(-1)?.kill('SIGKILL');
      await killed.exit;
      await api.prisma.idempotencyKey.deleteMany({ where: { tenantId: own.tenantId } });
      const program = run('migrate-tickets', { args: [file, fallback.email], env });
      expect(await program.exit, program.output()).toBe(0);
      expect(program.output()).toMatch(/already existed, 0 failed\n$/);
      const tickets = await api.prisma.ticket.findMany({ where: { tenantId: own.tenantId }, orderBy: { id: 'asc' } });
      expect(tickets.map(({ externalId }) => externalId)).toEqual(lines.map(({ id }) => `zendesk:${id}`));
      expect(tickets[0]).toMatchObject({
        ...{ status: 'CLOSED', commentCount: 130, createdAt: new Date(createdAt) },
        requesterId: BigInt(fallback.id),
      });
      const comments = await api.prisma.comment.findMany({ where: { tenantId: own.tenantId } });
      expect(comments).toHaveLength(130 + 399 * 2);
      expect(comments[0]).toMatchObject({ authorId: BigInt(author.id), createdAt: new Date(createdAt) });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('examples/inventory.ts', () => {
  it('turns recorded outputs of lshw into assets that the API accepts', async () => {
    const own = await createWorkspace(sender.api);
    const files = ['laptop', 'server', 'vm'].map((name) =>
      fileURLToPath(new URL(`lshw/${name}.json`, import.meta.url)),
    );
    const program = run('inventory', { args: files });
    expect(await program.exit, program.output()).toBe(0);
    const devices = JSON.parse(program.output()) as { id: string }[];
    expect(devices).toMatchObject([
      {
        ...{ id: 'a7b1c2d3-0f4e-11ec-8000-54e1ad000311', name: 'front-desk', type: 'LAPTOP', manufacturer: 'LENOVO' },
        ...{ assetTag: 'PF4N2KD8', serialNumber: 'PF4N2KD8', customFields: { memoryGiB: 16 } },
      },
      {
        ...{ assetTag: 'FC6VW142000003', name: 'rack-04', type: 'SERVER', manufacturer: 'EMC' },
        customFields: { macAddresses: ['00:1e:67:69:4c:b8', '00:1e:67:69:4c:b9'] },
      },
      { id: 'build-7', assetTag: 'build-7', name: 'build-7', type: 'SERVER', customFields: { processor: 'AMD EPYC' } },
    ]);
    // The firmware has no model, only "To be filled by O.E.M.".
    expect(devices[1]).not.toHaveProperty('model');

    const assets = devices.map(({ id, ...fields }) => ({ ...fields, externalId: `inventory:${id}` }));
    const { body } = await own.call('POST', '/assets/upsert', { assets });
    expect(body.data.map(({ status }: { status: number }) => status)).toEqual([201, 201, 201]);
  });

  it('ignores placeholders of manufacturers, and keeps serial numbers and UUIDs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'itsm-inventory-'));
    try {
      const placeholders = [
        ...['', '0', '0000000000', 'xxxxxxx', '........', '0123456789', '9876543210', 'ABC123456789', '1234-5678-9012'],
        ...[
          'Default string',
          'None',
          'Not Specified',
          'N/A',
          'To Be Filled By O.E.M.',
          'System Serial Number',
          'INVALID',
        ],
        ...['Type2 - Board Serial Number', 'Evaluation', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'],
        ...['03000200-0400-0500-0006-000700080009', '12345678-1234-5678-90AB-CDDEEFAABBCC'],
      ];
      const identities = [
        ...['PF4N2KD8', 'JHFBXYZ', '7040192', 'VMware-56 4d 3a 2b 11 22 33 44-55 66', 'NB-1001'],
        ...['4C4C4544-0044-5310-8052-B4C04F4A4E32', '00000000-0000-0000-0000-AC1F6B8C1234'],
      ];
      const machines = [...placeholders, ...identities].map((text, index) => ({
        ...{ id: `host-${index}`, class: 'system', serial: text, configuration: { uuid: text } },
      }));
      const names = [
        { vendor: 'System manufacturer', product: 'System Product Name' },
        { vendor: 'HP', product: '7040' },
      ];
      const named = names.map((texts, index) => ({ ...texts, id: `named-${index}`, class: 'system' }));
      await writeFile(join(folder, 'all.json'), JSON.stringify([...machines, ...named]));
      const program = run('inventory', { args: [join(folder, 'all.json')] });
      expect(await program.exit, program.output()).toBe(0);
      const devices = JSON.parse(program.output()) as Record<string, unknown>[];
      expect(
        devices.slice(0, machines.length).map(({ id, assetTag, serialNumber }) => [id, assetTag, serialNumber]),
      ).toEqual([
        ...placeholders.map((_, index) => [`host-${index}`, `host-${index}`, undefined]),
        ...identities.map((text) => [text, text, text]),
      ]);
      expect(devices.slice(machines.length).map(({ manufacturer, model }) => [manufacturer, model])).toEqual([
        [undefined, undefined],
        ['HP', '7040'],
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('examples/follow-tickets.ts', () => {
  it('syncs all tickets with examples/follow-tickets.ts, even after a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'itsm-follow-'));
    const file = join(folder, 'tickets.json');
    const read = async () => JSON.parse(await readFile(file, 'utf8'));
    const follow = async (expected: Record<number, string>) => {
      const program = run('follow-tickets', { args: [file], env: { POLL_MS: '100' } });
      await eventually(async () => {
        const { tickets } = await read();
        for (const [id, title] of Object.entries(expected)) expect(tickets[id]?.title).toBe(title);
      });
      running.at(-1)?.kill('SIGINT');
      expect([await program.exit, program.output()]).toEqual([0, expect.stringMatching(/Synced \d+ changed tickets/)]);
    };
    try {
      const first = await sender.workspace.createTicket({ title: 'First' });
      await follow({ [first.id]: 'First' });
      const second = await sender.workspace.createTicket({ title: 'Second' });
      await client.tickets.update(first.id, { title: 'First again' });
      const { cursor } = await read();
      await follow({ [first.id]: 'First again', [second.id]: 'Second' });
      expect((await read()).cursor).not.toBe(cursor);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('examples/service-desk.ts', () => {
  it('creates a ticket with an attachment in each run, and syncs only the changes since the previous run', async () => {
    const own = await createWorkspace(sender.api);
    await own.createArticle({ title: 'Clear a paper jam in the printer', body: 'Open the rear flap.' });
    const desk = new ItsmClient({ baseUrl, apiKey: own.key });
    const folder = await mkdtemp(join(tmpdir(), 'itsm-service-desk-'));
    const outputs: string[] = [];
    const runOnce = async () => {
      const program = run('service-desk', { args: [folder], env: { ITSM_KEY: own.key } });
      expect(await program.exit, program.output()).toBe(0);
      outputs.push(program.output());
    };
    const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));
    try {
      await runOnce();
      expect(outputs[0]).toMatch(/^Created INC-1 and its duplicate INC-2\.\n/);
      expect(outputs[0]).toMatch(/\n\nClear a paper jam in the printer\n\nOpen the rear flap\.\n$/);
      const { id, assetIds } = await desk.tickets.get('INC-1');
      const [attachment, link] = [await desk.attachments.list(id), await desk.links.list(id)].map(
        ({ data }) => data[0],
      );
      expect(attachment).toMatchObject({ name: 'printer.log', size: 20 * 1024 * 1024 });
      expect(link).toMatchObject({ type: 'DUPLICATES', direction: 'INCOMING' });
      await desk.attachments.delete(Number(attachment?.id));

      // Transactions of other tests can delay the newest changes, so a run can miss them.
      await eventually(async () => {
        await runOnce();
        const [ticket, kept] = [await desk.tickets.get(id), await desk.tickets.get('INC-3')];
        expect(await read(`tickets/${id}.json`)).toEqual(ticket);
        expect(await read(`tickets/${kept.id}.json`)).toEqual(kept);
        expect(ticket).toMatchObject({ dueAt: expect.any(String), commentCount: 1, attachmentCount: 0, linkCount: 1 });
        expect(await readdir(join(folder, 'files', String(id))).catch(() => [])).toEqual([]);
        const [file] = (await desk.attachments.list(kept.id)).data;
        const content = await readFile(join(folder, 'files', `${kept.id}/${file?.id}`));
        expect(createHash('sha256').update(content).digest('hex')).toBe(file?.sha256);
        const [comment] = (await desk.comments.list(kept.id)).data;
        expect(await read(`comments/${comment?.id}.json`)).toEqual(comment);
        expect(await read(`assets/${assetIds[0]}.json`)).toMatchObject({ type: 'PRINTER' });
      });
      const synced = (await readdir(join(folder, 'assets'))).filter((name) => name.endsWith('.json'));
      const counts = outputs.join('').matchAll(/Synced assets: (\d+) changed/g);
      expect([...counts].reduce((sum, [, count]) => sum + Number(count), 0)).toBe(synced.length);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('examples/ticket-form.ts', () => {
  it('submits a form for the user of the session, and never sends the API key to the browser', async () => {
    const own = await createWorkspace(sender.api);
    const [requester, other] = [await own.createUser(), await own.createUser()];
    const options = ['north', 'south'].map((value) => ({ value, label: `<b>${value}</b>` }));
    await own.createField({ key: 'desk', type: 'SELECT', label: 'Desk', options });
    await own.createField({ key: 'rooms', type: 'MULTI_SELECT', label: 'Rooms', options });
    await own.createField({ key: 'monitors', type: 'NUMBER', label: 'Monitors' });
    await own.createField({ key: 'vip', type: 'BOOLEAN', label: 'VIP' });
    const fields = [{ key: 'desk', required: true }, { key: 'rooms' }, { key: 'monitors' }, { key: 'vip' }];
    await own.createForm({ key: 'workplace', fields });
    const env = { ITSM_KEY: own.key, FORM: 'workplace', REQUESTER: requester.email };
    const signIn = new URL(await run('ticket-form', { env }).url());
    let received = '';
    /** Sends a request like a browser, and collects everything that it receives. */
    const browse = async (path: string, cookie = '', body?: URLSearchParams) => {
      const init = { redirect: 'manual' as const, headers: { cookie }, ...(body && { method: 'POST', body }) };
      const response = await fetch(new URL(path, signIn), init);
      const html = await response.text();
      received += JSON.stringify([...response.headers]) + html;
      return { status: response.status, html, cookie: response.headers.get('set-cookie')?.split(';')[0] };
    };
    const cookieOf = (url: string | URL) => `session=${new URL(url).pathname.split('/').at(-1)}`;
    const { cookie } = await browse(signIn.pathname);
    expect((await browse('/')).status).toBe(401);
    const { html } = await browse('/', cookie);
    expect(html).toContain('<select name="desk" required><option value=""><option value="north">&#60;b&#62;north');

    const send = (text: string) => browse('/', cookie, new URLSearchParams(text));
    const made = await send(`desk=south&rooms=north&rooms=south&monitors=2&vip=true&requesterId=${other.id}`);
    const [ticketNumber] = /REQ-\d+/.exec(made.html) ?? [];
    const [ticket] = (await own.call('GET', '/tickets')).body.data;
    expect([made.status, ticket]).toMatchObject([
      201,
      { ticketNumber, formKey: 'workplace', requesterId: requester.id },
    ]);
    expect(ticket.customFields).toEqual({ desk: 'south', rooms: ['north', 'south'], monitors: 2, vip: true });
    const wrong = await send('desk=east');
    expect([wrong.status, wrong.html]).toEqual([
      400,
      expect.stringContaining('<li>answers.desk must be one of: north'),
    ]);
    expect(received).not.toContain(own.key);

    const broken = await run('ticket-form', { env: { ...env, FORM: 'unknown' } }).url();
    for (const _ of ['first', 'second']) {
      const { status } = await fetch(new URL('/', broken), { headers: { cookie: cookieOf(broken) } });
      expect(status).toBe(502);
    }
  });
});

describe('examples/deploy-gate.ts', () => {
  let own: Workspace;
  let approver: User;
  beforeAll(async () => {
    own = await createWorkspace(sender.api);
    approver = await own.createUser({ role: 'AGENT' });
  });

  /** Runs the gate with a command in Node.js. */
  const runGate = (code: string, env: Record<string, string> = {}) =>
    run('deploy-gate', {
      args: ['Deploy the shop', process.execPath, '-e', code],
      env: { ITSM_KEY: own.key, APPROVERS: approver.email, POLL_MS: '100', ...env },
    });
  const changes = async (): Promise<Ticket[]> => (await own.call('GET', '/tickets?type=CHANGE')).body.data;

  /** Waits until the gate has requested an approval of a change that is still open. */
  function pending(gate: ReturnType<typeof run>): Promise<Approval> {
    return eventually(async () => {
      const [open] = (await own.call('GET', '/tickets?status=OPEN&approvalStatus=PENDING')).body.data;
      if (open === undefined) return expect.fail(`There is no change: ${gate.output()}`);
      return (await own.call('GET', `/tickets/${open.id}/approvals`)).body.data[0];
    });
  }

  async function callAs(user: User, method: string, path: string, body?: object): Promise<void> {
    const { key } = await createKey(own.context, { user: user.email, name: 'approver', scopes: ['tickets:write'] });
    const { status } = await sender.api.call({ method, path: `/api/public/v1${path}`, key, body });
    expect(status).toBe(200);
  }
  const decide = ({ id }: Approval, decision: string, comment?: string) =>
    callAs(approver, 'PATCH', `/approvals/${id}`, { decision, comment });

  it.each([
    ['resolves the change if the command succeeds', 'APPROVED', 'console.log("Deployed.")', 'RESOLVED', 'Deployed.'],
    ['cancels the change if the command fails', 'APPROVED', 'console.log("No."); process.exit(3)', 'CANCELLED', 'No.'],
    ['runs nothing if an approver rejects the change', 'REJECTED', 'console.log("Deployed.")', 'CANCELLED', undefined],
  ] as const)('%s', async (_, decision, code, status, output) => {
    const gate = runGate(code);
    const approval = await pending(gate);
    await decide(approval, decision, 'Decided.');
    expect(await gate.exit, gate.output()).toBe(decision === 'REJECTED' ? 1 : code.includes('3') ? 3 : 0);
    const ticket = (await own.call('GET', `/tickets/${approval.ticketId}`)).body.data;
    expect(ticket).toMatchObject({ type: 'CHANGE', title: 'Deploy the shop', status, attachmentCount: output ? 1 : 0 });
    if (output === undefined) return expect(ticket.resolution).toBe('REJECTED: Decided.');
    const [file] = (await own.call('GET', `/tickets/${ticket.id}/attachments`)).body.data;
    expect((await own.call('GET', `/attachments/${file.id}/content`)).text).toBe(`${output}\n`);
  });

  it('runs nothing if an approver withdraws, and the others have approved', async () => {
    const other = await own.createUser({ role: 'AGENT' });
    const gate = runGate('console.log("Deployed.")', {
      APPROVERS: `${approver.email.toUpperCase()}, ${other.email} ${other.email}`,
    });
    const { ticketId } = await pending(gate);
    const approvals = await eventually(async () => {
      const { body } = await own.call('GET', `/tickets/${ticketId}/approvals`);
      expect(body.data).toHaveLength(2);
      return body.data as Approval[];
    });
    const ofUser = ({ id }: User) => approvals.find(({ approverId }) => approverId === id) as Approval;
    await callAs(other, 'DELETE', `/approvals/${ofUser(other).id}`);
    await decide(ofUser(approver), 'APPROVED');
    expect(await gate.exit, gate.output()).toBe(1);
    const ticket = (await own.call('GET', `/tickets/${ticketId}`)).body.data;
    expect(ticket).toMatchObject({ status: 'CANCELLED', resolution: 'Approvals were withdrawn or added.' });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'cancels the change on %s, while it waits and while the command runs',
    async (name) => {
      const waiting = runGate('');
      const { ticketId } = await pending(waiting);
      await eventually(() => expect(waiting.output()).toContain('waits for'));
      waiting.kill(name);
      expect(await waiting.exit, waiting.output()).toBe(1);
      const resolution = `Stopped by ${name}.`;
      expect((await own.call('GET', `/tickets/${ticketId}`)).body.data).toMatchObject({
        status: 'CANCELLED',
        resolution,
      });

      const running = runGate('console.log("Runs", process.pid); setInterval(() => {}, 1000)');
      const approval = await pending(running);
      await decide(approval, 'APPROVED');
      const pid = await eventually(() => /Runs (\d+)/.exec(running.output())?.[1] ?? expect.fail(running.output()));
      running.kill(name);
      expect(await running.exit, running.output()).toBe(1);
      expect((await own.call('GET', `/tickets/${approval.ticketId}`)).body.data).toMatchObject({
        status: 'CANCELLED',
        resolution,
      });
      expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
    },
  );

  it.each([
    ['APPROVERS is empty', { APPROVERS: ' , ' }, 'Set APPROVERS'],
    ['an approver is unknown', { APPROVERS: 'nobody@example.com' }, 'the workspace has no such user'],
    ['the requester is an approver', { APPROVERS: 'OWN' }, "can't approve it"],
    ['the command does not exist', { COMMAND: 'no-such-command' }, 'is not an executable file'],
    ['the command is a folder', { COMMAND: './test' }, 'is not an executable file'],
    ['the key lacks a scope', { ITSM_KEY: 'READER' }, 'lacks the scopes tickets:write, users:read'],
  ])('creates no change if %s', async (_, given, message) => {
    const before = await changes();
    const ownEmail = (await own.call('GET', '/me')).body.data.user.email;
    const reader = await createKey(own.context, { user: approver.email, name: 'reader', scopes: ['tickets:read'] });
    const env = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        value.replace('OWN', ownEmail).replace('READER', reader.key),
      ]),
    );
    const gate =
      'COMMAND' in given
        ? run('deploy-gate', { args: ['Deploy', String(given.COMMAND)], env: { ITSM_KEY: own.key } })
        : runGate('', env);
    expect(await gate.exit).toBe(1);
    expect(gate.output()).toContain(message);
    expect(await changes()).toEqual(before);
  });
});

describe('examples/webhook-receiver.ts', () => {
  it('processes each delivery once and rejects invalid signatures in examples/webhook-receiver.ts', async () => {
    const program = run('webhook-receiver', { env: { WEBHOOK_SECRET: 'next', WEBHOOK_SECRET_OLD: secret } });
    const url = await program.url();
    const { id } = await client.webhooks.create({ url, secret, events: ['ticket.created', 'ticket.updated'] });
    const ticket = (await sender.workspace.createTicket({ title: 'The lift is stuck' })) as Ticket;
    await client.tickets.update(ticket.id, { priority: 'CRITICAL' });
    await eventually(() => {
      expect(program.output()).toContain(`Created ${ticket.ticketNumber}: The lift is stuck\n`);
      expect(program.output()).toContain(`Updated ${ticket.ticketNumber}: priority\n`);
    });
    await client.webhooks.delete(id);

    const post = async (signedWith: string) => {
      const event = { type: 'ticket.created', id: 'evt_twice', ticket } as const;
      const { body, headers } = await signTestEvent(event, signedWith);
      return (await fetch(url, { method: 'POST', body, headers })).status;
    };
    expect([await post(secret), await post('next'), await post('other')]).toEqual([204, 204, 400]);
    expect(program.output().match(/Created /g)).toHaveLength(2);
    expect(program.output()).toContain('SIGNATURE_INVALID: The signature does not match');
  });
});
