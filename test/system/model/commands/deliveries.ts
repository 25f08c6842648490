import type { Delivery, DeliveryDetail } from '@itsm-api/contract';
import fc from 'fast-check';
import type { Subscription } from '../resources/webhooks.ts';
import { conditionStep } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { isRejection, type Workspace } from '../world.ts';
import { filterOf, paging, place } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList } from './lists.ts';

const state = fc.constantFrom('PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED');

/** The deliveries from recent list responses, by workspace. */
const seen = new WeakMap<Workspace, Delivery[]>();

function pick(workspace: Workspace, place: number): Delivery | undefined {
  const some = seen.get(workspace) ?? [];
  return some[Math.floor(place * some.length)];
}

export const deliveries = {
  list: kind(5, fc.record({ place, ...paging, state: filterOf(state) }), async (turn, { place, ...query }) => {
    const id = turn.workspace.webhooks.pick(place);
    if (id === undefined) return;
    const sent = await askList(turn, 'deliveries.list', query, { id });
    if (sent?.answer === undefined) return;
    const data = (sent.answer.body?.data ?? []) as Delivery[];
    const isRight = data.every(
      (each, index) =>
        each.webhookId === id &&
        (query.state === undefined || query.state.includes(each.state)) &&
        (index === 0 || each.id < (data[index - 1]?.id ?? 0)),
    );
    turn.world.expect(sent.answer.status === 200 && isRight, 'a list of deliveries does not match its filters', sent);
    seen.set(turn.workspace, [...data, ...(seen.get(turn.workspace) ?? [])].slice(0, 50));
  }),

  get: kind(2, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    if (isForeign === 0) return askForeign(turn, 'deliveries.get', { id: pick(turn.other, place)?.id });
    const delivery = pick(turn.workspace, place);
    if (delivery === undefined) return;
    const sent = await turn.ask('deliveries.get', { params: { id: delivery.id } });
    if (sent?.answer === undefined) return;
    const reported = sent.answer.body?.data as DeliveryDetail | undefined;
    const isRight = reported?.webhookId === delivery.webhookId && reported.eventId === delivery.eventId;
    turn.world.expect(isRight, 'a delivery has another id', sent);
    if (reported !== undefined) turn.workspace.bodies.set(reported.eventId, reported.body);
  }),

  replay: kind(6, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    if (isForeign === 0) return askForeign(turn, 'deliveries.replay', { id: pick(turn.other, place)?.id });
    await replay(turn, pick(turn.workspace, place));
  }),
};

async function replay(turn: Turn, delivery: Delivery | undefined): Promise<void> {
  if (delivery === undefined) return;
  const { webhookId, eventId } = delivery;
  const sent = await turn.ask('deliveries.replay', { params: { id: delivery.id }, sending: 'keyed' });
  if (sent?.answer === undefined) return;
  turn.workspace.webhooks.of(webhookId).steps.push(
    conditionStep<Subscription>(sent, ({ active }, answer) => {
      return active ? answer.status === 200 : isRejection(answer, ['VALIDATION_ERROR']);
    }),
  );
  if (sent.answer.status === 200) turn.workspace.options.push({ webhookId, eventId });
}
