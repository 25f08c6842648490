import type pg from 'pg';

/**
 * Has PostgreSQL end the session, and with it what it holds, when its process is gone: within seconds where the
 * connection was closed, within a minute where it fell silent. Else it would find out when its statement is done.
 */
export async function watchPeer(client: pg.ClientBase): Promise<void> {
  const settings = {
    client_connection_check_interval: 1000,
    tcp_keepalives_idle: 20,
    tcp_keepalives_interval: 10,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 50_000,
  };
  for (const [name, value] of Object.entries(settings)) {
    // Some systems lack one or the other.
    await client.query(`SET ${name} = ${value}`).catch(() => undefined);
  }
}
