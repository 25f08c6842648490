import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix, type Webhook } from '@itsm-api/contract';
import type { Subscription, Workspace } from '../../support/subscribed-workspaces.ts';

/** A client that pauses subscriptions and replaces their secrets while workers deliver events. */
export interface Manager {
  /** How often the client replaced a secret and paused a subscription. */
  counts: { secrets: number; pauses: number };
  /** The unexpected responses of the API. */
  unexpected: string[];
  /** Stops the changes. Resolves when no subscription is paused. */
  stop(): Promise<void>;
}

interface ManagerOptions {
  apiUrl: string;
  managed: { workspace: Workspace; subscription: Subscription }[];
  /** The average time between two changes of a subscription, in milliseconds. */
  betweenChanges: number;
}

const requestTimeoutMs = 15_000;
/** How long the client retries a request, in milliseconds. */
const maxRetryMs = 180_000;

/**
 * Repeatedly replaces the secrets of subscriptions, and pauses and resumes the subscriptions. Retries each request
 * until it succeeds.
 */
export function startManager({ apiUrl, managed, betweenChanges }: ManagerOptions): Manager {
  const counts = { secrets: 0, pauses: 0 };
  const unexpected: string[] = [];
  let stopped = false;

  async function manage({ workspace, subscription }: ManagerOptions['managed'][number]): Promise<void> {
    const { name, secrets } = subscription;
    const ask = (patch?: object) => untilAnswered(workspace, subscription, patch);
    while (!stopped) {
      await sleep(Math.random() * 2 * betweenChanges);
      const next = { secret: `secret ${secrets.length} of ${name}, long enough`, since: Number.POSITIVE_INFINITY };
      secrets.push(next);
      await ask({ secret: next.secret });
      next.since = Date.now();
      counts.secrets++;
      await ask({ paused: true });
      counts.pauses++;
      await sleep(Math.random() * 2 * betweenChanges);
      const { pausedAt } = await ask();
      if (pausedAt === null) unexpected.push(`${name} is no longer paused`);
      await ask({ paused: false });
    }
  }

  /**
   * Reads or changes a subscription. Retries until the request succeeds, which is safe because the changes are
   * idempotent.
   */
  async function untilAnswered({ key }: Workspace, { id, name }: Subscription, patch?: object): Promise<Webhook> {
    for (const deadline = Date.now() + maxRetryMs; Date.now() < deadline; await sleep(100)) {
      const response = await fetch(`${apiUrl}${pathPrefix}/webhooks/${id}`, {
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(patch && { method: 'PATCH', body: JSON.stringify(patch) }),
        signal: AbortSignal.timeout(requestTimeoutMs),
      })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch(() => undefined);
      if (response?.status === 200) return JSON.parse(response.text).data;
      // 429: requests that wait for a killed PostgreSQL fill the concurrency limit.
      if (response !== undefined && response.status < 500 && response.status !== 429)
        unexpected.push(`${name}: ${response.status} ${response.text}`);
    }
    throw new Error(`${name} could not be changed within ${maxRetryMs / 1000} seconds`);
  }

  const managing = Promise.all(managed.map(manage));
  return {
    counts,
    unexpected,
    async stop() {
      stopped = true;
      await managing;
    },
  };
}
