import { type TenantId, toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { InFlight } from '@itsm-api/server/webhooks/delivery/in-flight.ts';
import { RoundRobin } from '@itsm-api/server/webhooks/delivery/round-robin.ts';
import type { SubscriptionRef } from '@itsm-api/server/webhooks/subscription-ref.ts';
import { describe, expect, it } from 'vitest';

const limits = { total: 4, tenant: 4, subscription: 4, doubtful: 2 };

/** Returns references to `count` subscriptions of a tenant. */
const subscriptionsOf = (tenantId: TenantId, count: number): SubscriptionRef[] =>
  Array.from({ length: count }, (_, index) => ({ tenantId, subscriptionId: tenantId * 1000n + BigInt(index) }));

/**
 * Completes `times` deliveries, one at a time, and starts new deliveries in the free slots. Every subscription always
 * has due deliveries. Returns the tenant id of each started delivery.
 */
function send(waiting: RoundRobin, times: number): bigint[] {
  const inFlight = new InFlight(limits, { maxConcurrent: 64, maxPerSecond: 1000 });
  const sent: Parameters<InFlight['end']>[0][] = [];
  for (let ended = 0; ended < times; ended++) {
    for (const { slots, ...ref } of inFlight.slotsFor(waiting)) {
      waiting.next(ref, true);
      for (let slot = 0; slot < slots; slot++) {
        const request = { ...ref, url: 'https://example.com/hook' };
        inFlight.begin(request);
        sent.push(request);
      }
    }
    inFlight.end(sent[ended] as (typeof sent)[number]);
  }
  return sent.map(({ tenantId }) => tenantId);
}

describe('round robin of due deliveries', () => {
  it('assigns delivery slots to tenants alternately, even if one tenant has many more subscriptions', () => {
    const waiting = new RoundRobin();
    for (const ref of [...subscriptionsOf(toTenantId(1), 200), ...subscriptionsOf(toTenantId(2), 1)]) waiting.add(ref);
    const tenants = send(waiting, 40);
    expect(tenants.slice(0, 4)).toContain(2n);
    expect(tenants.filter((tenantId) => tenantId === 2n).length).toBeGreaterThanOrEqual(15);
  });

  it('rotates the subscriptions of a tenant and removes subscriptions without due deliveries', () => {
    const waiting = new RoundRobin();
    const refs = subscriptionsOf(toTenantId(1), 3);
    for (const ref of [...refs, ...refs]) waiting.add(ref);
    expect([...waiting]).toEqual(refs);
    for (const ref of refs.slice(0, 2)) waiting.next(ref, true);
    expect([...waiting]).toEqual([2, 0, 1].map((index) => refs[index]));
    for (const ref of refs) waiting.next(ref, false);
    expect([...waiting]).toEqual([]);
  });
});
