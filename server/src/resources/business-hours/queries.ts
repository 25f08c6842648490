import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type BusinessCalendar,
  type BusinessHoursSettings,
  NewBusinessCalendar,
  Priority,
  type TargetMinutes,
  type Targets,
} from '@itsm-api/contract';
import { sql, tenant } from '../../database/client/sql.ts';
import { command, oneAsJson, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockTenant } from '../../database/row-lock.ts';
import { invalidField } from '../../shared/errors.ts';
import { detailsOf, unknownField, validationError } from '../../shared/validation.ts';
import { type AuditChanges, type AuditContext, auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { type Context, transaction } from '../shared/context.ts';
import { rewriteOpenHours } from './open-hours.ts';

/*
 * Reads and writes the business hours and the targets of a workspace (docs/decisions/tickets.md). They are in the row of
 * `ticket_sequences`, because the statement that inserts tickets reads this row anyway.
 */

/** The setting without its entity tag. */
type Setting = Omit<BusinessHoursSettings, 'etag'>;

/** The parts of the setting to change. If the calendar is null, targets count every minute, and no pause begins. */
export interface BusinessHoursPatch {
  calendar?: Partial<BusinessCalendar> | null | undefined;
  targets?: { [Kind in keyof Targets]?: Partial<TargetMinutes> } | undefined;
  pausesWhilePending?: boolean | undefined;
}

const writeSetting = command<{ calendar: string; firstResponse: string; resolution: string; pauses: boolean }>(
  ({ calendar, firstResponse, resolution, pauses }) => sql`
    INSERT INTO ticket_sequences
      (tenant_id, business_hours, first_response_targets, resolution_targets, pauses_while_pending)
    VALUES (${tenant}, nullif(${calendar}::jsonb, 'null'), jsonb_strip_nulls(${firstResponse}::jsonb),
      jsonb_strip_nulls(${resolution}::jsonb), ${pauses})
    ON CONFLICT (tenant_id) DO UPDATE SET business_hours = EXCLUDED.business_hours,
      first_response_targets = EXCLUDED.first_response_targets, resolution_targets = EXCLUDED.resolution_targets,
      pauses_while_pending = EXCLUDED.pauses_while_pending`,
);

const isKnownZone = oneAsJson<{ name: string }, { isKnown: boolean }>(
  // The names are the same for all tenants. `AT TIME ZONE` interprets the four rejected names as abbreviations with a
  // fixed offset.
  ({ name }) => sql`SELECT EXISTS (SELECT FROM pg_timezone_names
      WHERE name = ${name} AND name NOT IN ('CET', 'EET', 'MET', 'WET')) AS "isKnown"
    WHERE ${tenant}::bigint IS NOT NULL`,
);

const countOpenMinutes = rows<{ since: Date; until: Date }, { minutes: number }>(
  ({ since, until }) => sql`SELECT (open_time_between(${tenant}, ${since}, ${until}) / 60000)::int AS minutes`,
);

/** Returns the business hours and the targets of the workspace. */
export async function getBusinessHours({ db }: Pick<Context, 'db'>): Promise<BusinessHoursSettings> {
  const setting = await readSetting(db);
  const tag = createHash('sha256').update(JSON.stringify(setting)).digest('base64url').slice(0, 12);
  return { ...setting, etag: `"${tag}"` };
}

async function readSetting(db: TenantClient): Promise<Setting> {
  const columns = {
    businessHours: true,
    pausesWhilePending: true,
    firstResponseTargets: true,
    resolutionTargets: true,
  };
  const row = await db.ticketSequence.findFirst({ select: columns });
  return {
    calendar: (row?.businessHours ?? null) as BusinessCalendar | null,
    targets: {
      firstResponse: presentTargets(row?.firstResponseTargets),
      resolution: presentTargets(row?.resolutionTargets),
    },
    pausesWhilePending: row?.pausesWhilePending ?? false,
  };
}

/** Adds null for the priorities without a target, which the database doesn't store. */
export function presentTargets(stored: unknown): TargetMinutes {
  const none = Object.fromEntries(Priority.options.map((priority) => [priority, null]));
  return { ...none, ...(stored as object | null) } as TargetMinutes;
}

/**
 * Changes the business hours or the targets, and records the change in the audit log. Changes no existing ticket.
 * @throws ApiError VALIDATION_ERROR as `writeBusinessHours` does
 */
export function setBusinessHours(
  context: AuditContext & Pick<Context, 'now'>,
  patch: BusinessHoursPatch,
): Promise<BusinessHoursSettings> {
  return transaction(context, async (context) => {
    const target = { type: 'workspace', id: context.db.$tenantId } as const;
    const changes = await writeBusinessHours(context, patch);
    await recordAudit(context, { action: 'settings.updated', target, changes });
    return getBusinessHours(context);
  });
}

/**
 * Changes the business hours or the targets in the open transaction. Returns the changes for the audit log.
 * @throws ApiError VALIDATION_ERROR if PostgreSQL doesn't know the time zone, a target exceeds the open time of the next
 * 365 days, or PENDING would pause the clock without a calendar
 */
export async function writeBusinessHours(
  context: Pick<Context, 'db' | 'now'>,
  { calendar, targets, pausesWhilePending }: BusinessHoursPatch,
): Promise<AuditChanges> {
  const { db } = context;
  await lockTenant(db, 'ticketSequence');
  const before = await readSetting(db);
  const after: Setting = {
    calendar: mergeCalendar(before.calendar, calendar),
    targets: {
      firstResponse: { ...before.targets.firstResponse, ...definedOf(targets?.firstResponse) },
      resolution: { ...before.targets.resolution, ...definedOf(targets?.resolution) },
    },
    pausesWhilePending: calendar !== null && (pausesWhilePending ?? before.pausesWhilePending),
  };
  if (after.pausesWhilePending && after.calendar === null) {
    throw invalidField('VALIDATION_ERROR', 'pausesWhilePending', 'requires business hours. Set a time zone and hours.');
  }
  await db.$sql(writeSetting, {
    ...{ calendar: JSON.stringify(after.calendar), pauses: after.pausesWhilePending },
    ...{
      firstResponse: JSON.stringify(after.targets.firstResponse),
      resolution: JSON.stringify(after.targets.resolution),
    },
  });
  const isNewCalendar = !isDeepStrictEqual(after.calendar, before.calendar);
  if (isNewCalendar) {
    if (after.calendar !== null) await assertKnownZone(db, after.calendar);
    await rewriteOpenHours(context);
  }
  if (isNewCalendar || !isDeepStrictEqual(after.targets, before.targets)) await assertReachable(context, after.targets);
  return {
    ...auditChanges(before.calendar ?? {}, { ...after.calendar }, ['timeZone', 'intervals', 'holidays']),
    ...auditChanges(toAudited(before), toAudited(after), [
      'firstResponseTargets',
      'resolutionTargets',
      'pausesWhilePending',
    ]),
  };
}

/** Applies a patch to the calendar. @throws ApiError VALIDATION_ERROR */
function mergeCalendar(
  before: BusinessCalendar | null,
  patch: BusinessHoursPatch['calendar'],
): BusinessCalendar | null {
  if (patch === null) return null;
  const given = definedOf(patch);
  if (Object.keys(given).length === 0) return before;
  const { data, error } = NewBusinessCalendar.safeParse({ holidays: [], ...before, ...given });
  if (data === undefined) throw validationError(detailsOf(error.issues, unknownField));
  return data;
}

/** Returns the fields whose values aren't undefined. */
function definedOf<Fields extends object>(fields: Fields | undefined): Partial<Fields> {
  const defined = Object.entries(fields ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Partial<Fields>;
}

/** Returns the setting with the names that the audit log has for its parts. */
function toAudited({ targets: { firstResponse, resolution }, pausesWhilePending }: Setting) {
  return { firstResponseTargets: firstResponse, resolutionTargets: resolution, pausesWhilePending };
}

async function assertKnownZone(db: TenantClient, { timeZone }: BusinessCalendar): Promise<void> {
  const { isKnown } = (await db.$sql(isKnownZone, { name: timeZone })) ?? { isKnown: false };
  if (isKnown) return;
  const message =
    'is unknown to PostgreSQL, or an abbreviation without summer time. Choose another name, such as Europe/Berlin.';
  throw invalidField('VALIDATION_ERROR', 'timeZone', message);
}

/** @throws ApiError VALIDATION_ERROR if a target exceeds the open time of the next 365 days */
async function assertReachable({ db, now }: Pick<Context, 'db' | 'now'>, targets: Targets): Promise<void> {
  const since = now();
  const until = new Date(since.getTime() + 365 * 86_400_000);
  const [row] = await db.$sql(countOpenMinutes, { since, until });
  const max = row?.minutes ?? 0;
  for (const [kind, minutes] of Object.entries(targets)) {
    const found = Object.entries(minutes).find(([, target]) => target !== null && target > max);
    if (found === undefined) continue;
    const message = `must be at most ${max} minutes, the business hours of the next 365 days. Set a shorter target.`;
    throw invalidField('VALIDATION_ERROR', `targets.${kind}.${found[0]}`, message);
  }
}
