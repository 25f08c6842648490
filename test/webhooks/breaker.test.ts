import {
  afterAttempt,
  getCircuit,
  type Health,
  presentHealth,
} from '@itsm-api/server/webhooks/delivery/circuit-breaker.ts';
import { describe, expect, it } from 'vitest';

/*
 * Tests the rules for the circuit breaker and automatic pauses without a database. health.test.ts tests the rules with
 * a running worker.
 */
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const start = Date.UTC(2026, 10, 20, 10);
const at = (milliseconds: number) => new Date(start + milliseconds);

const healthy: Health = {
  lastSuccessAt: null,
  lastFailureAt: null,
  failures: 0,
  failingSince: null,
  openUntil: null,
  openings: 0,
  pausedAt: null,
  pausedReason: null,
};

const success = { delivered: true, gone: false, probe: false };
const failure = { delivered: false, gone: false, probe: false };
const gone = { delivered: false, gone: true, probe: false };
const probe = { ...failure, probe: true };

/** Returns the delivery health of a new subscription after `times` failed attempts. */
function failing(times: number, before = healthy): Health {
  return Array.from({ length: times }).reduce((health: Health) => afterAttempt(health, failure, at(0)), before);
}

describe('circuit breaker', () => {
  it('keeps a circuit closed until five consecutive attempts fail', () => {
    const four = failing(4);
    expect(four).toMatchObject({ failures: 4, failingSince: at(0), lastFailureAt: at(0), openUntil: null });
    expect(getCircuit(four, at(0))).toBe('closed');
    const five = afterAttempt(four, failure, at(second));
    expect(five).toMatchObject({ failures: 5, failingSince: at(0), openUntil: at(6 * second), openings: 1 });
  });

  it('resets the failure count of a subscription after a successful attempt', () => {
    const reset = afterAttempt(failing(4), success, at(second));
    expect(reset).toEqual({ ...healthy, lastSuccessAt: at(second), lastFailureAt: at(0) });
    expect(failing(4, reset).openUntil).toBeNull();
  });

  it('keeps a circuit open until `openUntil`, and then makes it half-open', () => {
    const open = failing(5);
    expect(getCircuit(open, at(5 * second - 1))).toBe('open');
    expect(getCircuit(open, at(5 * second))).toBe('half-open');
    expect(getCircuit(open, at(day))).toBe('half-open');
  });

  it('doubles the open time of the circuit after each failed probe, up to five minutes', () => {
    let health = failing(5);
    const lengths: number[] = [];
    for (let probes = 0; probes < 100; probes++) {
      const now = at(probes * hour);
      health = afterAttempt(health, probe, now);
      lengths.push(Number(health.openUntil) - now.getTime());
    }
    expect(lengths.slice(0, 7)).toEqual([10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * second));
    expect(new Set(lengths.slice(5))).toEqual(new Set([5 * minute]));
  });

  it("sets a new open time after a failed probe, even before the probe's lease expires", () => {
    const held = { ...failing(5), openUntil: at(30 * second) };
    const now = at(8 * second);
    expect(afterAttempt(held, probe, now)).toMatchObject({ openUntil: at(18 * second), openings: 2 });
  });

  it('does not extend the open time after a failed attempt that started before the circuit opened', () => {
    const open = failing(5);
    const late = afterAttempt(open, failure, at(second));
    expect(late).toMatchObject({ failures: 6, openUntil: open.openUntil, openings: 1, lastFailureAt: at(second) });
  });

  it('closes the circuit after a success, even if the attempt started before the circuit opened', () => {
    for (const sign of [success, { ...success, probe: true }]) {
      expect(afterAttempt(failing(9), sign, at(second))).toEqual({
        ...healthy,
        lastSuccessAt: at(second),
        lastFailureAt: at(0),
      });
    }
  });
});

describe('automatic pause', () => {
  it('pauses a subscription after a 410 response, even if the attempt started before the circuit opened', () => {
    const reason = 'The endpoint returned 410 Gone.';
    for (const before of [healthy, failing(5)]) {
      const paused = afterAttempt(before, gone, at(second));
      expect(paused).toMatchObject({ pausedAt: at(second), pausedReason: reason, openUntil: at(second + hour) });
    }
  });

  it('pauses a subscription if every attempt fails for five days', () => {
    const almost = afterAttempt(failing(1), failure, at(5 * day - 1));
    expect(almost).toMatchObject({ pausedAt: null, pausedReason: null });
    expect(afterAttempt(failing(1), failure, at(5 * day))).toMatchObject({
      pausedAt: at(5 * day),
      pausedReason: 'Every attempt failed for 5 days.',
      openUntil: at(5 * day + hour),
    });
  });

  it('keeps the first pause reason of a subscription and schedules hourly probes', () => {
    const paused = afterAttempt(healthy, gone, at(0));
    const probed = afterAttempt(paused, probe, at(6 * day));
    expect(probed).toMatchObject({ pausedAt: at(0), pausedReason: paused.pausedReason, openUntil: at(6 * day + hour) });
    // An attempt that started before the pause doesn't count as a probe.
    expect(afterAttempt(probed, gone, at(6 * day + minute)).openUntil).toEqual(at(6 * day + hour));
  });

  it('resumes a paused subscription after a successful attempt', () => {
    const paused = afterAttempt(healthy, gone, at(0));
    expect(afterAttempt(paused, { ...success, probe: true }, at(hour))).toEqual({
      ...healthy,
      lastSuccessAt: at(hour),
      lastFailureAt: at(0),
    });
  });
});

describe('presentHealth', () => {
  const presented = (health: Health, now: Date, row = {}) =>
    presentHealth({ ...health, active: true, held: false, quotaReachedAt: null, ...row }, now);
  const nothing = { healthReason: null, nextAttemptAt: null, pausedAt: null, pausedReason: null };

  it('reports the health HEALTHY until an attempt fails, and again after a successful attempt', () => {
    expect(presented(healthy, at(0))).toEqual({ ...nothing, health: 'HEALTHY' });
    const failed = { ...nothing, health: 'RETRYING', healthReason: 'The last attempt failed.' };
    expect(presented(failing(1), at(0))).toEqual(failed);
    const recovered = afterAttempt(failing(7), success, at(second));
    expect(presented(recovered, at(second))).toEqual({ ...nothing, health: 'HEALTHY' });
  });

  it('reports the health CIRCUIT_OPEN until the circuit is half-open, and then RETRYING', () => {
    const failed = { ...nothing, healthReason: 'The last 5 attempts failed.' };
    const open = { ...failed, health: 'CIRCUIT_OPEN', nextAttemptAt: at(5 * second) };
    expect(presented(failing(5), at(0))).toEqual(open);
    expect(presented(failing(5), at(5 * second))).toEqual({ ...failed, health: 'RETRYING' });
  });

  it('reports the health PAUSED with the pause reason and the time of the next probe', () => {
    const paused = afterAttempt(healthy, gone, at(0));
    const pausedReason = 'The endpoint returned 410 Gone.';
    const words = { health: 'PAUSED', healthReason: pausedReason, pausedAt: at(0), pausedReason };
    expect(presented(paused, at(0))).toEqual({ ...words, nextAttemptAt: at(hour) });
    expect(presented(paused, at(hour))).toEqual({ ...words, nextAttemptAt: null });
    const held = { ...healthy, openUntil: at(1000 * day), pausedAt: at(0), pausedReason: 'Paused by its owner.' };
    const byOwner = { health: 'PAUSED', healthReason: held.pausedReason, nextAttemptAt: null };
    expect(presented(held, at(day), { held: true })).toMatchObject(byOwner);
  });

  it('reports QUOTA as the pause reason even if the subscription is paused for another reason', () => {
    const quota = { health: 'PAUSED', pausedAt: at(minute), pausedReason: 'QUOTA' };
    const row = { quotaReachedAt: at(minute) };
    const alone = presented(healthy, at(hour), row);
    expect(alone).toMatchObject({ ...quota, nextAttemptAt: null, healthReason: expect.stringMatching('change feed') });
    const paused = presented(afterAttempt(healthy, gone, at(0)), at(minute), row);
    expect(paused).toMatchObject({
      ...quota,
      nextAttemptAt: at(hour),
      healthReason: expect.stringMatching(/410 Gone.*change feed/),
    });
  });

  it('reports the health INACTIVE for a deactivated subscription', () => {
    expect(presented(failing(5), at(0), { active: false })).toEqual({ ...nothing, health: 'INACTIVE' });
  });
});
