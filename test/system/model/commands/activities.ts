import fc from 'fast-check';
import { listed } from '../steps.ts';
import { paging, place } from './arbitraries.ts';
import { kind } from './command.ts';
import { askList } from './lists.ts';

const given = fc.record({ place, ...paging });

export const activities = {
  ofTicket: kind(3, given, async (turn, { place, ...query }) => {
    const { tickets } = turn.workspace;
    const id = tickets.pick(place);
    if (id === undefined) return;
    const sent = await askList(turn, 'activities.ofTicket', query, { id });
    if (sent?.answer !== undefined) tickets.of(id).steps.push(listed(sent, 'mutations', query));
  }),

  ofAsset: kind(2, given, async (turn, { place, ...query }) => {
    const { assets } = turn.workspace;
    const id = assets.pick(place);
    if (id === undefined) return;
    const sent = await askList(turn, 'activities.ofAsset', query, { id });
    if (sent?.answer !== undefined) assets.of(id).steps.push(listed(sent, 'mutations', query));
  }),
};
