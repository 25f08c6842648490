import { attachmentLimits } from '@itsm-api/contract';
import type { TenantId } from '../tenant-id.ts';
import { type Rejection, TenantLimitExceeded } from './tenant-limiter.ts';

/** Limits the concurrent uploads and downloads of each tenant in this process (docs/decisions/attachments-design.md). */
export interface TransferLimiter {
  /**
   * Counts an upload or a download. The caller must call the returned function when the transfer has ended. More calls
   * of this function have no effect.
   * @throws TenantLimitExceeded if too many transfers of this kind are running
   */
  acquire(tenantId: TenantId, kind: 'uploads' | 'downloads'): () => void;
}

/** Creates a transfer limiter. @param onRejected called for each rejected transfer */
export function createTransferLimiter(onRejected: (rejection: Rejection) => void): TransferLimiter {
  const running = new Map<string, number>();
  return {
    acquire(tenantId, kind) {
      const name = `${kind} ${tenantId}`;
      const count = running.get(name) ?? 0;
      if (count >= attachmentLimits.maxConcurrentTransfers) {
        const rejection = { tenantId, cause: 'transfers', reason: `${count} ${kind} are already running` } as const;
        onRejected(rejection);
        throw new TenantLimitExceeded(rejection);
      }
      running.set(name, count + 1);
      let isRunning = true;
      return () => {
        if (!isRunning) return;
        isRunning = false;
        const left = (running.get(name) ?? 1) - 1;
        if (left === 0) running.delete(name);
        else running.set(name, left);
      };
    },
  };
}
