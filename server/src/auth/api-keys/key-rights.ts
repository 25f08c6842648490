import { Scope } from '@itsm-api/contract';
import { invalidField } from '../../shared/errors.ts';
import type { Account } from '../accounts/account.ts';

/** Returns the scopes of the API keys that a user with this role can create in the developer area. */
export function grantableScopes(role: Account['role']): Scope[] {
  return Scope.options.filter((scope) => role === 'ADMIN' || scope !== 'webhooks:manage');
}

/**
 * Checks that a user may create an API key in the developer area. An ADMIN can create every key. An AGENT can create
 * keys for themselves, without the scope `webhooks:manage`, because a webhook receives all events of the workspace.
 * @param key the email address of the key's user, and the scopes of the key
 * @throws ApiError VALIDATION_ERROR
 */
export function checkGrant({ role, email }: Account, { user, scopes }: { user: string; scopes: readonly Scope[] }) {
  if (role !== 'ADMIN' && user !== email) {
    throw invalidField('VALIDATION_ERROR', 'user', 'must be your own email address');
  }
  const denied = scopes.filter((scope) => !grantableScopes(role).includes(scope));
  if (denied.length > 0) {
    const message = `must not contain ${denied.join(', ')}. Ask an administrator to create a key with this scope.`;
    throw invalidField('VALIDATION_ERROR', 'scopes', message);
  }
}
