import type { PgBoss } from 'pg-boss';
import { pruneSessions } from '../auth/accounts/session-retention.ts';
import type { Settings } from '../config/env.ts';
import { scheduleJob } from '../database/jobs/job-queue.ts';
import type { Queue } from '../database/jobs/job-schema.ts';
import { pruneAudit } from '../resources/audit/audit-retention.ts';
import { backfillOpenHours } from '../resources/business-hours/hours-backfill.ts';
import { backfillFilters } from '../resources/custom-fields/filter-backfill.ts';
import { countNonconforming } from '../resources/custom-fields/nonconforming-check.ts';
import { pruneIdempotencyKeys } from '../resources/idempotency/idempotency-retention.ts';
import { pruneProposals } from '../resources/proposals/proposal-retention.ts';
import { deleteFilesOfDeleted, deleteUnusedFiles } from '../resources/tickets/attachments/attachment-cleanup.ts';
import { findWrongTotals, type WrongTotal } from '../resources/tickets/counters-check.ts';
import { ApiError } from '../shared/errors.ts';
import { pruneRequestLog, pruneUsage } from '../usage/usage-retention.ts';
import { pruneReplays, pruneSecrets, pruneSettled } from '../webhooks/maintenance/delivery-retention.ts';
import type { Runtime } from './runtime.ts';

/** The objects and settings that scheduled jobs use. */
export interface JobSources {
  runtime: Pick<Runtime, 'databases' | 'prisma'> & { services: Pick<Runtime['services'], 'storage'> };
  settings: Pick<Settings, 'REQUEST_LOG_DAYS' | 'AUDIT_RETENTION_DAYS'>;
  /** Called if the nightly check finds wrong totals. */
  onWrongTotals: (wrong: WrongTotal[]) => void;
}

/** A job that one of the workers runs at certain times. */
interface ScheduledJob {
  /** The name of the job, and of its queue in pg-boss. */
  name: string;
  /** When the job starts, in UTC. */
  cron: keyof typeof times;
  /** What the job does, as a sentence for operators. */
  about: string;
  /** The duration in hours after which pg-boss considers the job failed. */
  maxHours: number;
  /** How often pg-boss runs the job again after a failure. */
  retryLimit?: number;
  run(sources: JobSources): Promise<unknown>;
}

const times = {
  '* * * * *': 'every minute',
  '17 3 * * *': 'every night at 03:17 UTC',
  '43 * * * *': 'every hour at minute 43',
};

/**
 * All scheduled jobs, except the ones of pg-boss. The queues, the schedules and the table in docs/operations/monitor-and-repair.md derive
 * from this list. Each job skips tenants in maintenance (docs/decisions/maintenance.md).
 */
const scheduledJobs: ScheduledJob[] = [
  {
    name: 'webhook-retention',
    cron: '17 3 * * *',
    about: 'Deletes deliveries that were completed 30 days ago, finished replays and expired previous secrets.',
    maxHours: 6,
    async run({ runtime: { prisma } }) {
      await pruneSecrets(prisma);
      await pruneReplays(prisma);
      await pruneSettled(prisma);
    },
  },
  {
    name: 'attachment-cleanup',
    cron: '17 3 * * *',
    about: 'Deletes the files of deleted attachments, and files that belong to no attachment.',
    maxHours: 6,
    async run({ runtime: { prisma, services } }) {
      const cleanup = { prisma, storage: services.storage };
      await deleteFilesOfDeleted(cleanup);
      await deleteUnusedFiles(cleanup);
    },
  },
  {
    name: 'audit-retention',
    cron: '17 3 * * *',
    about: 'Deletes entries of the audit log after `AUDIT_RETENTION_DAYS`.',
    maxHours: 1,
    run: ({ runtime, settings }) => pruneAudit(runtime.prisma, settings.AUDIT_RETENTION_DAYS),
  },
  {
    name: 'session-retention',
    cron: '17 3 * * *',
    about: 'Deletes sessions of the developer area 30 days after their last request.',
    maxHours: 1,
    run: ({ runtime }) => pruneSessions(runtime.prisma),
  },
  {
    name: 'proposal-retention',
    cron: '17 3 * * *',
    about: 'Stores that proposals have expired, and deletes proposals 90 days after they ended.',
    maxHours: 1,
    run: ({ runtime }) => pruneProposals(runtime.prisma),
  },
  {
    name: 'totals-check',
    cron: '17 3 * * *',
    about: 'Compares stored totals, such as the counts of tickets, with the rows, and logs any differences.',
    maxHours: 1,
    // A retry could start while the first check is still running.
    retryLimit: 0,
    async run({ runtime, onWrongTotals }) {
      const wrong = await findWrongTotals(runtime.databases.options);
      if (wrong.length > 0) onWrongTotals(wrong);
    },
  },
  {
    name: 'nonconforming-check',
    cron: '17 3 * * *',
    about: "Counts the values of custom fields that don't fit their definitions.",
    maxHours: 6,
    run: ({ runtime }) => countNonconforming(runtime.prisma),
  },
  {
    name: 'filter-backfill',
    cron: '* * * * *',
    about:
      'After a custom field becomes filterable, copies its existing values, so that the filter finds all tickets and assets.',
    maxHours: 6,
    run: ({ runtime }) => backfillFilters(runtime.prisma),
  },
  {
    name: 'open-hours-backfill',
    cron: '17 3 * * *',
    about: 'Adds the next day to the business hours, and corrects them if the rules of a time zone have changed.',
    maxHours: 1,
    run: ({ runtime }) => backfillOpenHours(runtime.prisma),
  },
  {
    name: 'idempotency-retention',
    // If the server stored thousands of responses per second, a nightly job would take longer than a night, and the
    // table would be twice as large.
    cron: '43 * * * *',
    about: 'Deletes the responses for an `Idempotency-Key` after 24 hours.',
    maxHours: 1,
    run: ({ runtime }) => pruneIdempotencyKeys(runtime.prisma),
  },
  {
    name: 'usage-retention',
    cron: '43 * * * *',
    about: 'Deletes old usage statistics, and requests of the request log after `REQUEST_LOG_DAYS`.',
    maxHours: 1,
    async run({ runtime: { prisma }, settings }) {
      await pruneUsage(prisma);
      await pruneRequestLog(prisma, settings.REQUEST_LOG_DAYS);
    },
  },
];

/** The queues of the scheduled jobs. */
export const jobQueues: Queue[] = scheduledJobs.map(({ name, maxHours, retryLimit }) => ({
  name,
  policy: 'exclusive',
  options: { expireInSeconds: maxHours * 3600, ...(retryLimit !== undefined && { retryLimit }) },
}));

/** Schedules all jobs in a process with the role `worker`. */
export async function scheduleJobs(boss: PgBoss, sources: JobSources): Promise<void> {
  for (const job of scheduledJobs) await scheduleJob(boss, { ...job, run: () => job.run(sources) });
}

/**
 * Runs a scheduled job now, in this process. Only servers for tests use it.
 * @param name the name of a job, or `retention` for all jobs that delete old rows
 * @throws ApiError NOT_FOUND if no job has this name
 */
export async function runJobs(name: string, sources: JobSources): Promise<void> {
  const isMeant = (job: ScheduledJob) => job.name === name || (name === 'retention' && job.name.endsWith('-retention'));
  const found = scheduledJobs.filter(isMeant);
  if (found.length === 0)
    throw new ApiError('NOT_FOUND', `No scheduled job has this name. Use ${jobNames.join(', ')}.`);
  for (const job of found) await job.run(sources);
}

/** The names that `runJobs` accepts. */
export const jobNames = ['retention', ...scheduledJobs.map(({ name }) => name)];

/** The rows of the table of scheduled jobs in docs/operations/monitor-and-repair.md. */
export const jobTable = scheduledJobs.map(({ name, cron, about }) => [`\`${name}\``, times[cron], about]);
