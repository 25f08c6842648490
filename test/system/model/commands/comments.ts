import type { NewComment } from '@itsm-api/contract';
import fc from 'fast-check';
import { commentedTicket } from '../resources/tickets.ts';
import { commented, listed } from '../steps.ts';
import { paging, place, sending, words } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList } from './lists.ts';

export const comments = {
  list: kind(4, fc.record({ place, ...paging }), async (turn, { place, ...query }) => {
    const id = turn.workspace.tickets.pick(place);
    if (id === undefined) return;
    const sent = await askList(turn, 'comments.list', query, { id });
    if (sent?.answer !== undefined) turn.workspace.tickets.of(id).steps.push(listed(sent, 'comments', query));
  }),

  create: kind(
    7,
    fc.record({ place, words, visibility: fc.constantFrom('PUBLIC', 'INTERNAL'), sending, isForeign: fc.nat(29) }),
    async (turn, { place, words, visibility, sending, isForeign }) => {
      const body: NewComment = { body: `c${turn.number} ${words}`, visibility };
      if (isForeign === 0) {
        return askForeign(turn, 'comments.create', { id: turn.other.tickets.pick(place), body });
      }
      const id = turn.workspace.tickets.pick(place);
      if (id === undefined) return;
      const other = { ...body, body: 'Another.' };
      const sent = await turn.ask('comments.create', { params: { id }, body, sending, other });
      if (sent === undefined) return;
      const comment = { ticketId: id, authorId: turn.key.userId, ...body };
      const step = commented({ sent, answer: sent.answer }, { actor: turn.actor, comment, change: commentedTicket });
      turn.workspace.tickets.of(id).steps.push(step);
    },
  ),
};
