import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { ExpectedEvents } from './events.ts';
import { linearize, type Step } from './linearize.ts';
import type { Receiver } from './receiver.ts';
import type { State } from './resources/rows.ts';
import { newSubscription, type Subscription } from './resources/webhooks.ts';
import { type Workspace, World } from './world.ts';

const made = newSubscription(
  { url: 'http://127.0.0.1/world/first/0', events: ['ticket.created'], secret: 'secret' },
  1,
) as { row: Subscription };
const before: State<Subscription> = {
  row: { ...made.row, id: 1 },
  formerTags: [],
  mutations: [],
  comments: [],
  links: [],
  attachments: [],
};

function change(to: Partial<Subscription>, begin: number, end: number): Step<State<Subscription>> {
  const after = (state: State<Subscription> | undefined) =>
    state === undefined ? undefined : { ...state, row: { ...state.row, ...to } };
  return { describe: () => 'a change', begin, end, isCertain: Number.isFinite(end), isRead: false, after };
}

/**
 * Returns the violations in a short history. First, a subscription change gets no response. Then a ticket and an asset
 * are created. Finally, another change reverts the subscription.
 */
async function findings(lost: Partial<Subscription>, arrived: { type: string; secret: string }[]): Promise<string[]> {
  const expectedEvents = new ExpectedEvents();
  const placed = linearize(undefined, [{ ...change({}, 1, 2), after: () => before }]) ?? [];
  expectedEvents.noteSubscription(1, { before: undefined, steps: [], placed, now: 5 });
  const steps = [change(lost, 10, Number.POSITIVE_INFINITY), change({ events: ['ticket.created'] }, 30, 31)];
  expectedEvents.noteSubscription(1, { before, steps, placed: linearize(before, steps) ?? [], now: 40 });
  for (const resource of ['tickets', 'assets'] as const) {
    const mutation = { action: 'CREATED', actor: null, changes: {}, after: { id: 7 }, begin: 20, end: 21 } as const;
    expectedEvents.recordMutations(resource, [mutation as never], { now: 40, lineOf: () => [] });
  }
  const arrivals = arrived.map(({ type, secret }) => {
    const reported = { type, actor: null, [type.split('.')[0] ?? '']: { id: 7 } };
    const body = JSON.stringify(reported);
    const headers = {
      'webhook-id': type,
      'x-service-signature': createHmac('sha256', secret).update(body).digest('hex'),
    };
    return { headers, body, reported, at: Date.now() };
  });
  const world = new World('world');
  const receiver = { of: () => new Map([['first', arrivals]]) } as unknown as Receiver;
  await expectedEvents.settle(world, { options: [], bodies: new Map() } as unknown as Workspace, receiver, 0);
  return world.findings.map(({ what }) => what.replace(/ \(.*/, ''));
}

it('accepts the events of either outcome of a subscription change that got no response', async () => {
  const reported = [{ type: 'ticket.created', secret: 'secret' }];
  expect(await findings({ events: ['asset.created'] }, reported)).toEqual([]);
  expect(await findings({ events: ['asset.created'] }, [{ type: 'asset.created', secret: 'secret' }])).toEqual([]);
  expect(await findings({ secret: 'another' }, [{ type: 'ticket.created', secret: 'another' }])).toEqual([]);
});

it('reports a violation if neither outcome of an unanswered subscription change explains the events', async () => {
  expect(await findings({ skipOwn: true }, [])).toEqual(['an event never arrived']);
  expect(await findings({ secret: 'another' }, [{ type: 'ticket.created', secret: 'third' }])).toEqual([
    'a delivery is not signed with its secret',
  ]);
  expect(await findings({ skipOwn: true }, [{ type: 'asset.created', secret: 'secret' }])).toEqual([
    'an event never arrived',
    'subscription 1 received an event that does not match it or never happened',
  ]);
});
