import type { Actor } from '@itsm-api/contract';

/** Where a request came from. Sessions and the audit log store this information. */
export interface Origin {
  /** The IP address of the client. */
  address: string;
  userAgent: string;
}

/** The user and the API key of a request. Undefined for changes on the command line. */
export interface ActorContext {
  userId?: bigint | undefined;
  keyId?: bigint | undefined;
  /** Whether the API key is an import key (docs/decisions/imports.md). */
  isImport?: boolean | undefined;
  /** Returns where the request came from. */
  from?: (() => Origin) | undefined;
}

/** Returns the actor of a change in the format that activities and events use. */
export function actorOf({ userId, keyId }: ActorContext): Actor {
  return userId === undefined ? null : { userId: Number(userId), keyId: keyId === undefined ? null : Number(keyId) };
}
