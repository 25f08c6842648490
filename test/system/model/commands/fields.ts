import fc from 'fast-check';
import { isAssetIn } from '../resources/assets.ts';
import { anyOf } from '../resources/lists.ts';
import { isSame } from '../resources/rows.ts';
import { isTicketIn } from '../resources/tickets.ts';
import { isRejection } from '../world.ts';
import { filterOf, paging, valuesOf } from './arbitraries.ts';
import { kind } from './command.ts';
import { askList, noteList } from './lists.ts';

const resource = fc.constantFrom('TICKET' as const, 'ASSET' as const);
/** The fields that `system.ts` defines for filters, each with some of its values. */
const field = fc.oneof(
  fc.record({ key: fc.constant('site' as const), values: valuesOf(fc.constantFrom('vpn', 'printer', 'mail')) }),
  fc.record({ key: fc.constant('vip' as const), values: valuesOf(fc.constantFrom('true', 'false')) }),
);

/** The commands for custom fields read their definitions, change their filters, and list rows by their values. */
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
        data: rows.slice((page - 1) * perPage, page * perPage).map(withoutFilter),
        meta: { page, perPage, totalCount: rows.length },
      };
      const { data, meta } = sent.answer.body ?? {};
      turn.world.expect(
        isSame(expected, { data: data?.map(withoutFilter), meta }),
        'the definitions of custom fields differ from the model',
        sent,
      );
    },
  ),

  /** Turns the filter of a field on, or off and on again, while other commands write its values. */
  setFilter: kind(1, fc.record({ resource, field }), async ({ workspace, servers }, { resource, field: { key } }) => {
    const filter = workspace.filters[`${resource}.${key}`];
    if (filter === undefined || filter.isChanging) return;
    const isOn = filter.state !== 'on';
    filter.isChanging = true;
    filter.changes += 1;
    filter.state = 'unknown';
    const isDone = await servers.setFilter(workspace, { resource, key }, isOn);
    filter.state = isDone ? (isOn ? 'on' : 'off') : 'unknown';
    filter.isChanging = false;
  }),

  find: kind(6, fc.record({ ...paging, resource, field }), async (turn, { resource, field, ...page }) => {
    const { key, values } = field;
    const filter = turn.workspace.filters[`${resource}.${key}`];
    const { changes, state } = { ...filter };
    const query = { ...page, customFields: { [key]: values } };
    const isTicket = resource === 'TICKET';
    const sent = await askList(turn, isTicket ? 'tickets.list' : 'assets.list', {
      ...page,
      [`customFields[${key}]`]: values,
    });
    const wasOn = state === 'on' && filter?.changes === changes;
    if (!wasOn && isRejection(sent?.answer, ['VALIDATION_ERROR'], 400)) return;
    if (isTicket) {
      const me = turn.key.userId;
      noteList(turn, turn.workspace.tickets, sent, { query, isIn: (row, sent) => isTicketIn(row, query, me, sent) });
    } else noteList(turn, turn.workspace.assets, sent, { query, isIn: (row) => isAssetIn(row, query) });
  }),
};

/** The command for the document of a workspace checks that it names the custom fields of this workspace. */
export const document = {
  get: kind(1, fc.constant(null), async (turn) => {
    const sent = await turn.ask('document.get');
    if (sent?.answer === undefined) return;
    const { properties = {} } = sent.answer.body?.components?.schemas?.NewTicketCustomFields ?? {};
    const keys = turn.workspace.fields.filter(({ resource }) => resource === 'TICKET').map(({ key }) => key);
    turn.world.expect(
      isSame(Object.keys(properties).toSorted(), keys.toSorted()),
      'the document of a workspace names other fields',
      sent,
    );
  }),
};

/** Removes what `setFilter` changes. */
function withoutFilter({ filterable, updatedAt, etag, ...others }: Record<string, unknown>): object {
  return others;
}
