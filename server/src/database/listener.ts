import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** How often the connection is asked whether it is alive. A notification can be missed for that long at most. */
const heartbeatMs = 400;
const reconnectMs = 250;

export interface Listener {
  /** True while every notification reaches this process. */
  readonly listening: boolean;
  close(): Promise<void>;
}

interface ListenerOptions {
  databaseUrl: string;
  channel: string;
  /** Called on each notification, and whenever the connection is made or lost: what was missed can't be known. */
  onNotify: () => void;
}

/** Listens for the notifications of one channel, on a connection of its own that is made again when it breaks. */
export function listen({ databaseUrl, channel, onNotify }: ListenerOptions): Listener {
  const stop = new AbortController();
  let listening = false;

  async function listenUntilLost(): Promise<void> {
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: `itsm-api ${channel}`,
      connectionTimeoutMillis: 5000,
      query_timeout: heartbeatMs,
    });
    const lost = new Promise<void>((resolve) => {
      client.on('error', () => resolve());
      client.on('end', resolve);
    });
    client.on('notification', onNotify);
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      onNotify();
      listening = true;
      while (!stop.signal.aborted) {
        const ended = await Promise.race([lost.then(() => true), sleep(heartbeatMs, false, { signal: stop.signal })]);
        if (ended) break;
        await client.query('SELECT 1');
      }
    } finally {
      listening = false;
      onNotify();
      // A connection that no longer answers would not say goodbye either.
      client.end().catch(() => undefined);
    }
  }

  const done = (async () => {
    while (!stop.signal.aborted) {
      await listenUntilLost().catch(() => undefined);
      await sleep(reconnectMs, undefined, { signal: stop.signal }).catch(() => undefined);
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
