import * as z from 'zod';
import type { Prisma } from '../../../generated/prisma/client.ts';

/** How a key stands, and what is said of that (docs/decisions/api-keys.md). */
export const keyStatuses = {
  works: 'for a week at least',
  expiring: 'it ends within a week',
  inactive: 'its user is inactive; it works again when they are active',
  expired: 'its time is over',
  revoked: 'for good',
} as const;

export type KeyStatus = keyof typeof keyStatuses;
export const KeyStatus = z.enum(Object.keys(keyStatuses) as [KeyStatus, ...KeyStatus[]]);

/** How long before its end a key is expiring. Milliseconds. */
const soonMs = 7 * 86_400_000;

/** What the state of a key depends on. */
interface KeyFacts {
  revokedAt: Date | null;
  expiresAt: Date | null;
  user: { active: boolean };
}

/** The state of a key. */
export function keyStatus({ revokedAt, expiresAt, user }: KeyFacts, now: Date): KeyStatus {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && expiresAt <= now) return 'expired';
  if (!user.active) return 'inactive';
  return expiresAt !== null && expiresAt <= soonAfter(now) ? 'expiring' : 'works';
}

/** The keys that are in a state: those of which `keyState` says so. */
export function whereStatus(state: KeyStatus, now: Date): Prisma.ApiKeyWhereInput {
  const soon = soonAfter(now);
  const endsAfter = (moment: Date) => ({ OR: [{ expiresAt: null }, { expiresAt: { gt: moment } }] });
  const conditions: Record<KeyStatus, Prisma.ApiKeyWhereInput> = {
    works: { revokedAt: null, ...endsAfter(soon), user: { active: true } },
    expiring: { revokedAt: null, expiresAt: { gt: now, lte: soon }, user: { active: true } },
    inactive: { revokedAt: null, ...endsAfter(now), user: { active: false } },
    expired: { revokedAt: null, expiresAt: { lte: now } },
    revoked: { revokedAt: { not: null } },
  };
  return conditions[state];
}

function soonAfter(now: Date): Date {
  return new Date(now.getTime() + soonMs);
}
