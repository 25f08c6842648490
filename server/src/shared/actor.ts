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
  /** The user who accepted the change that the API key has proposed (docs/decisions/proposals-design.md). */
  acceptedById?: bigint | undefined;
  /** Whether the API key is an import key (docs/decisions/imports.md). */
  isImport?: boolean | undefined;
  /** Returns where the request came from. */
  from?: (() => Origin) | undefined;
}

/** The ids of the user and the API key that activities name. */
export interface ActorIds {
  userId: bigint | null;
  keyId: bigint | null;
}

/** Returns the user and the API key that a change is attributed to: of a proposal, the user who accepted it. */
export function actorIdsOf({ userId, keyId, acceptedById }: ActorContext): ActorIds {
  return { userId: acceptedById ?? userId ?? null, keyId: keyId ?? null };
}

/** Returns the actor of a change in the format that activities and events use. */
export function actorOf(context: ActorContext): Actor {
  const { userId, keyId } = actorIdsOf(context);
  return userId === null ? null : { userId: Number(userId), keyId: keyId === null ? null : Number(keyId) };
}
