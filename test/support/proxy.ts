import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of PostgreSQL, like a pooler or a firewall. */
export interface DatabaseProxy {
  /** The URL of the database through the proxy. */
  url: string;
  /**
   * Stops forwarding data on the open connections, but keeps the connections open. New connections still work. Returns
   * the number of silent connections.
   */
  silence(): number;
  close(): Promise<void>;
}

interface ProxyOptions {
  /**
   * Whether the proxy drops notifications, as a pooler in transaction mode does. A function decides for each
   * notification.
   */
  swallowsNotifications?: boolean | (() => boolean);
}

export async function startProxy(
  databaseUrl: string,
  { swallowsNotifications }: ProxyOptions = {},
): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const pairs = new Set<[Socket, Socket]>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    for (const [socket, other] of [pair, pair.toReversed() as [Socket, Socket]]) {
      socket.on('error', () => undefined).on('close', () => other.destroy());
      socket.on('close', () => pairs.delete(pair));
    }
    client.on('data', (data) => upstream.write(data));
    const forward = (data: Buffer) => client.write(data);
    const swallows = typeof swallowsNotifications === 'function' ? swallowsNotifications : () => true;
    upstream.on('data', swallowsNotifications ? withoutNotifications(forward, swallows) : forward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const url = new URL(databaseUrl);
  // The proxy runs on this machine, but PostgreSQL can run on a different host, for example in Docker.
  url.hostname = '127.0.0.1';
  url.port = String(port);

  return {
    url: url.href,
    silence() {
      for (const socket of [...pairs].flat()) socket.removeAllListeners('data').on('data', () => undefined);
      return pairs.size;
    },
    async close() {
      for (const socket of [...pairs].flat()) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * Returns a function that forwards PostgreSQL messages, and drops notifications (type `A`) if `swallows` returns true.
 * Each message consists of a type, a length and a body. The length counts the bytes of the length and the body.
 */
function withoutNotifications(forward: (data: Buffer) => void, swallows: () => boolean): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 5) {
      const length = 1 + rest.readInt32BE(1);
      if (rest.length < length) return;
      if (rest[0] !== 'A'.charCodeAt(0) || !swallows()) forward(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
}
