import fc from 'fast-check';
import { isSame } from '../resources/rows.ts';
import { readStep } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { type Followed, followed, followedLogs, isFixed, type Table, type Walker } from '../world.ts';
import { kind } from './command.ts';

const given = fc.record({ walker: fc.nat(1), perPage: fc.constantFrom(7, 100) });

/**
 * Returns a command that reads the next change feed page of a resource. Each resource has two readers with their own
 * cursors.
 */
function follow(weight: number, resource: Followed) {
  return kind(weight, given, async (turn, { walker: which, perPage }) => {
    const walker = turn.workspace.walkers[resource][which] as Walker;
    if (walker.isBusy) return;
    walker.isBusy = true;
    await followPage(turn, resource, walker, perPage).finally(() => {
      walker.isBusy = false;
    });
  });
}

/**
 * Reads the change feed page that follows the reader's cursor.
 * @returns true if more pages follow, or undefined if the request fails
 */
export async function followPage(
  turn: Turn,
  resource: Followed,
  walker: Walker,
  perPage: number,
): Promise<boolean | undefined> {
  const { cursor } = walker;
  const search = `perPage=${perPage}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
  const sent = await turn.ask({ ...followed, ...followedLogs }[resource], { search });
  if (sent?.answer === undefined) return undefined;
  turn.world.expect(sent.answer.status === 200, 'changes were rejected', sent);
  if (sent.answer.status !== 200) return undefined;
  const { data, meta } = sent.answer.body as { data: { id: number }[]; meta: { nextCursor: string; hasMore: boolean } };
  for (const row of data) {
    const before = walker.copy.get(row.id);
    walker.copy.set(row.id, row);
    if (isLog(resource)) {
      turn.world.expect(isSame(row, before ?? row), `a row of ${resource} has changed`, sent);
    } else if (isFixed(resource)) {
      const known = turn.workspace[resource].find(({ id }) => id === row.id);
      turn.world.expect(isSame(row, known), `the change feed has a wrong row of ${resource}`, sent);
    } else (turn.workspace[resource] as Table<{ id: number }>).of(row.id).steps.push(readStep(sent, row));
  }
  walker.cursor = meta.nextCursor;
  return meta.hasMore;
}

function isLog(resource: Followed): resource is keyof typeof followedLogs {
  return resource in followedLogs;
}

export const changes = {
  tickets: follow(14, 'tickets'),
  assets: follow(4, 'assets'),
  tasks: follow(3, 'tasks'),
  projects: follow(1, 'projects'),
  users: follow(1, 'users'),
  teams: follow(1, 'teams'),
  articles: follow(1, 'articles'),
  requestForms: follow(1, 'requestForms'),
  comments: follow(2, 'comments'),
  ticketActivity: follow(4, 'ticketActivity'),
  assetActivity: follow(1, 'assetActivity'),
};
