import type { Attachment } from '@itsm-api/contract';
import fc from 'fast-check';
import { attached, listed } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { unknownId, unknownText } from '../values.ts';
import { isRejection, type KnownAttachment, type Sent } from '../world.ts';
import { paging, place, sending, words } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList } from './lists.ts';

/** Returns an attachment that a response contained, most often the newest. It may be deleted. */
function pick({ workspace: { attachments } }: Turn, place: number): KnownAttachment | undefined {
  return attachments.at(-1 - Math.floor(place * attachments.length));
}

/** Checks the response to a read of an attachment. Only an attachment that a request has deleted can be missing. */
function expectRead(turn: Turn, sent: Sent | undefined, known: KnownAttachment, isRight: (body: unknown) => boolean) {
  const { answer } = sent ?? {};
  if (sent === undefined || answer === undefined || answer.status === 429) return;
  const isGone = known.isDeleted && isRejection(answer, ['NOT_FOUND'], 404);
  turn.world.expect(
    isGone || (answer.status === 200 && isRight(answer.body)),
    'an attachment was not as uploaded',
    sent,
  );
}

export const attachments = {
  list: kind(3, fc.record({ place, ...paging }), async (turn, { place, ...query }) => {
    const id = turn.workspace.tickets.pick(place);
    if (id === undefined) return;
    const sent = await askList(turn, 'attachments.list', query, { id });
    if (sent?.answer !== undefined) turn.workspace.tickets.of(id).steps.push(listed(sent, 'attachments', query));
  }),

  get: kind(4, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    if (isForeign === 0) return askForeign(turn, 'attachments.get', { id: turn.other.attachments[0]?.id });
    const known = pick(turn, place);
    if (known === undefined) return;
    const sent = await turn.ask('attachments.get', { params: { id: known.id } });
    expectRead(turn, sent, known, (body) => (body as { data: Attachment }).data.size === known.size);
  }),

  download: kind(3, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    if (isForeign === 0) return askForeign(turn, 'attachments.download', { id: turn.other.attachments[0]?.id });
    const known = pick(turn, place);
    if (known === undefined) return;
    const sent = await turn.ask('attachments.download', { params: { id: known.id } });
    expectRead(turn, sent, known, (body) => body === known.content);
  }),

  attach: kind(5, fc.record({ place, words, sending }), async (turn, { place, words, sending }) => {
    const { workspace, actor, number } = turn;
    const id = workspace.tickets.pick(place);
    if (id === undefined) return;
    const content = `f${number} ${words}`;
    const name = `f${number}.json`;
    // The content is JSON, so that a download has a parsed body.
    const body = JSON.stringify(content);
    const sent = await turn.ask('tickets.attach', {
      ...{ params: { id }, search: `name=${name}`, body, sending, other: '"Another."' },
    });
    if (sent === undefined || sent.answer?.status === 429) return;
    const size = Buffer.byteLength(body);
    const made = (sent.answer?.body?.data ?? {}) as Partial<Attachment>;
    const { id: attachmentId = unknownId, createdAt = unknownText, sha256 = unknownText } = made;
    if (attachmentId !== unknownId) {
      workspace.attachments.push({ id: attachmentId, ticketId: id, content, size, isDeleted: false });
    }
    const attachment = {
      ...{ id: attachmentId, ticketId: id, name, contentType: 'text/plain', size, sha256, createdAt },
      uploaderId: actor.userId,
    };
    const step = attached(
      { sent, answer: sent.answer },
      { actor, change: (before) => [...before, attachment], isApprover: turn.references.isApprover },
    );
    workspace.tickets.of(id).steps.push(step as never);
  }),

  delete: kind(3, fc.record({ place }), async (turn, { place }) => {
    const known = pick(turn, place);
    if (known === undefined) return;
    known.isDeleted = true;
    const sent = await turn.ask('attachments.delete', { params: { id: known.id } });
    if (sent === undefined) return;
    const isThis = ({ id }: Attachment) => id === known.id;
    const change = (before: readonly Attachment[]) =>
      before.some(isThis) ? before.filter((each) => !isThis(each)) : undefined;
    turn.workspace.tickets
      .of(known.ticketId)
      .steps.push(
        attached(
          { sent, answer: sent.answer },
          { actor: turn.actor, change, isApprover: turn.references.isApprover },
        ) as never,
      );
  }),
};
