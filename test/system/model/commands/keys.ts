import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Turn } from '../turn.ts';
import { isRejection, type Key, type Sent } from '../world.ts';
import { kind } from './command.ts';

/**
 * The time after which the server must reject a revoked key, in milliseconds. The server needs at most one second
 * (docs/decisions/api-keys-design.md). The rest is a margin for busy machines.
 */
const stopsWithinMs = 2000;
const maxWaitMs = 30_000;

/**
 * Revokes an API key that both API processes have in their caches. Checks in the background that both processes reject
 * the revoked key.
 */
export const keys = {
  revoke: kind(2, fc.constant(null), async (turn) => {
    const key = await turn.servers.newKey(turn.workspace);
    if (key === undefined) return;
    const before = await askBoth(turn, key);
    for (const sent of before)
      turn.world.expect(sent === undefined || sent.answer?.status === 200, 'a new key was rejected', sent);
    turn.world.background.push(expectRevoked(turn, key));
  }),
};

async function expectRevoked(turn: Turn, key: Key): Promise<void> {
  if (!(await turn.servers.revokeKey(turn.workspace, key))) return;
  await sleep(stopsWithinMs);
  for (const sent of await askBoth(turn, key)) {
    const isRight = sent === undefined || isRejection(sent.answer, ['INVALID_API_KEY'], 401);
    turn.world.expect(isRight, `a key was accepted ${stopsWithinMs} ms after it was revoked`, sent);
  }
}

/**
 * Sends `GET /me` repeatedly to each of the two API processes until the process responds. Returns undefined for a
 * process that doesn't respond in time.
 */
function askBoth(turn: Turn, key: Key): Promise<(Sent | undefined)[]> {
  return Promise.all(turn.servers.apiUrls.map((apiUrl) => askUntilAnswered(turn, key, apiUrl)));
}

async function askUntilAnswered(turn: Turn, { key }: Key, apiUrl: string): Promise<Sent | undefined> {
  for (const deadline = Date.now() + maxWaitMs; Date.now() < deadline; ) {
    const sent = await turn.sendOnce({ method: 'GET', path: '/api/public/v1/me', key }, apiUrl);
    if (sent.answer !== undefined) return sent;
  }
  return undefined;
}
