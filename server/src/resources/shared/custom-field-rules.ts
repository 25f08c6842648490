import type { CustomFieldDefinition } from '@itsm-api/contract';
import { type Parameter, type Sql, sql } from '../../database/client/sql.ts';

/** The rules of a workspace for the custom fields of a resource. */
export interface CustomFieldRules {
  /** Whether the server rejects fields without a definition. */
  isStrict: boolean;
  definitions: Pick<CustomFieldDefinition, 'key' | 'type' | 'options' | 'required' | 'active'>[];
}

interface Of {
  tenant: Parameter;
  resource: Parameter | Sql;
}

/** Builds SQL for the rules of a resource, as JSON. */
export function rulesJson({ tenant, resource }: Of): Sql {
  return sql`json_build_object(
    'isStrict', coalesce((SELECT strict_custom_fields FROM ticket_sequences WHERE tenant_id = ${tenant}), false),
    'definitions', (SELECT coalesce(json_agg(definition), '[]') FROM (
      SELECT key, type, options, required, active FROM custom_field_definitions
      WHERE tenant_id = ${tenant} AND resource = ${resource}) AS definition))`;
}

/** Builds SQL for the keys that a new row of a resource must have, as an array. */
export function requiredKeys({ tenant, resource }: Of): Sql {
  return sql`ARRAY(SELECT key FROM custom_field_definitions
    WHERE tenant_id = ${tenant} AND resource = ${resource} AND required AND active)`;
}
