import fc from 'fast-check';
import { countAccepted, perGroup, perKey } from '../resources/limits.ts';
import type { Sent } from '../world.ts';
import { kind } from './command.ts';

const paths = ['tickets', 'assets', 'projects', 'users', 'webhooks'] as const;

/**
 * Sends concurrent requests with a new API key to several endpoint groups, and checks how many requests the rate limits
 * allow.
 */
export const limits = {
  burst: kind(
    1,
    fc.uniqueArray(fc.record({ group: fc.constantFrom(...paths), count: fc.integer({ min: 1, max: 40 }) }), {
      minLength: 1,
      maxLength: 3,
      selector: ({ group }) => group,
    }),
    async (turn, requested) => {
      const key = await turn.servers.newKey(turn.workspace);
      if (key === undefined) return;
      const requests = requested.flatMap(({ group, count }) => Array.from({ length: count }, () => group));
      const ask = (group: string) =>
        turn.sendOnce(
          { method: 'GET', path: `/api/public/v1/${group}?perPage=1`, key: key.key },
          turn.servers.apiUrls[1],
        );
      const sents = await Promise.all(requests.map(ask));
      // A missing response means that the API process was probably killed. The new process counts from zero, so the
      // check would fail.
      if (sents.some(({ answer }) => answer === undefined)) return;
      const passed = sents.filter(({ answer }) => answer?.status === 200);
      const expected = countAccepted(requested.map(({ count }) => count));
      const isRight =
        passed.length === expected &&
        sents.every(({ answer }) => answer?.status === 200 || answer?.status === 429) &&
        areLeft(passed, 'global', perKey) &&
        requested.every(({ group }) =>
          areLeft(
            passed.filter(({ request }) => request.path.includes(`/${group}?`)),
            group,
            perGroup,
          ),
        );
      const what = `of ${JSON.stringify(requested)} ${passed.length} requests succeeded instead of ${expected}`;
      turn.world.expect(isRight, `limits: ${what}`, ...passed.slice(-2));
    },
  ),
};

/** Returns true if the remaining quotas in the responses count down from `limit - 1` without gaps. */
function areLeft(sents: Sent[], window: string, limit: number): boolean {
  const left = sents.map(({ answer }) =>
    Number(new RegExp(`"${window}";r=(\\d+)`).exec(String(answer?.headers.ratelimit))?.[1]),
  );
  return left.toSorted((a, b) => b - a).every((each, index) => each === limit - 1 - index);
}
