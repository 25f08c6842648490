// Generated from prisma/schema.prisma by `pnpm generate`. Do not edit.

/** The tables of tenants whose rows have their own numbers as ids. */
export const tables = [
  'users',
  'teams',
  'request_forms',
  'api_keys',
  'invitations',
  'passkeys',
  'sessions',
  'audit_entries',
  'tickets',
  'ticket_links',
  'approvals',
  'comments',
  'attachments',
  'activities',
  'assets',
  'projects',
  'articles',
  'tasks',
  'webhook_subscriptions',
  'webhook_replays',
  'events',
  'deliveries',
  'delivery_attempts',
  'request_log',
] as const;
