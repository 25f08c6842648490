import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ItsmClient, isItsmError, type Ticket, type User } from '@itsm-api/client';

/**
 * Opens a CHANGE, waits for its approvals, runs a command, and attaches its output (docs/guides/approve-changes.md).
 *
 *     ITSM_KEY=itsm_… APPROVERS=jonas.weber@acme.example node examples/deploy-gate.ts 'Deploy shop 2.4' ./deploy.sh 2.4
 *
 * The key needs the scopes tickets:read, tickets:write and users:read.
 */
const { ITSM_URL = 'http://127.0.0.1:3000', ITSM_KEY, APPROVERS = '', PATH = '' } = process.env;
const { POLL_MS = '15000', WAIT_MINUTES = '60' } = process.env;
const [title = '', command = '', ...args] = process.argv.slice(2);
const neededScopes = ['tickets:read', 'tickets:write', 'users:read'] as const;
const waitMs = Number(WAIT_MINUTES) * 60_000;
const client = new ItsmClient({ baseUrl: ITSM_URL, apiKey: ITSM_KEY, userAgent: 'deploy-gate' });

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => stop.abort(new Error(`Stopped by ${name}.`)));
const { signal } = stop;

/** Checks the command, the scopes of the key, and the approvers. Returns the approvers. */
async function checkInput(): Promise<User[]> {
  if (title.trim() === '' || command === '') throw new Error('Usage: deploy-gate.ts TITLE COMMAND [ARGUMENT …]');
  if (!(waitMs > 0 && Number(POLL_MS) > 0)) throw new Error('WAIT_MINUTES and POLL_MS must be positive.');
  const folders = command.includes('/') ? ['.'] : PATH.split(delimiter);
  const files = folders.map((folder) => statSync(resolve(folder, command), { throwIfNoEntry: false }));
  const isExecutable = files.some((file) => file?.isFile() && (file.mode & 0o111) !== 0);
  if (!isExecutable) throw new Error(`${command} is not an executable file.`);
  const { key, user } = await client.me.get({ signal });
  const missing = neededScopes.filter((scope) => !key.scopes.includes(scope));
  if (missing.length > 0) throw new Error(`The API key lacks the scopes ${missing.join(', ')}.`);
  const names = new Set(APPROVERS.toLowerCase().match(/[^\s,]+/g));
  if (names.size === 0) throw new Error('Set APPROVERS to the email addresses of users, separated by commas.');
  return Promise.all([...names].map((name) => findApprover(name, user)));
}

async function findApprover(name: string, requester: User): Promise<User> {
  const [approver] = await client.users.list({ email: name }, { signal }).toArray({ limit: 1 });
  if (approver === undefined) throw new Error(`APPROVERS contains ${name}, but the workspace has no such user.`);
  if (approver.id === requester.id) throw new Error(`${name} requests the change, and so can't approve it.`);
  if (!approver.active || approver.role === 'REQUESTER') throw new Error(`${name} must be an active ADMIN or AGENT.`);
  return approver;
}

/** Waits until all requested approvals are APPROVED, and sets the change to IN_PROGRESS. */
async function start({ id }: Ticket, requested: ReadonlySet<number>): Promise<void> {
  for (const deadline = Date.now() + waitMs; ; await sleep(Number(POLL_MS), undefined, { signal })) {
    // The ticket is read first. If it or its approvals change afterwards, its ETag is outdated.
    const { etag } = await client.tickets.get(id, { signal });
    const approvals = await client.approvals.ofTicket(id, {}, { signal }).toArray();
    const rejection = approvals.find(({ decision }) => decision === 'REJECTED');
    if (rejection !== undefined) throw new Error(`REJECTED: ${rejection.comment ?? 'without a comment'}`);
    const isSame = approvals.length === requested.size && approvals.every((approval) => requested.has(approval.id));
    if (!isSame) throw new Error('Approvals were withdrawn or added.');
    if (approvals.every(({ decision }) => decision === 'APPROVED')) {
      const options = { ifMatch: etag, signal };
      const started = await client.tickets.update(id, { status: 'IN_PROGRESS' }, options).catch((error) => {
        if (!isItsmError(error, 'PRECONDITION_FAILED')) throw error;
      });
      if (started) return;
    }
    if (Date.now() > deadline) throw new Error(`Not all approvers decided within ${WAIT_MINUTES} minutes.`);
  }
}

/** Runs the command, and ends it if the program must stop. Resolves to its exit code and output, which it also prints. */
async function runCommand(): Promise<{ code: number; output: string }> {
  // The command has its own process group, so that the signal also ends the processes that it starts.
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-1_000_000);
      process.stdout.write(chunk);
    });
  }
  const end = (name: NodeJS.Signals) => {
    try {
      process.kill(-Number(child.pid), name);
    } catch {} // The processes have ended.
  };
  signal.addEventListener('abort', () => {
    end('SIGTERM');
    setTimeout(end, 10_000, 'SIGKILL').unref();
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.on('close', (code) => resolve(code ?? 1)).on('error', reject);
  });
  signal.throwIfAborted();
  return { code, output };
}

/** Returns why the program failed or stopped. */
function reasonOf(error: unknown): string {
  if (signal.aborted) return (signal.reason as Error).message;
  return isItsmError(error) ? `${error.message} (${error.code}) ${error.remedy ?? ''}` : (error as Error).message;
}

let change: Ticket | undefined;
try {
  const approvers = await checkInput();
  const description = `Runs \`${[command, ...args].join(' ')}\` after the approval.`;
  const [plannedStartAt, plannedEndAt] = [0, waitMs].map((ms) => new Date(Date.now() + ms).toISOString());
  const values = { title, description, category: 'SOFTWARE', plannedStartAt, plannedEndAt } as const;
  change = await client.tickets.create({ type: 'CHANGE', ...values });
  const requested = new Set<number>();
  for (const { id } of approvers) requested.add((await client.approvals.create(change.id, { approverId: id })).id);
  console.log(`${change.ticketNumber} waits for ${approvers.map(({ name }) => name).join(', ')}.`);
  await start(change, requested);
  const { code, output } = await runCommand();
  const file = new File([output || 'No output.'], 'output.log', { type: 'text/plain' });
  await client.tickets.attach(change.id, file).catch(({ message }) => console.error('No output attached:', message));
  const status = code === 0 ? 'RESOLVED' : 'CANCELLED';
  await client.tickets.update(change.id, { status, resolution: `The command exited with ${code}.` });
  console.log(`${change.ticketNumber} is ${status}.`);
  process.exitCode = code;
} catch (error) {
  process.exitCode = 1;
  console.error(reasonOf(error));
  if (change !== undefined) {
    await client.tickets.update(change.id, { status: 'CANCELLED', resolution: reasonOf(error) });
    console.error(`${change.ticketNumber} is CANCELLED.`);
  }
}
