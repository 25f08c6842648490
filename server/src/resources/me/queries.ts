import type { Identity } from '@itsm-api/contract';
import type { UserContext } from '../shared/context.ts';
import { getUser } from '../users/queries.ts';

/**
 * Returns the API key of the request with its user.
 * @param key details of the key; the caller reads them, because the role for requests can't read keys and tenants
 * (docs/decisions/tenant-isolation.md)
 */
export async function getMe(context: UserContext, key: Omit<Identity, 'user'>): Promise<Identity> {
  return { ...key, user: await getUser(context, Number(context.userId)) };
}
