import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import { expect, it } from 'vitest';
import { type Answer, answerOf } from '../../support/api.ts';
import { openInstallation } from '../../support/installation.ts';
import { spawnServer } from '../../support/server-process.ts';
import { addWorkspace, subscribe } from '../../support/subscribed-workspaces.ts';
import { openReceiver } from './receiver.ts';

const outageMs = 7000;
/** The minimum time between log lines about an outage, in milliseconds. */
const logIntervalMs = 5000;

it('sends Retry-After and logs only a few lines during a PostgreSQL outage', async () => {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { postgres, runtime, apiUrl, env } = await openInstallation(stops);
    const workspace = await addWorkspace(runtime, 'Outage');
    const receiver = await openReceiver({ failing: 0, slowest: 0 });
    stops.push(receiver.close);
    await subscribe(workspace, { name: 'all', url: receiver.urlOf('all'), events: ['ticket.created'] });
    const server = spawnServer({ ...env, LOG_LEVEL: 'warn' });
    let log = '';
    server.child.stdout?.on('data', (chunk: Buffer) => {
      log += chunk;
    });
    stops.push(async () => {
      server.child.kill('SIGTERM');
      await server.exited;
    });
    await server.ready;

    const created: string[] = [];
    const send = async (title: string): Promise<Answer> => {
      const writes = { title, description: 'Made in an outage.', type: 'INCIDENT', category: 'NETWORK' };
      const response = await fetch(`${apiUrl}${pathPrefix}/tickets`, {
        headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
        ...(title.endsWith('0') && { method: 'POST', body: JSON.stringify(writes) }),
      });
      if (response.status === 201) created.push(title);
      return answerOf(response);
    };
    const responses: Promise<Answer>[] = [];
    const sendFor = async (milliseconds: number) => {
      const from = responses.length;
      for (const end = Date.now() + milliseconds; Date.now() < end; await sleep(20))
        responses.push(send(`${responses.length}`));
      return Promise.all(responses.slice(from));
    };

    expect(new Set((await sendFor(2000)).map(({ status }) => status))).toEqual(new Set([200, 201]));
    // PostgreSQL stops while these requests run, so the test ignores whether they succeed.
    const stopping = sendFor(1000);
    await postgres.stop();
    await stopping;
    const outage = await sendFor(outageMs);
    await postgres.start();
    const startedAt = Date.now();
    await expect.poll(async () => (await send('1')).status, { interval: 50 }).toBe(200);
    const backAfter = Date.now() - startedAt;
    expect(new Set((await sendFor(2000)).map(({ status }) => status))).toEqual(new Set([200, 201]));

    for (const { status, headers, body } of outage) {
      const retryAfter = headers['retry-after'];
      expect({ status, retryAfter }).toEqual({ status: 500, retryAfter: expect.stringMatching(/^[1-5]$/) });
      expect(body).toEqual({
        success: false,
        error: {
          code: 'INTERNAL_ERROR',
          message: `The database is unavailable. Retry in ${retryAfter} ${retryAfter === '1' ? 'second' : 'seconds'}.`,
          docs: '/docs/errors#INTERNAL_ERROR',
          requestId: expect.any(String),
        },
      });
    }
    expect(new Set(outage.map(({ headers }) => headers['retry-after'])).size).toBeGreaterThan(1);
    for (const { status, headers } of await Promise.all(responses)) {
      if (status === 500) expect(headers).toHaveProperty('retry-after');
    }

    // The worker delivers all acknowledged changes from before and after the outage.
    await expect.poll(() => new Set(receiver.arrivals.map(({ change }) => change)).size).toBe(created.length);
    expect(created.length).toBeGreaterThan(10);

    for (const stop of stops.splice(-1)) await stop();
    const lines = log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      // Ignores the first log line, which lists the addresses, and the last log line, which reports the shutdown.
      .filter(({ uses, msg }) => uses === undefined && msg !== 'Stopping …');
    const findLines = (message: string) => lines.filter(({ msg }) => msg === message);
    const summaries = findLines('failed because the database is unavailable');
    console.log(
      `An outage of ${outageMs / 1000} s: ${outage.length} responses 500, ${lines.length} log lines, recovered after ${backAfter} ms.`,
    );
    expect(findLines("the database can't be reached")).toHaveLength(1);
    expect(findLines('the database can be reached again')).toHaveLength(1);
    expect(summaries.length).toBeLessThanOrEqual(Math.ceil((outageMs + 5000) / logIntervalMs) + 1);
    expect(lines).toHaveLength(summaries.length + 2);
    const failures = (await Promise.all(responses)).filter(({ status }) => status === 500).length;
    const polled = summaries.reduce((sum, { failed }) => sum + (failed.requests ?? 0), 0) - failures;
    expect(polled).toBeGreaterThanOrEqual(0);
    expect(backAfter).toBeLessThan(10_000);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});
