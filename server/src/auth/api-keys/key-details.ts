import type { Identity } from '@itsm-api/contract';
import type { Pool } from '../../database/client/pool.ts';
import { statementName } from '../../database/client/statement-name.ts';
import { serializeTimestamp } from '../../shared/serialize.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import { knownScopes } from './known-scopes.ts';

/** What may be told of a key to whoever holds it, and its workspace. */
export type KeyDetails = Pick<Identity, 'key' | 'workspace'>;

/** As pg reads it. */
interface KeyRow {
  name: string;
  last_four: string;
  scopes: string[];
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  workspace: string;
}

const byId = `
  SELECT k.name, k.last_four, k.scopes, k.created_at, k.expires_at, k.last_used_at, t.name AS workspace
  FROM api_keys k JOIN tenants t ON t.id = k.tenant_id WHERE k.tenant_id = $1 AND k.id = $2`;

/**
 * Reads what a request has no right to: its own key's row, and its tenant's.
 * @param pool sees all tenants
 */
export async function readKeyDetails(
  pool: Pool,
  { tenantId, keyId }: { tenantId: TenantId; keyId: bigint },
): Promise<KeyDetails> {
  const values = [tenantId, keyId];
  const { rows }: { rows: KeyRow[] } = await pool.query({ name: statementName(byId), text: byId, values });
  const [row] = rows;
  if (row === undefined) throw new Error('The key of the request is gone.');
  return {
    key: {
      id: Number(keyId),
      name: row.name,
      lastFour: row.last_four,
      scopes: knownScopes(row.scopes),
      createdAt: serializeTimestamp(row.created_at),
      expiresAt: serializeTimestamp(row.expires_at),
      lastUsedAt: serializeTimestamp(row.last_used_at),
    },
    workspace: { name: row.workspace },
  };
}
