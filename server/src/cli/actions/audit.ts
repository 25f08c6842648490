import { createHash } from 'node:crypto';
import { integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import { auditTargetTypes } from '../../resources/audit/audit-entry.ts';
import { findActor, readAudit } from '../../resources/audit/queries.ts';
import { tenantContext } from '../../resources/tenants/queries.ts';
import { toJsonLines, writeFile } from '../lib/export.ts';
import { PastTime } from '../lib/parse-time.ts';
import { action } from '../lib/run-command.ts';

const targetError = `must be one of ${auditTargetTypes.join(', ')}, optionally with an id, such as key:7`;

/** The schema of a target: a type such as `key`, or a type with an id such as `key:7`. */
const Target = z
  .string()
  .transform((text): unknown => text.split(':'))
  .pipe(z.tuple([z.enum(auditTargetTypes, targetError), integerFromText().optional()], targetError));

const exportEntries = action({
  input: z.strictObject({
    ...{ file: z.string().min(1), tenant: z.string(), yes: z.boolean().default(false) },
    ...{ since: PastTime.optional(), until: PastTime.optional(), actor: z.string().min(1).optional() },
    target: Target.optional(),
  }),
  async work(runtime, { tenant, file, yes, since, until, actor, target }, report) {
    const context = await tenantContext(runtime, tenant);
    const [targetType, targetId] = target ?? [];
    const filter = { ...(await findActor(context, actor)), since, until, targetType, targetId };
    return writeFile(runtime, { file, yes, report }, async (append) => {
      const digest = createHash('sha256');
      let exported = 0;
      for await (const entries of readAudit(context, filter)) {
        const lines = toJsonLines(entries);
        digest.update(lines);
        await append(lines);
        exported += entries.length;
      }
      return { exported, sha256: digest.digest('hex') };
    });
  },
  format: ({ exported, sha256 }) => `Exported ${exported} entries of the audit log. SHA-256: ${sha256}`,
});

export { exportEntries as export };
