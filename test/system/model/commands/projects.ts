import fc from 'fast-check';
import { isProjectIn } from '../resources/projects.ts';
import { isSame } from '../resources/rows.ts';
import { filterOf, paging, place, question, seldom } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList, expectList } from './lists.ts';

const status = fc.constantFrom('PLANNED', 'ACTIVE', 'ON_HOLD', 'COMPLETED', 'CANCELLED');

/** The commands for projects only read projects, because no endpoint changes projects. */
export const projects = {
  list: kind(1, fc.record({ ...paging, status: filterOf(status), q: seldom(question) }), async (turn, query) => {
    const sent = await askList(turn, 'projects.list', query);
    expectList(turn, turn.workspace.projects, sent, { query, isIn: (row) => isProjectIn(row, query) });
  }),

  get: kind(3, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    const { projects } = turn.workspace;
    if (isForeign === 0) return askForeign(turn, 'projects.get', { id: turn.other.projects[0]?.id });
    const project = projects[Math.floor(place * projects.length)];
    const sent = await turn.ask('projects.get', { params: { id: project?.id ?? 0 } });
    if (sent?.answer !== undefined) {
      turn.world.expect(isSame(sent.answer.body?.data, project), 'a project differs from its creation', sent);
    }
  }),
};
