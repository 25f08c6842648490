import { serializeId } from '../../shared/serialize.ts';
import { recordAudit } from '../audit/audit-entry.ts';
import { type Context, transaction } from '../shared/context.ts';
import { withdrawOfUser } from '../shared/proposal-withdrawal.ts';

/** The fields that let administrators recognize an API key. */
export interface UserKey {
  id: number;
  name: string;
  lastFour: string;
}

/** What to do with the API keys of a user who loses rights (docs/decisions/api-keys-design.md). */
export interface KeyChoice {
  /** Whether to keep the API keys. By default, the server revokes the keys. */
  keepKeys?: boolean | undefined;
}

const columns = { id: true, name: true, lastFour: true } as const;

/** Returns a user's unrevoked API keys, newest first. */
export async function listUserKeys({ db }: Pick<Context, 'db'>, userId: number): Promise<UserKey[]> {
  const where = { userId, revokedAt: null };
  return (await db.apiKey.findMany({ where, select: columns, orderBy: { id: 'desc' } })).map(present);
}

/**
 * Revokes a user's API keys, records each revocation in the audit log, and withdraws the pending proposals. Returns the revoked keys. If `keepKeys` is
 * true, does nothing.
 */
export function revokeUserKeys(
  context: Context,
  userId: number | bigint,
  { keepKeys = false }: KeyChoice,
): Promise<UserKey[]> {
  return transaction(context, async (context) => {
    if (keepKeys) return [];
    const keys = await context.db.apiKey.updateManyAndReturn({
      where: { userId, revokedAt: null },
      data: { revokedAt: context.now() },
      select: columns,
    });
    for (const { id } of keys) await recordAudit(context, { action: 'key.revoked', target: { type: 'key', id } });
    // All keys of the user are revoked, also those that replaced another one.
    await withdrawOfUser(context, userId);
    return keys.map(present);
  });
}

function present({ id, name, lastFour }: { id: bigint; name: string; lastFour: string }): UserKey {
  return { id: serializeId(id), name, lastFour };
}
