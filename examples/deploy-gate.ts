import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ItsmClient, isItsmError, type Ticket } from '@itsm-api/client';

/**
 * Opens a CHANGE, waits for its approvals, runs a command, and attaches its output (docs/guides/approve-changes.md).
 *
 *     ITSM_KEY=itsm_… APPROVERS=jonas.weber@acme.example node examples/deploy-gate.ts 'Deploy shop 2.4' ./deploy.sh 2.4
 * The key needs the scopes tickets:read and tickets:write, and users:read for email addresses of approvers.
 */
const { ITSM_URL = 'http://127.0.0.1:3000', ITSM_KEY, APPROVERS = '' } = process.env;
const { POLL_MS = '15000', WAIT_MINUTES = '60' } = process.env;
const [title = '', command = '', ...args] = process.argv.slice(2);
const waitMs = Number(WAIT_MINUTES) * 60_000;
const client = new ItsmClient({ baseUrl: ITSM_URL, apiKey: ITSM_KEY, userAgent: 'deploy-gate' });

/** Opens the change, and requests its approvals. */
async function openChange(): Promise<Ticket> {
  const description = `Runs \`${[command, ...args].join(' ')}\` after the approval.`;
  const plannedEndAt = new Date(Date.now() + waitMs).toISOString();
  const window = { plannedStartAt: new Date().toISOString(), plannedEndAt };
  const { id } = await client.tickets.create({ type: 'CHANGE', title, description, category: 'SOFTWARE', ...window });
  for (const approver of APPROVERS.split(',')) {
    const approverId = /^\d+$/.test(approver) ? Number(approver) : (approver as `${string}@${string}`);
    await client.approvals.create(id, { approverId });
  }
  return client.tickets.get(id);
}

/** Waits until all approvers have decided. The response for an unchanged ticket has no body. */
async function waitForDecisions(id: number): Promise<Ticket> {
  const deadline = Date.now() + waitMs;
  let response = await client.tickets.get(id).withResponse();
  while (response.data.approvalStatus === 'PENDING' && Date.now() < deadline) {
    await sleep(Number(POLL_MS));
    response = await client.tickets.get(id, { ifNoneMatch: response }).withResponse();
  }
  return response.data;
}

/** Runs the command. Resolves to its exit code and its output, which it also prints. */
async function runCommand(): Promise<{ code: number; output: string }> {
  const child = spawn(command, args, { stdio: ['inherit', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
      process.stdout.write(chunk);
    });
  }
  const code = await new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? 1));
    child.on('error', ({ message }) => (output += message));
  });
  return { code, output };
}

try {
  const { id, ticketNumber } = await openChange();
  console.log(`${ticketNumber} waits for ${APPROVERS}.`);
  const { approvalStatus, etag } = await waitForDecisions(id);
  if (approvalStatus !== 'APPROVED') {
    await client.tickets.update(id, { status: 'CANCELLED', resolution: `Not run: ${approvalStatus}.` });
    throw new Error(`${ticketNumber} is ${approvalStatus}, so the command didn't run.`);
  }
  // If the ticket has changed since the decision, this request fails, and the command doesn't run.
  await client.tickets.update(id, { status: 'IN_PROGRESS' }, { ifMatch: etag });
  const { code, output } = await runCommand();
  await client.tickets.attach(id, new File([output || 'No output.'], 'output.log', { type: 'text/plain' }));
  const status = code === 0 ? 'RESOLVED' : 'CANCELLED';
  await client.tickets.update(id, { status, resolution: `The command exited with ${code}.` });
  console.log(`${ticketNumber} is ${status}.`);
  process.exitCode = code;
} catch (error) {
  console.error(
    isItsmError(error) ? `${error.message} (${error.code}) ${error.remedy ?? ''}` : (error as Error).message,
  );
  process.exitCode = 1;
}
