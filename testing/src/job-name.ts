// Generated from server/src/process/scheduled-jobs.ts by `pnpm generate`.

/** The name of a scheduled job, or `retention` for all jobs that delete old rows. */
export type JobName =
  | 'retention'
  | 'webhook-retention'
  | 'attachment-cleanup'
  | 'audit-retention'
  | 'session-retention'
  | 'proposal-retention'
  | 'totals-check'
  | 'nonconforming-check'
  | 'filter-backfill'
  | 'open-hours-backfill'
  | 'idempotency-retention'
  | 'usage-retention';
