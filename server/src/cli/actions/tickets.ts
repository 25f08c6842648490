import { Id, integerFromText, TicketReference } from '@itsm-api/contract';
import * as z from 'zod';
import type { Runtime } from '../../process/runtime.ts';
import { type Redaction, type RedactionInput, redact as redactRows } from '../../resources/privacy/redaction.ts';
import { tenantContext } from '../../resources/tenants/queries.ts';
import { ticketRows } from '../../resources/tickets/queries.ts';
import { CommandError } from '../lib/cli-errors.ts';
import { confirm } from '../lib/confirm.ts';
import { exportAction } from '../lib/export.ts';
import { action } from '../lib/run-command.ts';

const exportRows = exportAction(ticketRows);

export { exportRows as export };

/** The schema of the options that `tickets redact` and `comments redact` share. */
export const RedactionOptions = z.strictObject({
  tenant: z.string(),
  attachments: z
    .string()
    .transform((text): (string | number)[] => text.split(','))
    .pipe(z.array(integerFromText(Id)))
    .optional(),
  yes: z.boolean().default(false),
});

/**
 * Redacts texts after the user has confirmed it.
 * @throws CommandError if the user declines
 */
export async function redactConfirmed(
  runtime: Runtime,
  { tenant, yes, ...input }: { tenant: string; yes: boolean } & RedactionInput,
): Promise<Redaction> {
  const context = await tenantContext(runtime, tenant);
  if (!yes && !(await confirm(`permanently ${describe('redact', 'delete', input)}`))) {
    throw new CommandError('Nothing was changed.');
  }
  return redactRows(context, input);
}

/** Formats the result of a redaction as a sentence. */
export function formatRedaction({ remainingFiles, ...redaction }: Redaction): string {
  const done = `${describe('Redacted', 'deleted', redaction)}.`;
  if (remainingFiles === 0) return done;
  return `${done} Files that could not be deleted: ${remainingFiles}. Run the command again, or wait for the nightly job.`;
}

function describe(redacting: string, deleting: string, { tickets, comments, attachments }: RedactionInput): string {
  const count = (verb: string, items: readonly unknown[] = [], one: string) =>
    items.length === 0 ? [] : [`${verb} ${items.length} ${one}${items.length === 1 ? '' : 's'}`];
  return [
    ...count(redacting, tickets, 'ticket'),
    ...count(redacting, comments, 'comment'),
    ...count(deleting, attachments, 'attachment'),
  ].join(' and ');
}

export const redact = action({
  input: RedactionOptions.extend({ tickets: z.array(TicketReference) }),
  work: redactConfirmed,
  format: formatRedaction,
});
