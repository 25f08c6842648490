import fc from 'fast-check';
import { anyOf } from '../resources/lists.ts';
import { isSame } from '../resources/rows.ts';
import { filterOf, paging } from './arbitraries.ts';
import { kind } from './command.ts';
import { askList } from './lists.ts';

/** The command for the definitions of custom fields only reads them, because no endpoint changes them. */
export const fields = {
  list: kind(
    1,
    fc.record({ ...paging, resource: filterOf(fc.constantFrom('TICKET', 'ASSET')) }),
    async (turn, query) => {
      const sent = await askList(turn, 'fields.list', query);
      if (sent?.answer === undefined) return;
      const { page = 1, perPage = 20, resource } = query;
      const rows = turn.workspace.fields.filter((row) => anyOf(resource, row.resource));
      const expected = {
        data: rows.slice((page - 1) * perPage, page * perPage),
        meta: { page, perPage, totalCount: rows.length },
      };
      const { data, meta } = sent.answer.body ?? {};
      turn.world.expect(
        isSame(expected, { data, meta }),
        'the definitions of custom fields differ from the model',
        sent,
      );
    },
  ),
};
