import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ItsmClient } from '@itsm-api/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../support/demo.ts';
import { type DocumentedOperation, deletesLast, operations } from './operations.ts';

/*
 * What the document shows of each operation does what it says when it is pasted, in the demo workspace. That the
 * client's compile is seen in test/client/package.test.ts.
 */
const execute = promisify(execFile);

/** Evaluates the client's sample of an operation; resolves to what it printed. */
async function runClient(source: string, env: Record<string, string>): Promise<unknown[]> {
  const printed: unknown[] = [];
  const [first, ...rest] = source.split('\n');
  expect(first).toBe("import { ItsmClient } from '@itsm-api/client';");
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;
  const run = new AsyncFunction('ItsmClient', 'process', 'console', rest.join('\n'));
  await run(ItsmClient, { env }, { log: (...values: unknown[]) => printed.push(...values) });
  return printed;
}

/** Has a shell run curl as it stands there; resolves to the status and the body of the answer. */
async function runCurl(source: string, env: Record<string, string>): Promise<{ status: number; text: string }> {
  const script = `curl() { command curl -sS -w '\\n%{http_code}' "$@"; }\n${source}`;
  const { stdout } = await execute('bash', ['-euo', 'pipefail', '-c', script], {
    env: { PATH: process.env.PATH, ...env },
  });
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end)), text: stdout.slice(0, end) };
}

function sampleOf({ samples }: DocumentedOperation, label: string): string {
  return samples.find((sample) => sample.label === label)?.source ?? expect.fail(`There is none for ${label}.`);
}

it('are, on every operation, of the client and then of curl', () => {
  for (const { id, samples } of operations) {
    expect(samples.map(({ label, lang }) => [label, lang])).toEqual([
      ['Client', 'typescript'],
      ['curl', 'shell'],
    ]);
    expect(sampleOf({ samples } as DocumentedOperation, 'Client')).toContain(`client.${id.replace('_', '.')}(`);
  }
});

describe.each(['Client', 'curl'])('%s', (label) => {
  let demo: Demo;
  let env: Record<string, string>;

  beforeAll(async () => {
    demo = await startDemo();
    env = { ITSM_URL: await demo.api.app.listen({ host: '127.0.0.1', port: 0 }), ITSM_KEY: demo.key };
  });
  afterAll(() => demo.close());

  it.each(deletesLast)('does $id', async (operation) => {
    const source = sampleOf(operation, label);
    if (label === 'Client') {
      const printed = await runClient(source, env);
      if (source.includes('for await')) return;
      const [done, failed = []] = printed;
      expect([typeof done, failed]).toEqual(['object', []]);
    } else {
      const { status, text } = await runCurl(source, env);
      expect(String(status), text).toBe(Object.keys(operation.answers)[0]);
    }
  });
});
