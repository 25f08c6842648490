import { Id, integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import { commentRows } from '../../resources/tickets/comments/queries.ts';
import { exportAction } from '../lib/export.ts';
import { action } from '../lib/run-command.ts';
import { formatRedaction, RedactionOptions, redactConfirmed } from './tickets.ts';

const exportRows = exportAction(commentRows);

export { exportRows as export };

export const redact = action({
  input: RedactionOptions.extend({ comments: z.array(integerFromText(Id)) }),
  work: redactConfirmed,
  format: formatRedaction,
});
