import { maxTeamMembers } from '@itsm-api/contract';
import * as z from 'zod';
import { invalidField } from '../../shared/errors.ts';
import type { Context } from '../shared/context.ts';
import { findUserIds } from '../users/queries.ts';
import { UserReference } from '../users/user-reference.ts';

/** The schema of the members of a team as text: email addresses or ids, separated by commas or white space. */
export const MemberList = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((part) => part !== ''))
  .pipe(z.array(UserReference).max(maxTeamMembers, `must contain at most ${maxTeamMembers} users`));

/**
 * Returns the ids of members. Looks up only email addresses, and doesn't check ids.
 * @throws ApiError INVALID_REFERENCE if no active user has one of the email addresses
 */
export async function findMemberIds(context: Context, members: z.output<typeof MemberList>): Promise<number[]> {
  const emails = members.filter((member) => typeof member === 'string');
  const ids = await findUserIds(context, emails);
  const unknown = emails.find((email) => !ids.has(email));
  if (unknown !== undefined) {
    throw invalidField('INVALID_REFERENCE', 'memberIds', `contains ${unknown}, but no active user has this address`);
  }
  return members.map((member) => (typeof member === 'string' ? (ids.get(member) as number) : member));
}
