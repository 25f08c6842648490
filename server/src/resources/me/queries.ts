import type { Identity } from '@itsm-api/contract';
import type { UserContext } from '../shared/context.ts';
import { getUser } from '../users/queries.ts';

/**
 * Returns the API key of the request and the user of the key.
 * @param key the details of the key and its workspace, which the database role for requests can't read
 * (docs/decisions/tenant-isolation.md)
 */
export async function getMe(context: UserContext, key: Omit<Identity, 'user'>): Promise<Identity> {
  return { ...key, user: await getUser(context, Number(context.userId)) };
}
