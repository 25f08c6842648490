import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import type { Changes } from './driver.ts';
import type { Workspace } from './workspaces.ts';

/** A request that was sent to see when one is answered again. Moments are those of `Date.now()`. */
export interface Asked {
  isWrite: boolean;
  at: number;
  answeredAt: number;
  /** Undefined where there was no answer. */
  status: number | undefined;
  /** Whether a client is told when to come back. */
  saysWhen: boolean;
}

export interface Probe {
  asked: Asked[];
  /** Sends no more; resolves when the last was answered, or was not. */
  stop(): Promise<void>;
}

interface ProbeOptions {
  apiUrl: string;
  workspace: Workspace;
  /** Told of the tickets that were made. */
  changes: Changes;
}

const everyMs = 100;
const patience = 30_000;

/** Reads and makes a ticket ten times a second, whether the last requests have been answered or not. */
export function startProbe({ apiUrl, workspace, changes }: ProbeOptions): Probe {
  const asked: Asked[] = [];
  const underWay = new Set<Promise<void>>();
  let stopped = false;

  async function ask(title?: string): Promise<void> {
    const at = Date.now();
    const content = { title, description: 'Is it back?', type: 'INCIDENT', category: 'OTHER' };
    const answer = await fetch(`${apiUrl}${pathPrefix}/tickets${title === undefined ? '?perPage=1' : ''}`, {
      headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
      ...(title !== undefined && { method: 'POST', body: JSON.stringify(content) }),
      signal: AbortSignal.timeout(patience),
    }).catch(() => undefined);
    // An answer that breaks off is none.
    const whole = await answer?.text().catch(() => undefined);
    const status = whole === undefined ? undefined : answer?.status;
    const saysWhen = answer?.headers.has('retry-after') ?? false;
    asked.push({ isWrite: title !== undefined, at, answeredAt: Date.now(), status, saysWhen });
    if (title !== undefined) changes[status === 201 ? 'committed' : 'unknown'].add(title);
  }

  const asking = (async () => {
    for (let count = 0; !stopped; await sleep(everyMs)) {
      for (const title of [undefined, `probe ${count++}`]) {
        const request = ask(title).finally(() => underWay.delete(request));
        underWay.add(request);
      }
    }
  })();
  return {
    asked,
    async stop() {
      stopped = true;
      await asking;
      await Promise.all(underWay);
    },
  };
}
