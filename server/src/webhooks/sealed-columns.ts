/** A column that holds what the secret cipher has encrypted. Its parts are SQL, of a table that is called `stored`. */
export interface SealedColumn {
  table: string;
  column: string;
  /** For which tenant and which subscription it was encrypted. */
  tenantId: string;
  subscriptionId: string;
  /** Whether processes must be able to read it. */
  isNeeded: string;
}

function ofWebhooks(column: string): SealedColumn {
  const table = 'webhook_subscriptions';
  return { table, column, tenantId: 'stored.tenant_id', subscriptionId: 'stored.id', isNeeded: 'stored.active' };
}

/** The addresses of other cells, which are encrypted as the secret of a subscription that nobody has (move-sides.ts). */
function ofMoves(table: string, tenantId: string): SealedColumn {
  return { table, column: 'target', tenantId, subscriptionId: '0::bigint', isNeeded: 'false' };
}

export const webhookSecrets = [ofWebhooks('secret'), ofWebhooks('previous_secret')];

export const sealedColumns = [
  ...webhookSecrets,
  ofMoves('tenant_moves', 'stored.tenant_id'),
  ofMoves('tenant_move_outcomes', 'stored.of_tenant'),
];
