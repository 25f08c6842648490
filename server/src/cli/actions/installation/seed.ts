import { pathPrefix, trimmedText } from '@itsm-api/contract';
import { SingleBar } from 'cli-progress';
import * as z from 'zod';
import { type DemoWorkspace, demoName, seedAnother } from '../../../../../prisma/seed.ts';
import type { Runtime } from '../../../process/runtime.ts';
import { tenantContext } from '../../../resources/tenants/queries.ts';
import { createDemoTickets } from '../../../resources/tickets/demo.ts';
import { shell } from '../../lib/help.ts';
import { action } from '../../lib/run-command.ts';

const maxTickets = 10_000_000;
const daysOfTickets = 730;

/** The schema for a number of tickets, such as `500`, `100k` or `1m`. */
const Count = z.string().transform((text, { addIssue }) => {
  const [, digits, unit = ''] = /^(\d{1,8})([km]?)$/i.exec(text) ?? [];
  const count = Number(digits) * ({ k: 1000, m: 1_000_000 }[unit.toLowerCase()] ?? 1);
  if (count >= 1 && count <= maxTickets) return count;
  addIssue({ code: 'custom', message: 'must be a number such as 500, 100k or 1m, at most 10m' });
  return z.NEVER;
});

export const run = action({
  input: z.strictObject({ tickets: Count.optional(), name: trimmedText(1, 255).optional() }),
  work: (runtime, { tickets, name }) =>
    tickets === undefined ? seedAnother(runtime, name ?? demoName) : seedSized(runtime, tickets, name),
  hint: ({ tenant, adminEmail }) =>
    `Created the demo workspace "${tenant}". Its API key acts for ${adminEmail} with all scopes. Store the key in a safe place. You can't display it again.`,
  format: ({ key }) => key,
  next: ({ tenant }, _, { publicUrl }) => [
    '$ export ITSM_KEY=…',
    `$ curl -H "Authorization: Bearer $ITSM_KEY" '${publicUrl}${pathPrefix}/tickets?status=OPEN&perPage=3'`,
    shell`tenants show ${tenant}`,
  ],
});

async function seedSized(runtime: Runtime, tickets: number, name?: string): Promise<DemoWorkspace> {
  const tenant = name ?? `Demo, ${tickets.toLocaleString('en')} tickets`;
  // The progress bar prints nothing if stderr is not a terminal. `gracefulExit` restores the terminal after Ctrl-C.
  const bar = new SingleBar({
    format: '{bar} {value} of {total} tickets, {eta_formatted} left',
    clearOnComplete: true,
    gracefulExit: true,
  });
  try {
    return await seedAnother(runtime, tenant, async (tenantId, to) => {
      const { db } = await tenantContext(runtime, String(tenantId));
      const from = new Date(to.getTime() - daysOfTickets * 86_400_000);
      bar.start(tickets, 0);
      await createDemoTickets(db, { count: tickets, from, to, onProgress: (made) => bar.update(made) });
    });
  } finally {
    bar.stop();
  }
}
