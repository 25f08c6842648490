import fc from 'fast-check';
import { isSame } from '../resources/rows.ts';
import { paging } from './arbitraries.ts';
import { kind } from './command.ts';
import { askList } from './lists.ts';

/** The command for ticket categories only reads them, because no endpoint changes ticket categories. */
export const ticketCategories = {
  list: kind(1, fc.record(paging), async (turn, query) => {
    const sent = await askList(turn, 'ticketCategories.list', query);
    if (sent?.answer === undefined) return;
    const { categories } = turn.workspace;
    const { page, perPage } = query;
    const expected = {
      data: categories.slice((page - 1) * perPage, page * perPage),
      meta: { page, perPage, totalCount: categories.length },
    };
    const reported = { data: sent.answer.body?.data, meta: sent.answer.body?.meta };
    turn.world.expect(isSame(expected, reported), 'the list of ticket categories differs from the model', sent);
  }),
};
