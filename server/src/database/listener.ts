import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../shared/backoff.ts';
import { Connection, type ConnectionOptions } from './client/connection.ts';
import { requestRole } from './roles.ts';

/** How often the channel is proved, and how long the proof may take. Milliseconds. */
const heartbeatMs = 400;

/** What stands before the payload of a heartbeat, whoever sends it. */
const heartbeat = 'heartbeat ';

export interface Listener {
  /** True while every notification reaches this process. */
  readonly listening: boolean;
  close(): Promise<void>;
}

interface ListenerOptions extends Pick<ConnectionOptions, 'timeouts' | 'watch' | 'reachability'> {
  url: string;
  channel: string;
  /** Told what each notification says, and nothing whenever the connection is made or lost: what was missed can't be known. */
  onNotify: (payload?: string) => void;
  /** Told, once, when none has arrived however often that was tried, and why; not of what an outage explains. */
  onAway?: ((reason: unknown) => void) | undefined;
  /** Told when they arrive again after that. */
  onBack?: (() => void) | undefined;
}

/** After how many tries in vain they count as away: PostgreSQL may be restarted without a word about it. */
const triesUntilAway = 4;

/**
 * Listens for the notifications of one channel, on a connection of its own that is made again when it breaks. A
 * heartbeat through the channel itself proves that they arrive: there are poolers that accept LISTEN and deliver nothing.
 */
export function listen({ url, channel, onNotify, onAway, onBack, ...options }: ListenerOptions): Listener {
  const stop = new AbortController();
  let listening = false;
  let failures = 0;
  let isAway = false;

  function isExplained(reason: unknown): boolean {
    return stop.signal.aborted || options.reachability?.explains(reason, 'notifications') === true;
  }

  async function listenUntilLost(): Promise<void> {
    const connection = new Connection({
      connectionString: url,
      application_name: `itsm-api ${channel}`,
      // It reads no row.
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
        await beat(connection, channel, until);
        if (!listening) {
          listening = true;
          failures = 0;
          if (isAway) onBack?.();
          isAway = false;
          onNotify();
        }
        await sleep(heartbeatMs, undefined, { signal: until });
      }
    } finally {
      listening = false;
      onNotify();
      // A connection that no longer answers would not say goodbye either.
      connection.sever('The connection that listens is closed.');
    }
  }

  const done = (async () => {
    while (!stop.signal.aborted) {
      const reason = await listenUntilLost().catch((error: unknown) => error);
      if (++failures >= triesUntilAway && !isAway && !isExplained(reason)) {
        isAway = true;
        onAway?.(reason);
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

/** Sends a notification and resolves when it has come back. @throws TimeoutError when it hasn't after `heartbeatMs` */
async function beat(connection: Connection, channel: string, signal: AbortSignal): Promise<void> {
  const payload = heartbeat + randomUUID();
  const patience = AbortSignal.any([signal, AbortSignal.timeout(heartbeatMs)]);
  await new Promise<void>((resolve, reject) => {
    const onNotification = (notification: { payload?: string | undefined }) => {
      if (notification.payload === payload) end(resolve);
    };
    const onAbort = () => end(() => reject(patience.reason));
    const end = (settle: () => void) => {
      connection.off('notification', onNotification);
      patience.removeEventListener('abort', onAbort);
      settle();
    };
    connection.on('notification', onNotification);
    patience.addEventListener('abort', onAbort);
    connection
      .query('SELECT pg_notify($1, $2)', [channel, payload])
      .catch((error: unknown) => end(() => reject(error)));
  });
}

/**
 * Whether a notification comes back on a connection of its own. A pooler that gives each transaction another connection
 * swallows it, and would mix up roles and tenants as well.
 * @throws Error when the connection is lost
 */
export async function receivesNotifications(connection: Connection): Promise<boolean> {
  const channel = 'itsm_check';
  await connection.query(`LISTEN ${channel}`);
  const patience = AbortSignal.timeout(2000);
  while (!patience.aborted) {
    const heard = await beat(connection, channel, patience).then(
      () => true,
      (error: Error) => {
        // A connection that is lost fails at once each time, so that the clock of our patience would never be read.
        if (error.name !== 'TimeoutError') throw error;
        return false;
      },
    );
    if (heard) return true;
  }
  return false;
}
