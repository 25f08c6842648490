import type { Identity } from '@itsm-api/contract';
import type { UserContext } from '../shared/context.ts';
import { getUser } from '../users/queries.ts';

/**
 * Returns the API key of the request with its user.
 * @param key details of the key and its tenant; the caller passes them, because the database role for requests can't
 * read tenants (docs/decisions/tenant-isolation.md)
 */
export async function getMe(context: UserContext, key: Omit<Identity, 'user'>): Promise<Identity> {
  return { ...key, user: await getUser(context, Number(context.userId)) };
}
