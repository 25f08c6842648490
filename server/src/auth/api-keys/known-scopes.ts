import { type Scope, scopes } from '@itsm-api/contract';

/** The scopes of a key that this release knows: a later one beside it may have given others (docs/decisions/schema-migrations.md). */
export function knownScopes(stored: readonly string[]): Scope[] {
  return stored.filter((scope): scope is Scope => Object.hasOwn(scopes, scope));
}
