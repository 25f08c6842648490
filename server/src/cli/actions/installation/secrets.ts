import * as z from 'zod';
import type { SystemClient } from '../../../database/client/prisma.ts';
import { maintenanceError } from '../../../shared/errors.ts';
import { serializeId } from '../../../shared/serialize.ts';
import type { TenantId } from '../../../shared/tenant-id.ts';
import { reencryptSecrets } from '../../../webhooks/secrets/reencrypt.ts';
import { type KeyUse, readKeyUse } from '../../../webhooks/secrets/secret-keys.ts';
import { CommandError } from '../../lib/cli-errors.ts';
import { action } from '../../lib/run-command.ts';

export const reencrypt = action({
  input: z.strictObject({}),
  work: async ({ prisma, services: { secretCipher } }, _, report) => {
    await assertNoMaintenance(prisma);
    const pending = countSecrets((await readKeyUse(prisma, secretCipher)).filter(isOlder));
    const { reencrypted, damaged } = await reencryptSecrets(prisma, secretCipher, {
      onBatch: (done) => report(`Re-encrypted ${done} of ${Math.max(done, pending)} …`),
    });
    const keys = await readKeyUse(prisma, secretCipher);
    if (damaged.length > 0) throw toDamagedError(damaged, reencrypted);
    return { reencrypted, keys };
  },
  format: ({ reencrypted, keys }) => [formatCount(reencrypted), ...nextSteps(keys)].join('\n'),
});

/** Checks that no tenant is in maintenance, because the command would skip its secrets. */
async function assertNoMaintenance(prisma: SystemClient): Promise<void> {
  const tenant = await prisma.tenant.findFirst({ where: { maintenanceSince: { not: null } }, orderBy: { id: 'asc' } });
  if (tenant !== null) throw maintenanceError(`The tenant ${tenant.name}`);
}

function isOlder({ position }: KeyUse): boolean {
  return position !== null && position > 1;
}

function countSecrets(use: KeyUse[]): number {
  return use.reduce((sum, { secrets }) => sum + secrets, 0);
}

function formatCount(reencrypted: number): string {
  return reencrypted === 1 ? 'Re-encrypted 1 webhook secret.' : `Re-encrypted ${reencrypted} webhook secrets.`;
}

/**
 * Returns the next steps for the administrator. The command may have to run again, because servers that started before
 * `WEBHOOK_SECRET_KEY` changed still encrypt with an older key.
 */
function nextSteps(keys: KeyUse[]): string[] {
  const older = keys.filter(isOlder);
  if (older.length === 0) return ['WEBHOOK_SECRET_KEY contains one key, and all secrets are encrypted with it.'];
  const remaining = countSecrets(older);
  if (remaining > 0) {
    return [
      `Servers have encrypted ${remaining} secrets with an older key in the meantime. Restart every server with the new key first, then run this command again.`,
    ];
  }
  return [
    'All secrets are encrypted with the first key of WEBHOOK_SECRET_KEY. After every server has been restarted with this ' +
      'key first, remove the other keys.',
  ];
}

function toDamagedError(damaged: { tenantId: TenantId; subscriptionId: bigint }[], reencrypted: number): CommandError {
  const details = damaged.map(({ tenantId, subscriptionId }) => ({
    tenantId: serializeId(tenantId),
    subscriptionId: Number(subscriptionId),
  }));
  return new CommandError(
    [
      formatCount(reencrypted),
      ...details.map(
        ({ tenantId, subscriptionId }) =>
          `The secret of subscription ${subscriptionId} of tenant ${tenantId} is damaged. Deactivate the subscription and create a new one.`,
      ),
    ],
    details,
  );
}
