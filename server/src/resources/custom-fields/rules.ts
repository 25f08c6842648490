import type { CustomFieldDefinition, CustomFieldResource } from '@itsm-api/contract';
import { sql, tenant } from '../../database/client/sql.ts';
import { oneAsJson } from '../../database/client/statements.ts';

/** The rules for the values of a custom field. */
export interface FieldRules extends Pick<CustomFieldDefinition, 'key' | 'type' | 'required' | 'active'> {
  /** The values of the active options. Null unless the type has options. */
  allowed: string[] | null;
}

/** The rules of a workspace for the custom fields that a request names, and for the required fields of its resource. */
export interface CustomFieldRules {
  /** Whether the server rejects fields without a definition. */
  isStrict: boolean;
  /** `allowed` is null for the fields that the request doesn't name. */
  definitions: FieldRules[];
}

/** The values of the active options of a definition. */
export const allowedValues = sql`jsonb_path_query_array(options, '$[*] ? (@.active == true).value')`;

/**
 * Reads the rules for the fields with the given keys, and for required fields. Reads the options of the given keys only,
 * because the options of all fields can have a megabyte.
 */
export const selectRules = oneAsJson<{ resource: CustomFieldResource; keys: readonly string[] }, CustomFieldRules>(
  ({ resource, keys }) => sql`SELECT
    coalesce((SELECT strict_custom_fields FROM ticket_sequences WHERE tenant_id = ${tenant}), false) AS "isStrict",
    (SELECT coalesce(json_agg(definition), '[]') FROM (
      SELECT key, type, required, active, CASE WHEN key = ANY (${keys}::text[]) THEN ${allowedValues} END AS allowed
      FROM custom_field_definitions
      WHERE tenant_id = ${tenant} AND resource = ${resource} AND (key = ANY (${keys}::text[]) OR required AND active)
    ) AS definition) AS definitions`,
);
