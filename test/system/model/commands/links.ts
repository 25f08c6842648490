import type { Link, LinkType, NewLink } from '@itsm-api/contract';
import fc from 'fast-check';
import { linked, listed } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { unknownId, unknownText } from '../values.ts';
import { isRejection, type Sent } from '../world.ts';
import { paging, place, sending } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList } from './lists.ts';

const type = fc.constantFrom('RELATES_TO', 'DUPLICATES', 'CAUSED_BY', 'BLOCKS') as fc.Arbitrary<LinkType>;

/** Records the result of a request that created or deleted a link, for each of its two tickets. */
function noteLink(
  { workspace: { tickets }, actor }: Turn,
  sent: Sent,
  ends: readonly [number, number],
  {
    change,
    code,
  }: { change(links: readonly Link[], end: number): Link[] | undefined; code: 'NOT_FOUND' | 'VALIDATION_ERROR' },
): void {
  for (const [index, id] of ends.entries()) {
    const linking = { actor, change: (links: readonly Link[]) => change(links, index), code, isInPath: index === 0 };
    tickets.of(id).steps.push(linked({ sent, answer: sent.answer }, linking));
  }
}

export const links = {
  list: kind(3, fc.record({ place, ...paging }), async (turn, { place, ...query }) => {
    const id = turn.workspace.tickets.pick(place);
    if (id === undefined) return;
    const sent = await askList(turn, 'links.list', query, { id });
    if (sent?.answer !== undefined) turn.workspace.tickets.of(id).steps.push(listed(sent, 'links', query));
  }),

  create: kind(
    6,
    fc.record({ place, distance: fc.nat(8), type, sending, isForeign: fc.nat(29) }),
    async (turn, { place, distance, type, sending, isForeign }) => {
      const { workspace, world } = turn;
      const { known } = workspace.tickets;
      const id = workspace.tickets.pick(place);
      const otherId = known[(known.indexOf(id ?? 0) + distance) % known.length];
      if (id === undefined || otherId === undefined) return;
      const foreignId = turn.other.tickets.pick(place);
      const body: NewLink = { type, ticketId: isForeign === 1 && foreignId !== undefined ? foreignId : otherId };
      if (isForeign === 0) return askForeign(turn, 'links.create', { id: foreignId, body });
      const another = { ...body, type: type === 'BLOCKS' ? 'CAUSED_BY' : 'BLOCKS' };
      const sent = await turn.ask('links.create', { params: { id }, body, sending, other: another });
      if (sent === undefined) return;
      if (id === body.ticketId || body.ticketId !== otherId) {
        const code = id === body.ticketId ? 'VALIDATION_ERROR' : 'INVALID_REFERENCE';
        const isRight = sent.answer === undefined || isRejection(sent.answer, [code]);
        return world.expect(isRight, 'a link to an invalid ticket was not rejected', sent);
      }
      const ends = [id, otherId] as const;
      const { id: linkId = unknownId, createdAt = unknownText } = (sent.answer?.body?.data ?? {}) as Partial<Link>;
      if (linkId !== unknownId) workspace.links.push({ id: linkId, tickets: ends });
      noteLink(turn, sent, ends, {
        code: 'VALIDATION_ERROR',
        change(links, end) {
          const ticketId = ends[1 - end] as number;
          const direction = end === 0 ? 'OUTGOING' : 'INCOMING';
          const isThis = (link: Link) => link.type === type && link.ticketId === ticketId;
          const isKnown = links.some((link) => isThis(link) && (type === 'RELATES_TO' || link.direction === direction));
          const ticketNumber = workspace.tickets.of(ticketId).state?.row.ticketNumber ?? unknownText;
          return isKnown ? undefined : [...links, { id: linkId, type, direction, ticketId, ticketNumber, createdAt }];
        },
      });
    },
  ),

  delete: kind(3, fc.record({ place, isReversed: fc.boolean() }), async (turn, { place, isReversed }) => {
    const { links } = turn.workspace;
    const link = links[Math.floor(place * links.length)];
    if (link === undefined) return;
    const [from, to] = link.tickets;
    const ends = isReversed ? ([to, from] as const) : link.tickets;
    const sent = await turn.ask('links.delete', { params: { id: ends[0], linkId: link.id } });
    if (sent === undefined) return;
    noteLink(turn, sent, ends, {
      code: 'NOT_FOUND',
      change: (links) =>
        links.some(({ id }) => id === link.id) ? links.filter(({ id }) => id !== link.id) : undefined,
    });
  }),
};
