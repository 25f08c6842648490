import fc from 'fast-check';
import { anyOf } from '../resources/lists.ts';
import { isSame } from '../resources/rows.ts';
import { filterOf, paging, place } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList, expectList } from './lists.ts';

/** The commands for teams only read teams, because no endpoint changes teams. */
export const teams = {
  list: kind(1, fc.record({ ...paging, active: filterOf(fc.boolean()) }), async (turn, query) => {
    const sent = await askList(turn, 'teams.list', query);
    expectList(turn, turn.workspace.teams, sent, { query, isIn: (row) => anyOf(query.active, row.active) });
  }),

  get: kind(1, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    const { teams } = turn.workspace;
    if (isForeign === 0) return askForeign(turn, 'teams.get', { id: turn.other.teams[0]?.id });
    const team = teams[Math.floor(place * teams.length)];
    const sent = await turn.ask('teams.get', { params: { id: team?.id ?? 0 } });
    if (sent?.answer !== undefined) {
      turn.world.expect(isSame(sent.answer.body?.data, team), 'a team differs from its creation', sent);
    }
  }),
};
