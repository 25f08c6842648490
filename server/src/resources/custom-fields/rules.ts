import type { CustomFieldDefinition, CustomFieldResource } from '@itsm-api/contract';
import { sql } from '../../database/client/sql.ts';
import { one } from '../../database/client/statements.ts';
import type { Context } from '../shared/context.ts';

/** The rules of a workspace for the custom fields of a resource. */
export interface CustomFieldRules {
  /** Whether the server rejects fields without a definition. */
  isStrict: boolean;
  definitions: Pick<CustomFieldDefinition, 'key' | 'type' | 'options' | 'required' | 'active'>[];
}

/** Reads the rules of a resource. */
export const selectRules = one<{ resource: CustomFieldResource }, CustomFieldRules>(
  ({ tenant, resource }) => sql`SELECT
    coalesce((SELECT strict_custom_fields FROM ticket_sequences WHERE tenant_id = ${tenant}), false) AS "isStrict",
    (SELECT coalesce(json_agg(definition), '[]') FROM (
      SELECT key, type, options, required, active FROM custom_field_definitions
      WHERE tenant_id = ${tenant} AND resource = ${resource}) AS definition) AS definitions`,
);

/** Returns the rules of a resource. If the workspace has no rules, doesn't query the database. */
export async function findRules(
  { db, hasFieldRules = true }: Pick<Context, 'db' | 'hasFieldRules'>,
  resource: CustomFieldResource,
): Promise<CustomFieldRules | undefined> {
  return hasFieldRules ? db.$sql(selectRules, { resource }) : undefined;
}
