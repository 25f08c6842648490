import type { Connection } from '../../database/connection.ts';
import { withOwnConnection } from '../../database/own-connection.ts';
import { watchPeer } from '../../database/peer-watch.ts';
import { Reachability } from '../../database/reachability.ts';
import { missingRoles, systemRole } from '../../database/roles.ts';
import { codeOf, LOCK_NOT_AVAILABLE } from '../../error-code.ts';
import type { SecretCipher } from '../../webhooks/secret-cipher.ts';
import { textSettings } from './move-copy.ts';
import { keepWritersOut } from './move-state.ts';

/** What moving is done with. */
export interface MoveSources {
  databases: { options: Parameters<typeof withOwnConnection>[0] };
  services: { secretCipher: SecretCipher };
}

/** A tenant can't be moved, or wasn't. The message says why, and what is so now. */
export class MoveError extends Error {
  override name = 'MoveError';
}

/** How long one statement may take, and how long a transaction of either side may rest while the other one works. */
export const statementMs = 600_000;
/** How long writers that are under way are waited for, and whoever else moves the tenant. */
export const lockMs = 30_000;

interface Side {
  /** Of its database. */
  url: string;
  /** How long one statement may take. Milliseconds. */
  statementMs: number;
}

/** Works on a connection to one side that sees all tenants. @throws MoveError where that can't be had */
export function withSide<Result>(
  { databases: { options } }: Pick<MoveSources, 'databases'>,
  side: Side,
  work: (client: Connection) => Promise<Result>,
): Promise<Result> {
  const timeouts = { statementMs: side.statementMs, lockMs };
  // That the other one can't be reached is no outage of this one.
  const reachability = side.url === options.url ? options.reachability : new Reachability();
  let opened = false;
  const open = async (client: Connection) => {
    opened = true;
    if ((await missingRoles(client)).length > 0) {
      throw new MoveError(
        'The roles of this service are not in that server, or the URL may not take them: run `itsm migrate` there.',
      );
    }
    // Who keeps writers out is to be gone with its machine; what was decided must outlive a crash, however that is set.
    await watchPeer(client);
    await client.query(`SET ROLE ${systemRole}; SET synchronous_commit = on; ${textSettings}`);
    return await work(client);
  };
  const purpose = { name: 'moves', statementMs: side.statementMs, asRoleOfUrl: true };
  return withOwnConnection({ ...options, url: side.url, timeouts, reachability }, purpose, open).catch(
    (error: unknown) => {
      if (opened || !(error instanceof Error)) throw error;
      throw new MoveError(`The database can't be reached: ${error.message}`, { cause: error });
    },
  );
}

/** Keeps writers out of one side. @throws MoveError where that takes too long */
export async function lock(client: Connection, tenantId: bigint, side: 'this' | 'the other'): Promise<void> {
  await keepWritersOut(client, tenantId).catch((error: unknown) => {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    throw new MoveError(
      `Somebody else is moving the tenant, or has been writing in it on ${side} side for ${lockMs / 1000} seconds. Nothing was moved.`,
    );
  });
}

/** A subscription of no one: the address of the other side is encrypted as a secret of it. */
function ownerOf(tenantId: bigint) {
  return { tenantId, subscriptionId: 0n };
}

export function sealAddress({ services }: MoveSources, tenantId: bigint, url: string): Buffer {
  return Buffer.from(services.secretCipher.encrypt(url, ownerOf(tenantId)));
}

export function openAddress({ services }: MoveSources, tenantId: bigint, sealed: Buffer): string {
  return services.secretCipher.decrypt(sealed, ownerOf(tenantId));
}
