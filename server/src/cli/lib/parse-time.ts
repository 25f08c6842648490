import { TimestampInput } from '@itsm-api/contract';
import * as z from 'zod';
import { parseDuration } from '../../shared/duration.ts';

/** The schema of a time in the past: an age such as `30m`, `2h` or `3d`, a date, or a timestamp. */
export const PastTime = z.string().transform((text, { addIssue }) => {
  const age = parseDuration(text);
  if (age !== undefined) return new Date(Date.now() - age);
  const parsed = TimestampInput.safeParse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (parsed.success && Date.parse(parsed.data) <= Date.now()) return new Date(parsed.data);
  addIssue({
    code: 'custom',
    message: 'must be an age such as 30m, 2h or 3d, or a past time such as 2026-11-20T10:00:00Z',
  });
  return z.NEVER;
});
