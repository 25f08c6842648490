import {
  ApprovalDecision,
  ArticleStatus,
  AssetStatus,
  AssetType,
  CommentVisibility,
  CustomFieldResource,
  CustomFieldType,
  DeliveryState,
  LinkType,
  Priority,
  ProjectStatus,
  ProposalStatus,
  TaskStatus,
  Ticket,
  TicketCategory,
  TicketType,
  UserKind,
  UserRole,
} from '@itsm-api/contract';
import { toColumn } from '@itsm-api/server/database/column-name.ts';
import { outcomes } from '@itsm-api/server/usage/dimensions.ts';
import pg from 'pg';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { query, workerDatabaseUrl } from '../support/database.ts';

it('allows exactly the enum values of the contract in the database', async () => {
  const client = new pg.Client({ connectionString: await workerDatabaseUrl() });
  await client.connect();
  const { rows } = await client.query<{ name: string; definition: string }>(
    `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE contype = 'c' AND connamespace = 'public'::regnamespace AND conname !~ '(_id|attachments_storage_key)_check$'`,
  );
  const { rows: known } = await client.query<{ body: string }>(
    `SELECT string_agg(prosrc, '') AS body FROM pg_proc WHERE proname = 'has_known_values'`,
  );
  await client.end();
  const valuesIn = (list: string) => [...list.matchAll(/'([A-Z_]+)'/g)].map(([, value]) => value);
  // The check constraint of the tickets table passes columns to functions that contain the allowed values.
  const constraint = rows.find(({ name }) => name === 'tickets_values_check')?.definition.split(/\W+/);
  const ofTickets = [...(known[0]?.body ?? '').matchAll(/(\w+) IN \((.+?)\)/g)]
    .filter(([, column = '']) => constraint?.includes(column))
    .map(([, column, list]) => [`tickets.${column}`, valuesIn(list ?? '')] as const);
  const taken = [...rows.map(({ name, definition }) => [name, valuesIn(definition)] as const), ...ofTickets];
  expect(Object.fromEntries(taken)).toEqual({
    approvals_decision_check: ApprovalDecision.options,
    articles_body_check: [],
    articles_status_check: ArticleStatus.options,
    assets_status_check: AssetStatus.options,
    assets_type_check: AssetType.options,
    comments_visibility_check: CommentVisibility.options,
    custom_field_definitions_resource_check: CustomFieldResource.options,
    custom_field_definitions_type_check: CustomFieldType.options,
    deliveries_state_check: DeliveryState.options,
    proposals_status_check: ProposalStatus.options,
    projects_priority_check: Priority.options,
    request_forms_category_check: TicketCategory.options,
    request_forms_priority_check: Priority.options,
    request_forms_type_check: TicketType.options,
    projects_status_check: ProjectStatus.options,
    tasks_priority_check: Priority.options,
    tasks_status_check: TaskStatus.options,
    tickets_values_check: [],
    ticket_categories_category_check: TicketCategory.options,
    ticket_links_type_check: LinkType.options,
    ...valuesOfTickets(),
    usage_hours_outcome_check: [...outcomes],
    usage_minutes_outcome_check: [...outcomes],
    users_kind_check: UserKind.options,
    users_role_check: UserRole.options,
    users_service_role_check: ['SERVICE', 'AGENT'],
  });
});

/** Returns the values of each ticket field with fixed values, by the name of its column. */
function valuesOfTickets(): Record<string, string[]> {
  const fields = Object.entries<z.ZodType>(Ticket.shape).map(([name, schema]) => {
    const inner = schema instanceof z.ZodNullable ? schema.unwrap() : schema;
    return inner instanceof z.ZodEnum ? [[`tickets.${toColumn(name)}`, inner.options]] : [];
  });
  return Object.fromEntries(fields.flat());
}

it('keeps ids below 2^53, so that JSON numbers represent them exactly', async () => {
  const unlimited = await query(
    await workerDatabaseUrl(),
    `SELECT table_name FROM information_schema.columns c WHERE table_schema = 'public' AND column_name = 'id'
       -- Triggers copy the ids of other tables to these tables.
       AND data_type = 'bigint' AND table_name NOT IN ('changes', 'texts') AND NOT EXISTS (SELECT FROM pg_constraint
         WHERE conrelid = table_name::regclass AND convalidated
           AND pg_get_constraintdef(oid) = 'CHECK ((id < ''9007199254740992''::bigint))')`,
  );
  expect(unlimited).toEqual([]);
});
