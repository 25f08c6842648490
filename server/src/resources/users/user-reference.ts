import { integerFromText, NewUser } from '@itsm-api/contract';
import * as z from 'zod';

/** The schema for a user reference: an id or an email address. */
export const UserReference = z.string().transform((text, { addIssue }) => {
  const parsed = (/^\d+$/.test(text) ? integerFromText() : NewUser.shape.email).safeParse(text);
  if (parsed.success) return parsed.data;
  addIssue({ code: 'custom', message: 'must be the email address or the id of a user' });
  return z.NEVER;
});
export type UserReference = z.output<typeof UserReference>;
