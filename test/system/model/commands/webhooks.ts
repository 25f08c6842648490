import type { NewWebhook, Webhook, WebhookPatch } from '@itsm-api/contract';
import fc from 'fast-check';
import { changeSubscription, deactivated, newSubscription, type Subscription, select } from '../resources/webhooks.ts';
import { changed, conditionStep, made, type RowResponse, readStep } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { isRejection } from '../world.ts';
import { normalizedTag, paging, place, priority } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList, noteList } from './lists.ts';

const event = fc.constantFrom('ticket.created', 'ticket.updated', 'asset.created', 'task.updated');
const events = fc.uniqueArray(event, { minLength: 1, maxLength: 4 });
const filter = fc.oneof(
  { weight: 2, arbitrary: fc.constant(null) },
  {
    weight: 1,
    arbitrary: fc.record(
      { priority: fc.uniqueArray(priority, { minLength: 1, maxLength: 2 }) },
      { noNullPrototype: true },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      { tags: fc.uniqueArray(normalizedTag, { minLength: 1, maxLength: 2 }) },
      { noNullPrototype: true },
    ),
  },
);
const paused = fc.constantFrom(true, false, false);
const newGiven = fc.record({ events, filter, skipOwn: fc.boolean(), paused });
const patchGiven = fc
  .record(
    {
      events,
      filter,
      skipOwn: fc.boolean(),
      paused,
      url: fc.nat(2),
      secret: fc.nat(3),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .filter((patch) => Object.keys(patch).length > 0);

/**
 * The maximum number of active subscriptions per workspace. With more subscriptions, the run would spend most of its
 * time on deliveries.
 */
const atMost = 4;

/**
 * Returns a receiver URL. The second to last segment identifies the subscription, and updates can change the last
 * segment.
 */
function urlOf({ world, servers }: Turn, name: string, version: number): string {
  return `${servers.receiverUrl}/${world.name}/${name}/${version}`;
}

const activeOf = ({ workspace: { webhooks } }: Turn) =>
  webhooks.known.filter((id) => webhooks.of(id).state?.row.active !== false);

async function create(turn: Turn, given: Omit<NewWebhook, 'url' | 'secret'>): Promise<void> {
  const { world, workspace, key, actor } = turn;
  const marker = `w${turn.number}`;
  const body = { ...given, url: urlOf(turn, marker, 0), secret: `the first secret of ${marker}` } satisfies NewWebhook;
  const sent = await turn.ask('webhooks.create', { body, sending: 'keyed' });
  if (sent === undefined) return;
  const { answer } = sent;
  const outcome = newSubscription(body, key.id);
  if ('codes' in outcome) {
    if (answer !== undefined)
      world.expect(isRejection(answer, outcome.codes), 'an invalid subscription was not rejected', sent);
    return;
  }
  const { row } = outcome;
  if (answer === undefined) {
    const step = (id: number) => ({ ...made<Subscription>({ sent, answer }, { row, actor, id }), isCertain: true });
    workspace.webhooks.creations.push({ marker, request: turn.number, step });
    return;
  }
  world.expect(answer.status === 201, 'a subscription was not created', sent);
  const webhook = answer.body?.data as Webhook | undefined;
  if (webhook === undefined) return;
  const { id } = webhook;
  workspace.webhooks.of(id).steps.push(made<Subscription>({ sent, answer }, { row, actor, id, select }));
  workspace.webhooks.know(id);
}

/** Records the result of updating or deleting a subscription. */
function note(
  turn: Turn,
  reported: RowResponse,
  id: number,
  change: Parameters<typeof changed<Subscription>>[1]['change'],
): void {
  turn.workspace.webhooks.of(id).steps.push(changed<Subscription>(reported, { actor: turn.actor, select, change }));
}

export const webhooks = {
  list: kind(1, fc.record(paging), async (turn, query) => {
    const sent = await askList(turn, 'webhooks.list', query);
    noteList(turn, turn.workspace.webhooks, sent, { query, isIn: ({ active }) => active, select });
  }),

  get: kind(2, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    if (isForeign === 0) return askForeign(turn, 'webhooks.get', { id: turn.other.webhooks.pick(place) });
    const id = turn.workspace.webhooks.pick(place);
    if (id === undefined) return;
    const sent = await turn.ask('webhooks.get', { params: { id } });
    if (sent?.answer === undefined) return;
    turn.world.expect(sent.answer.status === 200, 'a subscription was not found', sent);
    if (sent.answer.status === 200) {
      turn.workspace.webhooks.of(id).steps.push(readStep(sent, select(sent.answer.body.data)));
    }
  }),

  create: kind(3, newGiven, async (turn, given) => {
    if (activeOf(turn).length < atMost) await create(turn, given);
  }),

  update: kind(
    6,
    fc.record({ place, patch: patchGiven, isForeign: fc.nat(19) }),
    async (turn, { place, patch: { url, secret, ...patch }, isForeign }) => {
      if (isForeign === 0) {
        const id = turn.other.webhooks.pick(place);
        return askForeign(turn, 'webhooks.update', { id, body: { skipOwn: true } });
      }
      const id = turn.workspace.webhooks.pick(place);
      if (id === undefined) return;
      const { url: before } = turn.workspace.webhooks.of(id).state?.row ?? {};
      const body: WebhookPatch = {
        ...patch,
        ...(url !== undefined && before !== undefined && { url: before.replace(/\d+$/, String(url)) }),
        ...(secret !== undefined && { secret: `secret ${secret} of subscription ${id}` }),
      };
      if (Object.keys(body).length === 0) return;
      const sent = await turn.ask('webhooks.update', { params: { id }, body });
      if (sent !== undefined) note(turn, { sent, answer: sent.answer }, id, (row) => changeSubscription(row, body));
    },
  ),

  delete: kind(3, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    if (isForeign === 0) return askForeign(turn, 'webhooks.delete', { id: turn.other.webhooks.pick(place) });
    const id = turn.workspace.webhooks.pick(place);
    // Doesn't delete the only active subscription, so the receiver continues to get events.
    if (id === undefined || activeOf(turn).length < 2) return;
    const sent = await turn.ask('webhooks.delete', { params: { id } });
    if (sent !== undefined) note(turn, { sent, answer: sent.answer }, id, (row) => ({ row: deactivated(row) }));
  }),

  test: kind(6, place, async (turn, place) => {
    const id = turn.workspace.webhooks.pick(place);
    if (id === undefined) return;
    const sent = await turn.ask('webhooks.test', { params: { id }, sending: 'keyed' });
    if (sent?.answer === undefined) return;
    const { data } = sent.answer.body ?? {};
    turn.workspace.webhooks.of(id).steps.push(
      conditionStep<Subscription>(sent, ({ active, events }, answer) => {
        if (!active) return isRejection(answer, ['NOT_FOUND'], 404);
        return answer.status === 201 && data.webhookId === id && data.event === events[0];
      }),
    );
    if (sent.answer.status === 201) turn.workspace.options.push({ webhookId: id, eventId: data.eventId });
  }),

  replay: kind(3, fc.record({ place, seconds: fc.nat(5) }), async (turn, { place, seconds }) => {
    const id = turn.workspace.webhooks.pick(place);
    if (id === undefined) return;
    const body = { since: new Date(Date.now() - seconds * 1000).toISOString(), states: ['DELIVERED'] };
    const sent = await turn.ask('webhooks.replay', { params: { id }, body, sending: 'keyed' });
    if (sent?.answer === undefined) return;
    turn.workspace.webhooks.of(id).steps.push(
      conditionStep<Subscription>(sent, ({ active }, answer) => {
        if (!active) return isRejection(answer, ['NOT_FOUND'], 404);
        // The server rejects a replay if ten replays are in progress.
        return answer.status === 200 || isRejection(answer, ['VALIDATION_ERROR']);
      }),
    );
  }),
};
