import { AsyncLocalStorage } from 'node:async_hooks';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import { openDatabases } from '@itsm-api/server/database/client/databases.ts';
import type { StatementTracer } from '@itsm-api/server/database/client/statement-tracer.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { type Api, startApi } from '../support/api.ts';
import { cloneDatabase } from '../support/database.ts';
import { steadyPort } from '../support/postgres-server.ts';
import { type Respond, startReceiver } from '../support/receiver.ts';
import { eventually } from '../support/sender.ts';
import { type ServerProcess, spawnServer } from '../support/server-process.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';
import { type Collector, type Span, startCollector } from './collector.ts';

const key = Buffer.alloc(32, 1).toString('base64');
const withoutPackages = ['--import', join(import.meta.dirname, 'without-opentelemetry.ts')];

/** The cleanup functions, which run in reverse order. */
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** Starts an API without tracing in the test process, with its own database. Tests use the API to create rows. */
function startUntracedApi(): Promise<Api> {
  const env = { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' };
  return startApi({ ownDatabase: true, secretKeys: [key], env });
}

async function collector(options?: { responds: boolean }): Promise<Collector> {
  const started = await startCollector(options);
  stops.push(() => started.close());
  return started;
}

interface Server extends ServerProcess {
  call(path: string, { key }: Pick<Workspace, 'key'>, options?: RequestInit): Promise<Response>;
  lines(): Record<string, unknown>[];
}

/** Starts a traced server process that uses the database of `api`. */
async function start(api: Api, env: Record<string, string>, nodeOptions?: string[]): Promise<Server> {
  const port = await steadyPort();
  const server = spawnServer(
    {
      DATABASE_URL: api.databaseUrl,
      PORT: String(port),
      WEBHOOK_SECRET_KEY: key,
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      LOG_LEVEL: 'info',
      ...env,
    },
    nodeOptions,
  );
  stops.push(async () => {
    server.child.kill('SIGKILL');
    await server.exited;
  });
  return {
    ...server,
    call: (path, { key }, options) =>
      fetch(`http://127.0.0.1:${port}${pathPrefix}${path}`, {
        ...options,
        headers: { 'x-api-key': key, 'content-type': 'application/json', ...options?.headers },
      }),
    lines: () =>
      server
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line)),
  };
}

async function receiver(respond?: Respond) {
  const started = await startReceiver(respond);
  stops.push(() => started.close());
  return started;
}

async function end({ child, exited }: ServerProcess) {
  child.kill('SIGTERM');
  await exited;
  return { code: child.exitCode };
}

function later(body: string): ReadableStream {
  return new ReadableStream({
    async start(controller) {
      await sleep(300);
      controller.enqueue(new TextEncoder().encode(body));
      controller.close();
    },
  });
}

const below = (spans: Span[], { spanId }: Span) => spans.filter(({ parentSpanId }) => parentSpanId === spanId);

describe('traces', () => {
  it('traces a request from its caller to the webhook delivery', async () => {
    const api = await startUntracedApi();
    stops.push(() => api.close());
    const { env, spans, text } = await collector();
    const workspace = await createWorkspace(api);
    const failing = await receiver((_, response) => response.writeHead(503).end('what the receiver says'));
    const secret = 'what no span may ever hold';
    const { id: subscription } = await workspace.createWebhook({
      url: `${failing.url}/in-path?token=in-query`,
      secret,
    });
    const origin = 'https://app.example.com';
    const server = await start(api, { ...env, ROLES: 'api', OTEL_SERVICE_NAME: 'itsm-api', CORS_ORIGINS: origin });
    const worker = await start(api, { ...env, ROLES: 'worker', OTEL_SERVICE_NAME: 'itsm-worker' });
    await Promise.all([server.ready, worker.ready]);

    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const created = await server.call('/tickets?', workspace, {
      method: 'POST',
      // The client sends the body after the server has read the headers.
      body: later(JSON.stringify({ ...ticket, title: 'a title of this test' })),
      duplex: 'half',
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'x-request-id': 'of-this-test' },
    });
    expect(created.status).toBe(201);
    await server.call('/users?email=a-person%40example.com', workspace);
    await server.call('/nothing/in-a-path', workspace);
    const preflight = { origin, 'access-control-request-method': 'GET' };
    await server.call('/in-a-preflight', workspace, { method: 'OPTIONS', headers: preflight });

    const attempt = await eventually(() => {
      const found = spans.find(({ name }) => name === 'deliver ticket.created');
      expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['GET', 'OPTIONS']));
      expect(found).toBeDefined();
      return found as Span;
    });
    const request = spans.find(({ name }) => name === `POST ${pathPrefix}/tickets`) as Span;
    expect(request).toMatchObject({ traceId, parentSpanId: '00f067aa0ba902b7', kind: 2, service: 'itsm-api' });
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': `${pathPrefix}/tickets`,
      'url.path': `${pathPrefix}/tickets`,
      'url.scheme': 'http',
      'http.response.status_code': 201,
      'itsm.tenant.id': String(workspace.tenantId),
      'itsm.key.id': expect.any(String),
      'itsm.request.id': 'of-this-test',
    });

    const statements = below(spans, request).filter(({ service }) => service === 'itsm-api');
    expect(statements.length).toBeGreaterThan(2);
    for (const { traceId: own, kind, attributes, name } of statements) {
      expect([own, kind, attributes['db.system.name']]).toEqual([traceId, 3, 'postgresql']);
      expect(attributes['db.query.summary']).toBe(name);
    }
    const names = statements.map(({ name }) => name).join('\n');
    expect(names).toMatch(/^BEGIN; /m);
    expect(names).toMatch(/INSERT tickets/);
    expect(names).toMatch(/INSERT events.* deliveries/);
    expect(names).toMatch(/^COMMIT$/m);
    // No SQL statement may fail, because PostgreSQL logs every failed statement.
    expect(statements.filter(({ failed }) => failed)).toEqual([]);

    expect(attempt).toMatchObject({ traceId, parentSpanId: request.spanId, service: 'itsm-worker', failed: true });
    expect(attempt.attributes).toMatchObject({
      'http.response.status_code': 503,
      'itsm.tenant.id': String(workspace.tenantId),
      'itsm.subscription.id': String(subscription),
      'itsm.delivery.attempt': 1,
    });
    // Webhook requests contain only the specified headers, without a trace context.
    expect(Object.keys(failing.received[0]?.headers ?? {})).not.toContain('traceparent');
    // The worker creates a span for the delivery attempt, but no spans for its periodic work.
    expect(spans.filter(({ service }) => service === 'itsm-worker')).toEqual([attempt]);

    const ofRequest = { trace_id: traceId, span_id: request.spanId };
    await eventually(() =>
      expect(server.lines()).toContainEqual(
        expect.objectContaining({ ...ofRequest, msg: 'request', requestId: 'of-this-test' }),
      ),
    );
    const ofAttempt = { trace_id: traceId, span_id: attempt.spanId };
    await eventually(() =>
      expect(worker.lines()).toContainEqual(
        expect.objectContaining({ ...ofAttempt, msg: 'a webhook delivery failed' }),
      ),
    );

    expect(spans.find(({ name }) => name === 'GET')?.attributes).not.toHaveProperty('url.path');
    const secrets = [
      workspace.key,
      secret,
      'a title of this test',
      ticket.description,
      'a-person',
      'in-a-path',
      'in-a-preflight',
    ];
    for (const each of [...secrets, 'in-path', 'in-query', 'what the receiver says'])
      expect(text()).not.toContain(each);
    expect(await end(server)).toMatchObject({ code: 0 });
    expect(await end(worker)).toMatchObject({ code: 0 });
  });

  it('exports no spans if the caller or the sampler excludes the trace', async () => {
    const api = await startUntracedApi();
    stops.push(() => api.close());
    const { env, spans } = await collector();
    const workspace = await createWorkspace(api);
    const { url, received } = await receiver();
    await workspace.createWebhook({ url });
    const server = await start(api, env);
    await server.ready;
    const create = (flags: string) =>
      server.call('/tickets', workspace, {
        method: 'POST',
        body: JSON.stringify(ticket),
        headers: { traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}` },
      });
    await create('00');
    await eventually(() => expect(received).toHaveLength(1));
    await create('01');
    await eventually(() => expect(spans.filter(({ name }) => name === 'deliver ticket.created')).toHaveLength(1));
    expect(spans.filter(({ name }) => name.startsWith('POST'))).toHaveLength(1);

    const sampler = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
    const other = await start(api, { ...env, ...sampler, ROLES: 'api' });
    await other.ready;
    const before = spans.length;
    expect((await other.call('/tickets', workspace)).status).toBe(200);
    expect(await end(other)).toMatchObject({ code: 0 });
    expect(spans).toHaveLength(before);
  });

  it('assigns each SQL statement to the request that runs it, even on a reused connection', async () => {
    const requestStorage = new AsyncLocalStorage<number>();
    const tracedRequests: (number | undefined)[] = [];
    const tracer: StatementTracer = {
      begin(texts) {
        if (texts[0]?.includes('pg_sleep')) tracedRequests.push(requestStorage.getStore());
        return undefined;
      },
      outside: (work) => requestStorage.exit(work),
      keep: (callback) => AsyncLocalStorage.bind(callback as () => void) as typeof callback,
    };
    const { url, drop } = await cloneDatabase();
    const timeouts = { statementMs: 10_000, lockMs: 10_000 };
    const onConnectionError = () => undefined;
    const databases = openDatabases({
      url,
      requestConnections: 1,
      timeouts,
      worker: false,
      onConnectionError,
      tracer,
    });
    stops.push(async () => {
      await databases.close();
      await drop();
    });
    const numbers = [...Array(20).keys()];
    await Promise.all(
      numbers.map((i) => requestStorage.run(i, () => databases.keyLookups.pool.query('SELECT pg_sleep(0.01)'))),
    );
    expect(tracedRequests.toSorted((a = 0, b = 0) => a - b)).toEqual(numbers);
  });
});

describe('OpenTelemetry packages', () => {
  let api: Api;

  beforeAll(async () => {
    api = await startUntracedApi();
  });
  afterAll(() => api.close());

  it('loads OpenTelemetry only if its environment variables enable it', async () => {
    const workspace = await createWorkspace(api);
    const settings: Record<string, string>[] = [
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'TRUE' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_EXPORTER: 'none' },
    ];
    for (const env of settings) {
      const server = await start(api, { ...env, OTEL_SERVICE_NAME: 'itsm-api' }, withoutPackages);
      await server.ready;
      expect((await server.call('/tickets', workspace)).status).toBe(200);
      expect(await end(server)).toMatchObject({ code: 0 });
    }
  });

  it.each([
    ['OTEL_TRACES_EXPORTER', 'otlp'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://127.0.0.1:4318/v1/traces'],
  ])('prints the install command if %s is set but OpenTelemetry is not installed', async (name, value) => {
    const server = await start(api, { [name]: value }, withoutPackages);
    await server.exited;
    // The install command must name the package versions that the tests use.
    const packages = Object.entries(packageJson.devDependencies).map((each) => each.join('@'));
    const command = `npx -y pnpm@12.21.0 --filter @itsm-api/server add --save-prod ${packages.filter((each) => each.startsWith('@opentelemetry/')).join(' ')}`;
    const operations = await readFile(join(import.meta.dirname, '../../docs/operations/monitor-and-repair.md'), 'utf8');
    expect(operations).toContain(`\n${command}\n`);
    expect(server.output()).toBe(
      `OTEL_*: tracing is enabled, but OpenTelemetry is not installed; run \`${command}\`, or set OTEL_SDK_DISABLED=true\n`,
    );
    expect(server.child.exitCode).toBe(1);
  });

  it.each([
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_EXPORTER', 'pigeon'],
  ])('rejects %s=%s with one line that names the variable and the value', async (name, value) => {
    const server = await start(api, {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      [name]: value,
    });
    await server.exited;
    expect(server.output()).toMatch(new RegExp(`^OTEL_\\*: [^\\n]*${name}[^\\n]*${value}[^\\n]*\\n$`));
    expect(server.child.exitCode).toBe(1);
  });

  it('does not delay requests or the shutdown if the trace collector is unreachable or never responds', async () => {
    const collectors = [
      { responds: true, timeout: '1000', reason: 'ECONNREFUSED' },
      { responds: false, timeout: '60000', reason: 'within 1500 ms' },
    ];
    const workspace = await createWorkspace(api);
    const test = async ({ responds, timeout, reason }: (typeof collectors)[number]) => {
      const { env, close } = await collector({ responds });
      if (responds) await close();
      const settings = { OTEL_EXPORTER_OTLP_TIMEOUT: timeout, ROLES: 'api', LOG_LEVEL: 'warn' };
      const server = await start(api, { ...env, ...settings });
      await server.ready;
      for (let i = 0; i < 30; i++) {
        expect((await server.call('/tickets?perPage=1', workspace)).status).toBe(200);
        await sleep(100);
      }
      // The exit code is 1 if the shutdown times out.
      expect(await end(server)).toMatchObject({ code: 0 });
      const warnings = server.lines().filter(({ msg }) => msg === 'traces are not sent');
      expect(warnings).toEqual([expect.objectContaining({ level: 40, reason: expect.stringContaining(reason) })]);
    };
    await Promise.all(collectors.map(test));
  });
});
