import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json as readJson } from 'node:stream/consumers';
import { type ErrorEnvelope, pathPrefix } from '@itsm-api/contract';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { newKey } from '@itsm-api/server/auth/api-keys/key-format.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Api, answerOf, startApi } from '../../support/api.ts';
import { steadyPort } from '../../support/postgres-server.ts';
import { skipUnlessInstalled } from '../../support/programs.ts';
import { startProxy } from '../../support/proxy-process.ts';
import { createWorkspace, type Workspace } from '../../support/workspace.ts';

const programs = ['nginx'];

/** Returns a configuration of nginx. @param servers the directives of `http` */
function configOf(servers: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  return `daemon off;
    master_process off;
    pid nginx.pid;
    error_log stderr;
    events {}
    http {
      access_log off;
      ${temporary.join(' ')}
      ${servers}
    }`;
}

/** Returns the directives of a server that forwards all requests to a URL. */
function forwarder(address: string, url: string, directives = ''): string {
  return `server {
    listen ${address};
    location / { proxy_pass ${url}; proxy_set_header Host $http_host; ${directives} }
  }`;
}

/** Starts nginx in front of a server. @param serversAt returns the directives of `http` for the address of nginx */
async function startNginx(serversAt: (address: string) => string): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'itsm-nginx-'));
  const address = `127.0.0.1:${await steadyPort()}`;
  await writeFile(join(folder, 'nginx.conf'), configOf(serversAt(address)));
  const stop = await startProxy(programs, ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], address);
  return {
    url: `http://${address}`,
    async stop() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

describe('a server behind nginx with gzip', skipUnlessInstalled(programs), () => {
  let api: Api;
  let workspace: Workspace;
  let nginx: Awaited<ReturnType<typeof startNginx>>;

  beforeAll(async () => {
    api = await startApi();
    workspace = await createWorkspace(api);
    const url = await api.app.listen({ port: 0, host: '127.0.0.1' });
    nginx = await startNginx((address) => `gzip on; gzip_types application/json; ${forwarder(address, url)}`);
  });
  afterAll(async () => {
    await nginx.stop();
    await api.close();
  });

  async function send(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: object,
  ): Promise<Answer> {
    const response = await fetch(`${nginx.url}${pathPrefix}${path}`, {
      method,
      headers: { authorization: `Bearer ${workspace.key}`, 'accept-encoding': 'gzip', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return answerOf(response);
  }
  const json = { 'content-type': 'application/json' };

  it('accepts the weak ETag of a compressed response in If-Match and `ifMatch`, until the ticket changes', async () => {
    const { id, etag } = await workspace.createTicket();
    const read = await send('GET', `/tickets/${id}`);
    expect(read.headers).toMatchObject({ 'content-encoding': 'gzip', etag: `W/${etag}` });
    const ifMatch = String(read.headers.etag);
    const patch = (title: string) => send('PATCH', `/tickets/${id}`, { ...json, 'if-match': ifMatch }, { title });
    const patchMany = async (given: string | undefined) => {
      const tickets = [{ id, ifMatch: given, priority: 'LOW' }];
      return (await send('PATCH', '/tickets/bulk', json, { tickets })).body.data[0].status;
    };
    const changed = await patch('Changed once');
    expect(changed.status, changed.text).toBe(200);
    expect((await patch('Changed twice')).status).toBe(412);
    expect(await patchMany(ifMatch)).toBe(412);
    expect(await patchMany(changed.headers.etag)).toBe(200);
  });

  it('returns 304 if the weak ETag of a compressed response is current', async () => {
    const { id } = await workspace.createTicket();
    const { headers } = await send('GET', `/tickets/${id}`);
    const again = await send('GET', `/tickets/${id}`, { 'if-none-match': String(headers.etag) });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});

describe('a server behind two nginx servers that add ports to X-Forwarded-For', skipUnlessInstalled(programs), () => {
  let api: Api;
  let workspace: Workspace;
  let nginx: Awaited<ReturnType<typeof startNginx>>;

  beforeAll(async () => {
    api = await startApi({ env: { TRUST_PROXY: '127.0.0.1,127.0.0.2', RATE_LIMIT_FAILURES: '3' } });
    workspace = await createWorkspace(api);
    const url = await api.app.listen({ port: 0, host: '127.0.0.1' });
    const inner = `127.0.0.1:${await steadyPort()}`;
    const chain = '"$http_x_forwarded_for, $remote_addr:$remote_port"';
    nginx = await startNginx(
      (outer) =>
        forwarder(inner, url, `proxy_set_header X-Forwarded-For ${chain};`) +
        // The outer server connects from another address than the inner server.
        forwarder(outer, `http://${inner}`, `proxy_bind 127.0.0.2; proxy_set_header X-Forwarded-For ${chain};`),
    );
  });
  afterAll(async () => {
    await nginx.stop();
    await api.close();
  });

  /** Sends a request on a new connection, which has a new port. Returns the status and the error. */
  async function sendFrom(localAddress: string, key: string): Promise<{ status?: number; error?: string }> {
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '192.0.2.1:80' };
    const options = { localAddress, agent: false, headers };
    const [response] = (await once(request(`${nginx.url}${pathPrefix}/tickets`, options).end(), 'response')) as [
      IncomingMessage,
    ];
    const { error } = (await readJson(response)) as Partial<ErrorEnvelope>;
    return { status: response.statusCode as number, ...(error && { error: error.message }) };
  }

  it('compares the address of the client with the allowed networks of a key', async () => {
    const { email } = await workspace.createUser({ kind: 'SERVICE' });
    const { key } = await createKey(workspace.context, {
      ...{ user: email, name: 'office', scopes: ['tickets:read'], allowedNetworks: ['127.0.0.5'] },
    });
    expect(await sendFrom('127.0.0.5', key)).toEqual({ status: 200 });
    expect(await sendFrom('127.0.0.6', key)).toEqual({
      ...{ status: 403, error: expect.stringContaining("isn't allowed from the address 127.0.0.6.") },
    });
  });

  it('counts failed authentications from all ports of a client together, and does not affect other clients', async () => {
    const statuses: unknown[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await sendFrom('127.0.0.7', newKey())).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect(await sendFrom('127.0.0.8', workspace.key)).toEqual({ status: 200 });
  });
});
