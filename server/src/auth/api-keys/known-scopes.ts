import { type Scope, scopes } from '@itsm-api/contract';

/**
 * Returns those of the stored scopes that this release knows. A newer release may have stored others
 * (docs/decisions/schema-migrations.md).
 */
export function knownScopes(stored: readonly string[]): Scope[] {
  return stored.filter((scope): scope is Scope => Object.hasOwn(scopes, scope));
}
