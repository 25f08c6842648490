import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, runCommand } from './commands/index.ts';
import { ExpectedEvents } from './events.ts';
import { comparePoint } from './quiet.ts';
import { type WithApprovals, withdrawOfUser } from './resources/approvals.ts';
import { type Answer, send } from './send.ts';
import { approved } from './steps.ts';
import type { System, Victim } from './system.ts';
import { type Finding, type Key, requestText, type Sent, World } from './world.ts';

export interface EpisodeOptions {
  /** The name of the episode, which is unique within a run. Receiver URLs contain this name. */
  name: string;
  seed: number;
  commands: readonly Command[];
  /** The faults to inject. Each fault begins before the command with the index `at`. */
  failures: readonly { at: number; victim: Victim }[];
}

export interface EpisodeReport {
  /** The number of executed commands. After a violation, the episode runs no more rounds of commands. */
  commands: number;
  findings: Finding[];
  succeeded: Map<string, number>;
  failures: readonly Victim[];
  /** The number of requests that clients sent. */
  requests: number;
}

/** An episode after its last command. Deliveries can still be pending. */
interface Episode {
  hasFailed: boolean;
  /** Resolves when all expected deliveries have arrived, or after a timeout. */
  delivered(): Promise<EpisodeReport>;
}

const clients = 8;
/** The number of rounds. A checkpoint follows each round. */
const rounds = 4;
/**
 * The maximum time until the deliveries of an episode have arrived, in milliseconds. If a worker is killed during an
 * attempt, another worker repeats the attempt after 30 seconds.
 */
const maxWaitMs = 120_000;

/**
 * Runs the commands of an episode with eight clients in three new workspaces, and injects the faults. At checkpoints,
 * compares the server with the model. Deliveries can still be pending when the promise resolves.
 */
export async function runEpisode(system: System, options: EpisodeOptions): Promise<Episode> {
  const { name, seed, commands, failures } = options;
  const world = new World(name);
  for (const part of ['first', 'second', 'third']) world.workspaces.push(await system.addWorkspace(`${name} ${part}`));
  const expectedEvents = world.workspaces.map(() => new ExpectedEvents());
  const failed: Victim[] = [];
  const perRound = Math.ceil(commands.length / rounds);
  let done = 0;

  for (let begin = 0; begin < commands.length && world.findings.length === 0; begin += perRound) {
    const failing: Promise<void>[] = [];
    const { promise: round, resolve: endRound } = Promise.withResolvers<void>();
    const queue = commands.slice(begin, begin + perRound).map((command, index) => ({ command, place: begin + index }));
    const work = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const { command, place } = next;
        for (const { victim } of failures.filter(({ at }) => at === place)) {
          failed.push(victim);
          failing.push(system.fail(victim, round));
        }
        await runCommand(world, system.servers, command);
        done++;
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
    endRound();
    await Promise.all(failing);
    await isUp(system);
    await system.settled();
    await comparePoint(world, system.servers, expectedEvents, seed * 1000 + begin / perRound);
    if (begin / perRound === 1) await removeApprovers(world, system, 'demote');
    if (begin / perRound === 2) await removeApprovers(world, system, 'deactivate');
  }
  await Promise.all(world.background);
  lookForFailures(world, system);
  await resume(world, system);

  const delivered = async () => {
    if (world.findings.length === 0) {
      await Promise.all(
        world.workspaces.map((workspace, index) =>
          expectedEvents[index]?.settle(world, workspace, system.receiver, maxWaitMs),
        ),
      );
    }
    system.receiver.forget(name);
    return {
      commands: done,
      findings: world.findings,
      succeeded: world.succeeded,
      failures: failed,
      requests: world.next() / 2,
    };
  };
  return { hasFailed: world.findings.length > 0, delivered };
}

/** Demotes or deactivates an approver of each workspace, whose pending approvals the server withdraws. */
async function removeApprovers(world: World, { servers }: System, how: 'demote' | 'deactivate'): Promise<void> {
  for (const workspace of world.workspaces) {
    const { leaving, tickets } = workspace;
    const userId = leaving[how];
    const request = { method: how, path: `/users/${userId}` };
    const [begin, beganAt] = [world.next(), Date.now()];
    workspace.users = await servers.removeApprover(workspace, userId, how);
    const answer: Answer = { status: 200, headers: {}, body: {} };
    const sent: Sent = { request, begin, end: world.next(), beganAt, endedAt: Date.now(), answer };
    const [{ id, userId: administrator }] = workspace.members as [Key];
    const actor = { userId: administrator, keyId: id };
    for (const row of tickets.rows.values()) {
      if (row.state === undefined) continue;
      const change = (ticket: WithApprovals) => withdrawOfUser(ticket, userId);
      row.steps.push(approved({ sent, answer }, { actor, change }) as never);
    }
    if (how === 'deactivate') workspace.members = workspace.members.filter((key) => key.userId !== userId);
  }
}

/** Waits until the first API process responds to requests. */
async function isUp({ servers }: System): Promise<void> {
  const path = '/api/public/v1/users';
  while ((await send(servers.apiUrls[0], { method: 'GET', path }))?.status !== 401) await sleep(50);
}

/** Reports each request that failed although no fault was active. */
function lookForFailures(world: World, { outages }: System): void {
  for (const { request, beganAt, endedAt, answer } of world.failures) {
    if (outages.some(({ from, to }) => beganAt <= to && endedAt >= from)) continue;
    const delivered = answer === undefined ? 'no answer' : `${answer.status} ${JSON.stringify(answer.body)}`;
    world.find('a request failed without an active fault', [requestText(request), delivered]);
  }
}

/** Resumes all paused subscriptions, so the server sends all pending events. */
async function resume({ workspaces }: World, { servers }: System): Promise<void> {
  for (const { webhooks, members } of workspaces) {
    const key = members[0]?.key;
    for (const { id, active } of webhooks.current()) {
      if (!active) continue;
      const request = { method: 'PATCH', path: `/api/public/v1/webhooks/${id}`, key, body: { paused: false } };
      while ((await send(servers.apiUrls[0], request))?.status !== 200) await sleep(50);
    }
  }
}
