import type { PgBoss } from 'pg-boss';
import { scheduleSessionRetention } from '../auth/accounts/session-retention.ts';
import type { Settings } from '../config/env.ts';
import { scheduleAttachmentCleanup } from '../resources/attachments/attachment-cleanup.ts';
import { scheduleAuditRetention } from '../resources/audit/audit-retention.ts';
import { scheduleIdempotencyRetention } from '../resources/idempotency/idempotency-retention.ts';
import { scheduleTotalsCheck, type WrongTotal } from '../resources/tickets/counters-check.ts';
import { scheduleUsageRetention } from '../usage/usage-retention.ts';
import type { Runtime } from './runtime.ts';

interface JobOptions {
  runtime: Pick<Runtime, 'databases' | 'prisma'> & { services: Pick<Runtime['services'], 'storage'> };
  settings: Pick<Settings, 'REQUEST_LOG_DAYS' | 'AUDIT_RETENTION_DAYS'>;
  /** Called if the nightly check finds wrong totals. */
  onWrongTotals: (wrong: WrongTotal[]) => void;
}

/**
 * Schedules the nightly and hourly jobs, except the one that `startWebhooks` schedules. Each job skips tenants in
 * maintenance (docs/decisions/maintenance.md).
 */
export async function scheduleJobs(
  boss: PgBoss,
  { runtime: { databases, prisma, services }, settings, onWrongTotals }: JobOptions,
): Promise<void> {
  await scheduleTotalsCheck(boss, { databases, onWrong: onWrongTotals });
  await scheduleIdempotencyRetention(boss, prisma);
  await scheduleUsageRetention(boss, { prisma, requestLogDays: settings.REQUEST_LOG_DAYS });
  await scheduleAttachmentCleanup(boss, { prisma, storage: services.storage });
  await scheduleAuditRetention(boss, prisma, settings.AUDIT_RETENTION_DAYS);
  await scheduleSessionRetention(boss, prisma);
}
