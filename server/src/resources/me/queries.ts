import type { Identity } from '@itsm-api/contract';
import type { UserContext } from '../shared/context.ts';
import { listTeamIds } from '../teams/queries.ts';
import { getUser } from '../users/queries.ts';

/**
 * Returns the API key of the request, the user of the key, and the teams of the user.
 * @param key the details of the key and its workspace, which the database role for requests can't read
 * (docs/decisions/tenant-isolation.md)
 */
export async function getMe(context: UserContext, key: Omit<Identity, 'user' | 'teamIds'>): Promise<Identity> {
  const { userId } = context;
  return { ...key, user: await getUser(context, Number(userId)), teamIds: await listTeamIds(context, userId) };
}
