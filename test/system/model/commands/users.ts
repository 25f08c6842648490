import fc from 'fast-check';
import { isSame } from '../resources/rows.ts';
import { isUserIn } from '../resources/users.ts';
import { filterOf, paging, place, seldom } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList, expectList } from './lists.ts';

/** The commands for users only read users, because no endpoint changes users. */
export const users = {
  list: kind(
    1,
    fc.record({
      ...paging,
      role: filterOf(fc.constantFrom('ADMIN', 'AGENT', 'REQUESTER')),
      active: filterOf(fc.boolean()),
      q: seldom(fc.constantFrom('user', 'admin', 'example com', 'user 2')),
    }),
    async (turn, query) => {
      const sent = await askList(turn, 'users.list', query);
      expectList(turn, turn.workspace.users, sent, { query, isIn: (row) => isUserIn(row, query) });
    },
  ),

  get: kind(1, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    const { users } = turn.workspace;
    if (isForeign === 0) return askForeign(turn, 'users.get', { id: turn.other.users[0]?.id });
    const user = users[Math.floor(place * users.length)];
    const sent = await turn.ask('users.get', { params: { id: user?.id ?? 0 } });
    if (sent?.answer !== undefined) {
      turn.world.expect(isSame(sent.answer.body?.data, user), 'a user differs from its creation', sent);
    }
  }),
};
