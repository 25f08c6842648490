import type { Actor } from '@itsm-api/contract';

/** Who asks: a request comes with the user and the key, the command line with neither. */
export interface Acting {
  userId?: bigint | undefined;
  keyId?: bigint | undefined;
}

/** Who asks, as activity and events tell it. */
export function actorOf({ userId, keyId }: Acting): Actor {
  return userId === undefined ? null : { userId: Number(userId), keyId: keyId === undefined ? null : Number(keyId) };
}
