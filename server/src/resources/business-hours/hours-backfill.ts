import type { SystemClient } from '../../database/client/prisma.ts';
import { lockTenant } from '../../database/row-lock.ts';
import { forEachTenant } from '../../database/tenant-maintenance.ts';
import { extendOpenHours } from './open-hours.ts';

/**
 * Extends the open hours of each workspace with a calendar to three years from now. If the rules of a time zone have
 * changed, also corrects the existing rows. PostgreSQL writes only the rows that differ.
 */
export async function backfillOpenHours(prisma: SystemClient): Promise<void> {
  await forEachTenant(prisma, ({ tenantId, inBatches }) => {
    const db = prisma.$tenant(tenantId);
    const extend = async () => {
      // The calendar can't change until the commit.
      await lockTenant(db, 'ticketSequence');
      await db.$sql(extendOpenHours, { now: new Date() });
      return 1;
    };
    return inBatches(2, () => db.$transaction(extend));
  });
}
