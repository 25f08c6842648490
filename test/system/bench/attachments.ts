import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import { openInstallation } from '../../support/installation.ts';
import { spawnServer } from '../../support/server-process.ts';
import { addWorkspace, type Workspace } from '../../support/subscribed-workspaces.ts';
import { residentOf } from './api/usage.ts';
import { type ClientResult, runClient } from './fairness/client.ts';

const fileBytes = 25 * 2 ** 20;
/** The uploads run in workspaces with at most four uploads each. */
const [clients, workspaces] = [50, 13];

/** The maximum time until the server has deleted the files of broken uploads, in milliseconds. */
const maxCleanupMs = 10_000;

/** The limits of a result. Memory is in MB, times are in milliseconds. */
const limits = { growthMb: 150, slowdown: 2, lagMs: 1000 };

export interface AttachmentsResult {
  /** The latency of another workspace's reads of a ticket, without the uploads and during the uploads. */
  alone: ClientResult;
  beside: ClientResult;
  /** The growth of the resident memory of the server during the uploads, in MB. */
  growthMb: number;
  /** The maximum time from the response to a new ticket until the change feed of its workspace contains it. */
  lagMs: number;
  /** The number of uploads per status. */
  statuses: Record<string, number>;
  /** The number of files that remain after uploads whose connection closed before the end of the file. */
  filesOfBrokenUploads: number;
}

/** The uploads of a child process: each client sends one file, which takes `seconds`. */
interface UploadJob {
  url: string;
  uploads: { path: string; key: string }[];
  seconds: number;
  /** Whether each client closes its connection in the middle of the file. */
  breaks: boolean;
}

/**
 * Measures the memory of the server and another workspace's requests while 50 clients of 13 workspaces upload 25 MiB
 * each. The uploads take `seconds`.
 */
export async function benchAttachments({
  seconds,
}: {
  seconds: number;
}): Promise<{ table: string; result: AttachmentsResult; good: boolean }> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { runtime, apiUrl, env } = await openInstallation(stops);
    const server = spawnServer({ ...env, ROLES: 'api,worker' });
    stops.push(async () => {
      server.child.kill('SIGTERM');
      await server.exited;
    });
    await server.ready;
    const pid = Number(server.child.pid);
    const other = await addWorkspace(runtime, 'other');
    const ticket = await createTicket(apiUrl, other);
    const requests = [{ method: 'GET' as const, path: `/tickets/${ticket}`, keys: [other.key] }];
    const load = (length: number) =>
      runClient({ url: apiUrl, requests, connections: 8, perSecond: 50, seconds: length });
    // The workspace also creates tickets and reads its change feed, without the uploads and during the uploads.
    const loadAndLag = () => Promise.all([load(seconds), measureLag(apiUrl, other, seconds)]);

    const uploaders = await Promise.all(Array.from({ length: workspaces }, (_, i) => addWorkspace(runtime, `w${i}`)));
    const tickets = await Promise.all(uploaders.map((workspace) => createTicket(apiUrl, workspace)));
    const uploads = Array.from({ length: clients }, (_, i) => ({
      path: `/tickets/${tickets[i % workspaces]}/attachments?name=file-${i}.bin`,
      key: uploaders[i % workspaces]?.key ?? '',
    }));
    // Warms up the server with uploads, so that the growth contains only the memory of concurrent uploads.
    await upload({ url: apiUrl, uploads: uploads.slice(0, workspaces), seconds: 1, breaks: false });
    await load(3);
    const [alone] = await loadAndLag();

    const before = residentOf(pid);
    let [most, isRunning] = [before, true];
    const watch = async () => {
      for (; isRunning; await sleep(100)) most = Math.max(most, residentOf(pid));
    };
    const [statuses, [beside, lagMs]] = await Promise.all([
      upload({ url: apiUrl, uploads, seconds, breaks: false }).finally(() => {
        isRunning = false;
      }),
      loadAndLag(),
      watch(),
    ]);
    const files = await countFiles(runtime.services.storage.list());
    await upload({ url: apiUrl, uploads, seconds: 2, breaks: true });
    const countBroken = async () => (await countFiles(runtime.services.storage.list())) - files;
    let filesOfBrokenUploads = await countBroken();
    for (const end = performance.now() + maxCleanupMs; filesOfBrokenUploads > 0 && performance.now() < end; ) {
      await sleep(200);
      filesOfBrokenUploads = await countBroken();
    }
    const result = { alone, beside, growthMb: most - before, lagMs, statuses, filesOfBrokenUploads };
    const good =
      result.growthMb <= limits.growthMb &&
      beside.p99 <= limits.slowdown * alone.p99 &&
      lagMs < limits.lagMs &&
      filesOfBrokenUploads === 0;
    return { table: tableOf(result), result, good };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function countFiles(list: AsyncIterable<object>): Promise<number> {
  let count = 0;
  for await (const _ of list) count++;
  return count;
}

async function call(url: string, { key }: Pick<Workspace, 'key'>, path: string, body?: object) {
  const response = await fetch(`${url}${pathPrefix}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path} returned ${await response.text()}`);
  return (await response.json()) as { data: { id: number }[] & { id: number }; meta: { nextCursor: string } };
}

async function createTicket(url: string, workspace: Workspace): Promise<number> {
  const body = { title: 'VPN drops', description: 'Every ten minutes.', type: 'INCIDENT', category: 'NETWORK' };
  return (await call(url, workspace, '/tickets', body)).data.id;
}

/** Creates tickets, and returns the maximum time in milliseconds until the change feed contains a new ticket. */
async function measureLag(url: string, workspace: Workspace, seconds: number): Promise<number> {
  let { nextCursor } = (await call(url, workspace, '/tickets/changes')).meta;
  let most = 0;
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(200)) {
    const id = await createTicket(url, workspace);
    const createdAt = performance.now();
    for (let isThere = false; !isThere; ) {
      const { data, meta } = await call(url, workspace, `/tickets/changes?cursor=${nextCursor}`);
      nextCursor = meta.nextCursor;
      isThere = data.some((row) => row.id === id);
    }
    most = Math.max(most, performance.now() - createdAt);
  }
  return most;
}

/** Runs uploads in a separate process, so that they don't take CPU time from the measuring process. */
async function upload(job: UploadJob): Promise<Record<string, number>> {
  const child = fork(import.meta.filename, ['upload'], { execArgv: [] });
  child.send(job);
  const [statuses] = (await once(child, 'message')) as [Record<string, number>];
  child.kill();
  return statuses;
}

/** Sends a file in small parts at a constant rate. Resolves to the status of the response. */
async function send({ url, seconds, breaks }: UploadJob, { path, key }: UploadJob['uploads'][number]): Promise<string> {
  const parts = 1600;
  const part = Buffer.alloc(fileBytes / parts, 'x');
  // Independent clients don't start and end at the same moment.
  await sleep(Math.random() * 250 * seconds);
  return new Promise((resolve) => {
    const sending = request(`${url}${pathPrefix}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-length': fileBytes },
    });
    sending.on('response', (response) => response.resume().on('end', () => resolve(String(response.statusCode))));
    sending.on('error', () => resolve('none'));
    let sent = 0;
    const timer = setInterval(
      () => {
        if (breaks && sent === parts / 2) sending.destroy();
        if (sent === parts || sending.destroyed) return clearInterval(timer);
        sent++;
        if (sent === parts) sending.end(part);
        else sending.write(part);
      },
      (seconds * 1000) / parts,
    );
  });
}

if (process.argv[2] === 'upload') {
  process.once('message', async (job: UploadJob) => {
    const statuses: Record<string, number> = {};
    for (const status of await Promise.all(job.uploads.map((each) => send(job, each)))) {
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    process.send?.(statuses);
  });
}

function tableOf({ alone, beside, growthMb, lagMs, statuses, filesOfBrokenUploads }: AttachmentsResult): string {
  const line = (name: string, { p50, p99, max, statuses }: ClientResult) =>
    `  ${name.padEnd(8)} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms, ${JSON.stringify(statuses)}\n`;
  return `
${line('alone', alone)}${line('beside', beside)}  uploads  ${JSON.stringify(statuses)}, ${filesOfBrokenUploads} files of broken uploads
  memory   ${growthMb.toFixed(0)} MB more, change feed at most ${lagMs.toFixed(0)} ms late
`;
}
