import { type Scope, scopes } from '@itsm-api/contract';

/**
 * Returns the stored scopes that this release supports. A newer release may have stored other scopes
 * (docs/decisions/schema-migrations.md).
 */
export function knownScopes(stored: readonly string[]): Scope[] {
  return stored.filter((scope): scope is Scope => Object.hasOwn(scopes, scope));
}
