import { Gauge } from 'prom-client';
import type { SystemClient } from '../../database/client/prisma.ts';
import { sql } from '../../database/client/sql.ts';
import { allTenants, type None } from '../../database/client/statements.ts';
import { endsWithin } from '../../shared/timeout.ts';
import type { Metrics } from './metrics.ts';

/** The maximum time in milliseconds to wait for a response from the database. */
const maxReadMs = 2000;

/** Counts the API keys with the status `expiring` (auth/api-keys/key-status.ts) in active workspaces. */
const countExpiring = allTenants.rows<None, { expiring: number }>(
  () => sql`
  SELECT count(*)::int AS expiring FROM api_keys k
  JOIN users u ON u.tenant_id = k.tenant_id AND u.id = k.user_id AND u.active
  JOIN tenants t ON t.id = k.tenant_id AND t.active
  WHERE k.revoked_at IS NULL AND k.expires_at > now() AND k.expires_at <= now() + interval '30 days'`,
);

/** Measures how many API keys of all tenants expire soon. Omits the metric if the database doesn't respond. */
export function measureKeys({ registry }: Metrics, system: SystemClient): void {
  new Gauge({
    name: 'itsm_api_keys_expiring',
    help: 'API keys that expire within 30 days.',
    registers: [registry],
    async collect() {
      const reading = system.$sql(countExpiring).catch(() => undefined);
      const result = (await endsWithin(maxReadMs, reading)) ? await reading : undefined;
      if (result === undefined) this.remove();
      else this.set(result[0]?.expiring ?? 0);
    },
  });
}
