import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import type { Workspace } from '../../support/subscribed-workspaces.ts';
import type { Changes } from './driver.ts';

/** A request that tests whether the service responds. Times are in milliseconds since 1970. */
export interface ProbedRequest {
  isWrite: boolean;
  at: number;
  respondedAt: number;
  /** The response status, or undefined if the request got no complete response. */
  status: number | undefined;
  /** True if the response has a Retry-After header. */
  hasRetryAfter: boolean;
}

export interface Probe {
  requests: ProbedRequest[];
  /** Stops the requests. Resolves when every request has ended. */
  stop(): Promise<void>;
}

interface ProbeOptions {
  apiUrl: string;
  workspace: Workspace;
  /** The changes, grouped by outcome. The probe adds the tickets that it creates. */
  changes: Changes;
}

const everyMs = 100;
const timeoutMs = 30_000;

/** Sends a read request and a create request every 100 ms, without waiting for responses. */
export function startProbe({ apiUrl, workspace, changes }: ProbeOptions): Probe {
  const requests: ProbedRequest[] = [];
  const underWay = new Set<Promise<void>>();
  let stopped = false;

  async function ask(title?: string): Promise<void> {
    const at = Date.now();
    const content = { title, description: 'Is it back?', type: 'INCIDENT', category: 'OTHER' };
    const answer = await fetch(`${apiUrl}${pathPrefix}/tickets${title === undefined ? '?perPage=1' : ''}`, {
      headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
      ...(title !== undefined && { method: 'POST', body: JSON.stringify(content) }),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch(() => undefined);
    // A response with an incomplete body counts as no response.
    const whole = await answer?.text().catch(() => undefined);
    const status = whole === undefined ? undefined : answer?.status;
    const hasRetryAfter = answer?.headers.has('retry-after') ?? false;
    requests.push({ isWrite: title !== undefined, at, respondedAt: Date.now(), status, hasRetryAfter });
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
    requests,
    async stop() {
      stopped = true;
      await asking;
      await Promise.all(underWay);
    },
  };
}
