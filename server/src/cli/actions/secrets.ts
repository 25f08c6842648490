import * as z from 'zod';
import { serializeId } from '../../shared/serialize.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import { reencryptSecrets } from '../../webhooks/secrets/reencrypt.ts';
import { type KeyUse, readKeyUse } from '../../webhooks/secrets/secret-keys.ts';
import { CommandError } from '../lib/cli-errors.ts';
import { action } from '../lib/run-command.ts';

export const reseal = action({
  input: z.strictObject({}),
  work: async ({ prisma, databases, services: { secretCipher } }, _, say) => {
    const { pool } = databases.system;
    const toDo = secretsOf((await readKeyUse(pool, secretCipher)).filter(isOlder));
    const { resealed, damaged } = await reencryptSecrets(prisma, secretCipher, {
      onBatch: (done) => say(`Resealed ${done} of ${Math.max(done, toDo)} …`),
    });
    const keys = await readKeyUse(pool, secretCipher);
    if (damaged.length > 0) throw unreadable(damaged, resealed);
    return { resealed, keys };
  },
  format: ({ resealed, keys }) => [said(resealed), ...conclusion(keys)].join('\n'),
});

function isOlder({ position }: KeyUse): boolean {
  return position !== null && position > 1;
}

function secretsOf(use: KeyUse[]): number {
  return use.reduce((sum, { secrets }) => sum + secrets, 0);
}

function said(resealed: number): string {
  return resealed === 1 ? 'Resealed 1 webhook secret.' : `Resealed ${resealed} webhook secrets.`;
}

/** What may be done now. A server that was started before the keys were changed still encrypts with an older one. */
function conclusion(keys: KeyUse[]): string[] {
  const older = keys.filter(isOlder);
  if (older.length === 0) return ['WEBHOOK_SECRET_KEY holds one key, which encrypts all of them.'];
  const left = secretsOf(older);
  if (left > 0) {
    return [
      `${left} were encrypted with an older key meanwhile: start every server anew, with the new key first, and run this again.`,
    ];
  }
  return [
    'All are encrypted with the first key of WEBHOOK_SECRET_KEY. The others are no longer needed: when every server has ' +
      'been started with this key first, take them out.',
  ];
}

function unreadable(damaged: { tenantId: TenantId; subscriptionId: bigint }[], resealed: number): CommandError {
  const details = damaged.map(({ tenantId, subscriptionId }) => ({
    tenantId: serializeId(tenantId),
    subscriptionId: Number(subscriptionId),
  }));
  return new CommandError(
    [
      said(resealed),
      ...details.map(
        ({ tenantId, subscriptionId }) =>
          `The secret of subscription ${subscriptionId} of tenant ${tenantId} is damaged: have it deleted and made again.`,
      ),
    ],
    details,
  );
}
