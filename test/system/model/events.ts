import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '@itsm-api/contract';
import type { Placed, Step } from './linearize.ts';
import type { Arrival, Receiver, RowResponse } from './receiver.ts';
import type { Mutation, State } from './resources/rows.ts';
import { eventOf, type Resource, type Subscription, takes } from './resources/webhooks.ts';
import { agrees } from './values.ts';
import type { Workspace, World } from './world.ts';

/*
 * Checks that each event arrives at least once, and that no event arrives for a change that didn't happen
 * (docs/decisions/webhook-deliveries.md).
 */

/** A change, and the subscriptions that match its event. */
interface ExpectedEvent {
  type: EventType;
  mutation: Mutation<object>;
  /**
   * The ids of subscriptions that certainly match the event (`sure`), and the ids of subscriptions that may match it
   * (`perhaps`).
   */
  sure: number[];
  perhaps: number[];
}

/**
 * A version of a subscription. The version took effect between the positions `begin` and `end` in the sequence of
 * requests and responses.
 */
interface Version {
  begin: number;
  end: number;
  row: Subscription;
  /** When the model recorded the version, in milliseconds since 1970. */
  at: number;
}

/** A version of a subscription that exists only if a request without a response took effect. */
type Doubt = Pick<Version, 'begin' | 'end' | 'row'>;

interface Noted {
  /** The state of the subscription at the previous checkpoint, and the steps of all requests since then. */
  before: State<Subscription> | undefined;
  steps: readonly Step<State<Subscription>>[];
  /** The steps that took effect, in order, with the state after each step. */
  placed: readonly Placed<State<Subscription>>[];
  /** The position of the current checkpoint in the sequence of requests and responses. */
  now: number;
}

/** Collects the expected events of a workspace. */
export class ExpectedEvents {
  readonly #versions = new Map<number, Version[]>();
  readonly #doubts = new Map<number, Doubt[]>();
  readonly #expectedEvents: ExpectedEvent[] = [];

  /** Records the versions of a subscription since the previous checkpoint. */
  noteSubscription(id: number, noted: Noted): void {
    const { placed } = noted;
    this.#doubts.set(id, [...(this.#doubts.get(id) ?? []), ...doubtsOf(noted)]);
    const versions = this.#versions.get(id) ?? [];
    for (const { step, state } of placed) {
      const last = versions.at(-1);
      if (last?.row === state.row || (last !== undefined && step.isRead)) continue;
      versions.push({ begin: step.begin, end: step.end, row: state.row, at: Date.now() });
    }
    this.#versions.set(id, versions);
  }

  /**
   * Records a row's changes since the previous checkpoint. Also records the subscriptions that match the events of
   * these changes.
   */
  recordMutations(
    resource: Resource,
    mutations: readonly Mutation<object>[],
    { now, lineOf }: { now: number; lineOf(keyId: number): readonly number[] },
  ): void {
    for (const mutation of mutations) {
      const type = eventOf(resource, mutation);
      if (type === undefined) continue;
      const line = mutation.actor?.keyId == null ? [] : lineOf(mutation.actor.keyId);
      const expectedEvent: ExpectedEvent = { type, mutation, sure: [], perhaps: [] };
      for (const [id, versions] of this.#versions) {
        const end = Math.min(mutation.end, now);
        const doubts = (this.#doubts.get(id) ?? []).filter((doubt) => doubt.begin < end && doubt.end > mutation.begin);
        const rows = [...during(versions, mutation.begin, end), ...doubts.map(({ row }) => row)];
        const taking = rows.filter((row) => row !== undefined && takes(row, type, mutation, line));
        if (taking.length === 0) continue;
        (taking.length === rows.length ? expectedEvent.sure : expectedEvent.perhaps).push(id);
      }
      if (expectedEvent.sure.length + expectedEvent.perhaps.length > 0) this.#expectedEvents.push(expectedEvent);
    }
  }

  /**
   * Waits for all expected deliveries, but for at most `maxWaitMs` milliseconds. Then checks all received deliveries.
   */
  async settle(world: World, workspace: Workspace, receiver: Receiver, maxWaitMs: number): Promise<void> {
    for (const deadline = Date.now() + maxWaitMs; ; await sleep(100)) {
      const undelivered = this.#undelivered(world, workspace, receiver);
      if (undelivered.length === 0) break;
      if (Date.now() < deadline) continue;
      for (const what of undelivered.slice(0, 3))
        world.find(`an event never arrived (${undelivered.length} in all)`, [what]);
      break;
    }
    for (const [id, versions] of this.#versions) this.#compare(world, workspace, receiver, id, versions);
  }

  /** Returns a description of each expected delivery that has not arrived. */
  #undelivered(world: World, workspace: Workspace, receiver: Receiver): string[] {
    const missing: string[] = [];
    for (const [id, versions] of this.#versions) {
      if (versions.at(-1)?.row.active !== true) continue;
      const arrived = arrivalsAt(world, receiver, versions);
      const byRow = byResource(arrived);
      for (const { type, mutation, sure } of this.#expectedEvents) {
        if (!sure.includes(id)) continue;
        const some = byRow.get(keyOf(type, mutation.after)) ?? [];
        if (!some.some(({ reported }) => isOf(reported, type, mutation))) {
          missing.push(`${type} ${JSON.stringify(mutation)} at subscription ${id}`);
        }
      }
      for (const { webhookId, eventId } of workspace.options) {
        if (webhookId === id && !arrived.some(({ headers }) => headers['webhook-id'] === eventId)) {
          missing.push(`${eventId}, requested explicitly, at subscription ${id}`);
        }
      }
    }
    return missing;
  }

  /**
   * Checks each delivery to a subscription. The delivery must be signed, and the subscription must match the change.
   */
  #compare(world: World, workspace: Workspace, receiver: Receiver, id: number, versions: Version[]): void {
    const expectedEvents = Map.groupBy(
      this.#expectedEvents.filter(({ sure, perhaps }) => sure.includes(id) || perhaps.includes(id)),
      ({ type, mutation }) => keyOf(type, mutation.after),
    );
    const eventOfMutation = new Map<Mutation<object>, string>();
    for (const { headers, body, reported, at } of arrivalsAt(world, receiver, versions)) {
      const eventId = String(headers['webhook-id']);
      const history = [`${JSON.stringify(headers)} ${body}`];
      const doubts = this.#doubts.get(id) ?? [];
      const isTrue =
        isSigned(versions, { headers, body, at }) || doubts.some(({ row }) => signs(row, { headers, body }));
      if (!isTrue) world.find('a delivery is not signed with its secret', history);
      const known = workspace.bodies.get(eventId);
      if (known !== undefined && known !== body) world.find('a delivery differs from its content in the API', history);
      if (eventId.startsWith('evt_test_')) continue;
      const mutations = (expectedEvents.get(keyOf(reported.type, resourceOf(reported))) ?? []).map(
        ({ mutation }) => mutation,
      );
      const mutation = mutations.find(
        (each) => isOf(reported, reported.type, each) && (eventOfMutation.get(each) ?? eventId) === eventId,
      );
      if (mutation !== undefined) eventOfMutation.set(mutation, eventId);
      else if (mutations.some((each) => isOf(reported, reported.type, each)))
        world.find('one change has two events', history);
      else world.find(`subscription ${id} received an event that does not match it or never happened`, history);
    }
  }
}

const resourceOf = ({ type, ...reported }: RowResponse) => reported[type.split('.')[0] ?? ''] as { id: number };

const keyOf = (type: EventType, row: object | undefined) => `${type.split('.')[0]} ${(row as { id?: number })?.id}`;

function isOf(reported: RowResponse, type: EventType, { after, changes, comment, actor }: Mutation<object>): boolean {
  return (
    reported.type === type &&
    agrees(actor && { userId: actor.userId, keyId: actor.keyId }, reported.actor) &&
    agrees(after, resourceOf(reported)) &&
    agrees(comment, reported.comment) &&
    (type.endsWith('.created') || agrees(changes, reported.changes))
  );
}

function byResource(arrivals: readonly Arrival[]) {
  return Map.groupBy(arrivals, ({ reported }) => keyOf(reported.type, resourceOf(reported)));
}

function arrivalsAt(world: World, receiver: Receiver, versions: readonly Version[]): Arrival[] {
  const [, , , , name = ''] = (versions[0]?.row.url ?? '').split('/');
  return receiver.of(world.name).get(name) ?? [];
}

/**
 * Returns the versions that a subscription may have had between two positions of the sequence. The result contains
 * undefined if the subscription may not have existed yet.
 */
function during(versions: readonly Version[], begin: number, end: number): (Subscription | undefined)[] {
  const rows = versions
    .filter((version, index) => version.begin < end && (versions[index + 1]?.end ?? Number.POSITIVE_INFINITY) > begin)
    .map(({ row }) => row);
  return (versions[0]?.end ?? 0) > begin ? [undefined, ...rows] : rows;
}

/** How long deliveries can still use the old secret after it was replaced, in milliseconds. */
const onItsWay = 20_000;

function isSigned(
  versions: readonly Version[],
  { headers, body, at }: Pick<Arrival, 'headers' | 'body' | 'at'>,
): boolean {
  return versions.some(({ row }, index) => {
    const next = versions.slice(index + 1).find(({ row: later }) => later.secret !== row.secret);
    if (next !== undefined && next.at + onItsWay < at) return false;
    return signs(row, { headers, body });
  });
}

function signs({ secret }: Subscription, { headers, body }: Pick<Arrival, 'headers' | 'body'>): boolean {
  return headers['x-service-signature'] === createHmac('sha256', secret).update(body).digest('hex');
}

/** Returns all states that the subscription may have reached through requests without a response. */
function doubtsOf({ before, steps, placed, now }: Noted): Doubt[] {
  const isPlaced = new Set(placed.map(({ step }) => step));
  const open = steps.filter((step) => !step.isCertain && !isPlaced.has(step)).toSorted((a, b) => a.begin - b.begin);
  const states = new Set([...(before === undefined ? [] : [before]), ...placed.map(({ state }) => state)]);
  return open.flatMap((step) =>
    [...states].flatMap((state) => {
      const after = step.after(state);
      if (after === undefined || after === state) return [];
      states.add(after);
      return [{ begin: step.begin, end: now, row: after.row }];
    }),
  );
}
