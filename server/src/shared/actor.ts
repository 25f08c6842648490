import type { Actor } from '@itsm-api/contract';

/** The user and API key of a request. Both are absent for the command line. */
export interface Acting {
  userId?: bigint | undefined;
  keyId?: bigint | undefined;
}

/** Returns the actor of a change, as activity entries and events contain it. */
export function actorOf({ userId, keyId }: Acting): Actor {
  return userId === undefined ? null : { userId: Number(userId), keyId: keyId === undefined ? null : Number(keyId) };
}
