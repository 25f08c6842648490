import type { Identity } from '@itsm-api/contract';
import type { SystemClient } from '../../database/client/prisma.ts';
import { sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { serializeTimestamp } from '../../shared/serialize.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import { knownScopes } from './known-scopes.ts';

/** The details of an API key and its workspace. A client can use the key to request them. */
export type KeyDetails = Pick<Identity, 'key' | 'workspace'>;

/** What the server knows about the API key of a request. */
interface Identified {
  tenantId: TenantId;
  keyId: bigint;
  isImport: boolean;
  isProposing: boolean;
}

/** The database row of an API key, with the name of its workspace. */
interface KeyRow {
  name: string;
  last_four: string;
  scopes: string[];
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  workspace: string;
}

const selectById = allTenants.rows<{ tenantId: TenantId; keyId: bigint }, KeyRow>(
  ({ tenantId, keyId }) => sql`
  SELECT k.name, k.last_four, k.scopes, k.created_at, k.expires_at, k.last_used_at, t.name AS workspace
  FROM api_keys k JOIN tenants t ON t.id = k.tenant_id WHERE k.tenant_id = ${tenantId} AND k.id = ${keyId}`,
);

/**
 * Returns the details of an API key and its workspace.
 * @param lookups a client with a role that can read the table `tenants`; the role for requests can't read it
 */
export async function readKeyDetails(
  lookups: Pick<SystemClient, '$sql'>,
  { tenantId, keyId, isImport, isProposing }: Identified,
): Promise<KeyDetails> {
  const [row] = await lookups.$sql(selectById, { tenantId, keyId });
  if (row === undefined) throw new Error('The API key of the request was deleted.');
  return {
    key: {
      id: Number(keyId),
      name: row.name,
      lastFour: row.last_four,
      scopes: knownScopes(row.scopes),
      import: isImport,
      proposing: isProposing,
      createdAt: serializeTimestamp(row.created_at),
      expiresAt: serializeTimestamp(row.expires_at),
      lastUsedAt: serializeTimestamp(row.last_used_at),
    },
    workspace: { name: row.workspace },
  };
}
