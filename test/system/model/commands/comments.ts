import type { NewComment, Ticket } from '@itsm-api/contract';
import fc from 'fast-check';
import { commentedTicket, type Response } from '../resources/tickets.ts';
import type { Answer } from '../send.ts';
import { commented, itemOf, listed } from '../steps.ts';
import type { Turn } from '../turn.ts';
import type { Sent } from '../world.ts';
import { paging, place, sending, words } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList } from './lists.ts';

const visibility = fc.constantFrom('PUBLIC' as const, 'INTERNAL' as const);

export const comments = {
  list: kind(4, fc.record({ place, ...paging }), async (turn, { place, ...query }) => {
    const id = turn.workspace.tickets.pick(place);
    if (id === undefined) return;
    const sent = await askList(turn, 'comments.list', query, { id });
    if (sent?.answer !== undefined) turn.workspace.tickets.of(id).steps.push(listed(sent, 'comments', query));
  }),

  create: kind(
    7,
    fc.record({ place, words, visibility, sending, isForeign: fc.nat(29) }),
    async (turn, { place, words, visibility, sending, isForeign }) => {
      const body: NewComment = { body: `c${turn.number} ${words}`, visibility };
      if (isForeign === 0) {
        return askForeign(turn, 'comments.create', { id: turn.other.tickets.pick(place), body });
      }
      const id = turn.workspace.tickets.pick(place);
      if (id === undefined) return;
      const other = { ...body, body: 'Another.' };
      const sent = await turn.ask('comments.create', { params: { id }, body, sending, other });
      if (sent !== undefined) noteComments(turn, id, [body], sent, sent.answer && [sent.answer]);
    },
  ),

  createMany: kind(
    2,
    fc.record({ place, many: fc.array(fc.record({ words, visibility }), { minLength: 1, maxLength: 5 }), sending }),
    async (turn, { place, many, sending }) => {
      const id = turn.workspace.tickets.pick(place);
      if (id === undefined) return;
      const comments = many.map(({ words, visibility }, index): NewComment => {
        return { body: `c${turn.number}.${index} ${words}`, visibility };
      });
      const other = { comments: [...comments, { body: 'Another.', visibility: 'PUBLIC' }] };
      const sent = await turn.ask('comments.createMany', { params: { id }, body: { comments }, sending, other });
      if (sent === undefined) return;
      const answers = sent.answer && comments.map((_, index) => itemOf(sent.answer as Answer, index));
      noteComments(turn, id, comments, sent, answers);
    },
  ),
};

/** Records the result of a request that adds comments to a ticket. */
function noteComments(turn: Turn, id: number, bodies: NewComment[], sent: Sent, answers: Answer[] | undefined): void {
  const comments = bodies.map((body) => ({ ticketId: id, authorId: turn.key.userId, ...body, externalId: null }));
  const change = (row: Ticket, comment: Response) => commentedTicket(row, comment, turn.workspace.users);
  const step = commented({ sent, answers }, { actor: turn.actor, comments, change });
  turn.workspace.tickets.of(id).steps.push(step);
}
