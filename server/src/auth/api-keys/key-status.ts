import * as z from 'zod';
import type { Prisma } from '../../../generated/prisma/client.ts';

/** The statuses of an API key and their descriptions (docs/decisions/api-keys-design.md). */
export const keyStatuses = {
  active: 'valid for at least 30 days',
  expiring: 'expires within 30 days',
  inactive: 'its user is inactive; reactivate the user to use the key again',
  expired: 'no longer valid',
  revoked: 'permanently invalid',
} as const;

export type KeyStatus = keyof typeof keyStatuses;
export const KeyStatus = z.enum(Object.keys(keyStatuses) as [KeyStatus, ...KeyStatus[]]);

/** An API key has the status `expiring` for this many milliseconds before it expires. */
const soonMs = 30 * 86_400_000;

/** The values that determine the status of an API key. */
interface KeyLifetime {
  revokedAt: Date | null;
  expiresAt: Date | null;
  user: { active: boolean };
}

/** Returns the status of an API key at the given time. */
export function keyStatus({ revokedAt, expiresAt, user }: KeyLifetime, now: Date): KeyStatus {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && expiresAt <= now) return 'expired';
  if (!user.active) return 'inactive';
  return expiresAt !== null && expiresAt <= soonAfter(now) ? 'expiring' : 'active';
}

/** Returns a Prisma filter for API keys with a status. Keep the conditions consistent with `keyStatus`. */
export function whereStatus(state: KeyStatus, now: Date): Prisma.ApiKeyWhereInput {
  const soon = soonAfter(now);
  const expiresAfter = (moment: Date) => ({ OR: [{ expiresAt: null }, { expiresAt: { gt: moment } }] });
  const conditions: Record<KeyStatus, Prisma.ApiKeyWhereInput> = {
    active: { revokedAt: null, ...expiresAfter(soon), user: { active: true } },
    expiring: { revokedAt: null, expiresAt: { gt: now, lte: soon }, user: { active: true } },
    inactive: { revokedAt: null, ...expiresAfter(now), user: { active: false } },
    expired: { revokedAt: null, expiresAt: { lte: now } },
    revoked: { revokedAt: { not: null } },
  };
  return conditions[state];
}

function soonAfter(now: Date): Date {
  return new Date(now.getTime() + soonMs);
}
