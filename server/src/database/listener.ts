import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../shared/backoff.ts';
import { Connection, type ConnectionOptions } from './client/connection.ts';
import { requestRole } from './roles.ts';

/** Milliseconds between two heartbeats. If a heartbeat doesn't arrive within this time, the listener reconnects. */
const heartbeatMs = 400;

/** The prefix of heartbeat payloads. A listener also receives the heartbeats of other processes. */
const heartbeat = 'heartbeat ';

export interface Listener {
  /** Whether notifications currently arrive in this process. */
  readonly listening: boolean;
  close(): Promise<void>;
}

interface ListenerOptions extends Pick<ConnectionOptions, 'timeouts' | 'watchdog' | 'outages'> {
  url: string;
  channel: string;
  /**
   * Called with the payload of each notification. Also called without a payload after each connect and disconnect,
   * because the process may have missed notifications.
   */
  onNotify: (payload?: string) => void;
  /**
   * Called once with the last error after `maxFailures` failed attempts to listen. Not called during a database outage.
   */
  onUnavailable?: ((reason: unknown) => void) | undefined;
  /** Called when notifications arrive again after `onUnavailable`. */
  onAvailable?: (() => void) | undefined;
}

/**
 * Number of failed attempts to listen after which `onUnavailable` is called. A PostgreSQL restart causes fewer
 * failures.
 */
const maxFailures = 4;

/**
 * Listens for the notifications of one channel on a dedicated connection. Reconnects after a lost connection. Some
 * poolers accept LISTEN but deliver no notifications, so the listener checks the channel with heartbeats.
 */
export function listen({ url, channel, onNotify, onUnavailable, onAvailable, ...options }: ListenerOptions): Listener {
  const stop = new AbortController();
  let listening = false;
  let failures = 0;
  let isUnavailable = false;

  function isExplained(reason: unknown): boolean {
    return stop.signal.aborted || options.outages?.explains(reason, 'notifications') === true;
  }

  async function listenUntilLost(): Promise<void> {
    const connection = new Connection({
      connectionString: url,
      application_name: `itsm-api ${channel}`,
      // The listener reads no rows, so it uses the role with the fewest permissions.
      role: requestRole,
      ...options,
      timeouts: { ...options.timeouts, statementMs: heartbeatMs },
    });
    const lost = new AbortController();
    const until = AbortSignal.any([stop.signal, lost.signal]);
    connection.on('error', () => lost.abort()).on('end', () => lost.abort());
    connection.on('notification', ({ payload }) => {
      if (!payload?.startsWith(heartbeat)) onNotify(payload);
    });
    try {
      await connection.connect();
      await connection.query(`LISTEN ${channel}`);
      while (!until.aborted) {
        await sendHeartbeat(connection, channel, until);
        if (!listening) {
          listening = true;
          failures = 0;
          if (isUnavailable) onAvailable?.();
          isUnavailable = false;
          onNotify();
        }
        await sleep(heartbeatMs, undefined, { signal: until });
      }
    } finally {
      listening = false;
      onNotify();
      // Closes the connection immediately, because a graceful close never finishes on an unresponsive connection.
      connection.sever('The listener has stopped.');
    }
  }

  const done = (async () => {
    while (!stop.signal.aborted) {
      const reason = await listenUntilLost().catch((error: unknown) => error);
      if (++failures >= maxFailures && !isUnavailable && !isExplained(reason)) {
        isUnavailable = true;
        onUnavailable?.(reason);
      }
      await sleep(backoffMs(failures - 1), undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();

  return {
    get listening() {
      return listening;
    },
    async close() {
      stop.abort();
      await done;
    },
  };
}

/** Sends a heartbeat and waits until its notification arrives. @throws TimeoutError after `heartbeatMs` */
async function sendHeartbeat(connection: Connection, channel: string, signal: AbortSignal): Promise<void> {
  const payload = heartbeat + randomUUID();
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(heartbeatMs)]);
  await new Promise<void>((resolve, reject) => {
    const onNotification = (notification: { payload?: string | undefined }) => {
      if (notification.payload === payload) end(resolve);
    };
    const onAbort = () => end(() => reject(deadline.reason));
    const end = (settle: () => void) => {
      connection.off('notification', onNotification);
      deadline.removeEventListener('abort', onAbort);
      settle();
    };
    connection.on('notification', onNotification);
    deadline.addEventListener('abort', onAbort);
    connection
      .query('SELECT pg_notify($1, $2)', [channel, payload])
      .catch((error: unknown) => end(() => reject(error)));
  });
}

/**
 * Sends a notification on a connection, and checks whether it arrives on that connection. A pooler that changes the
 * session between transactions drops notifications. Such a pooler would also mix up roles and tenants.
 * @returns false if no notification arrives within 2 seconds
 * @throws Error if the connection is lost
 */
export async function receivesNotifications(connection: Connection): Promise<boolean> {
  const channel = 'itsm_check';
  await connection.query(`LISTEN ${channel}`);
  const deadline = AbortSignal.timeout(2000);
  while (!deadline.aborted) {
    const isReceived = await sendHeartbeat(connection, channel, deadline).then(
      () => true,
      (error: Error) => {
        // Retries only after a timeout. On a lost connection, each heartbeat fails immediately, so a loop of retries
        // would never let the timer of `deadline` run.
        if (error.name !== 'TimeoutError') throw error;
        return false;
      },
    );
    if (isReceived) return true;
  }
  return false;
}
