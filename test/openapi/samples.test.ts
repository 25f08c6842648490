import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ItsmClient } from '@itsm-api/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../support/demo.ts';
import { type PythonDriver, skipUnlessPython, startPythonDriver } from '../support/python.ts';
import { type DocumentedOperation, demoOrder, operations } from './operations.ts';

/*
 * Runs the code samples of each operation in the demo workspace. test/client/package.test.ts compiles the client
 * samples.
 */
const execute = promisify(execFile);

/** Runs the TypeScript sample of an operation and returns its output. */
async function runClient(source: string, env: Record<string, string>): Promise<unknown[]> {
  const printed: unknown[] = [];
  const [first, ...rest] = source.split('\n');
  expect(first).toBe("import { ItsmClient } from '@itsm-api/client';");
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;
  const run = new AsyncFunction('ItsmClient', 'process', 'console', rest.join('\n'));
  await run(ItsmClient, { env }, { log: (...values: unknown[]) => printed.push(...values) });
  return printed;
}

/** Runs a curl sample in a shell. Returns the status and the body of the response. */
async function runCurl(source: string, env: Record<string, string>): Promise<{ status: number; text: string }> {
  const script = `curl() { command curl -sS -w '\\n%{http_code}' "$@"; }\n${source}`;
  const { stdout } = await execute('bash', ['-euo', 'pipefail', '-c', script], {
    env: { PATH: process.env.PATH, ...env },
  });
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end)), text: stdout.slice(0, end) };
}

function findSample({ samples }: DocumentedOperation, label: string): string {
  return samples.find((sample) => sample.label === label)?.source ?? expect.fail(`There is none for ${label}.`);
}

it('documents every operation with samples in TypeScript, Python and the shell', () => {
  for (const { id, samples } of operations) {
    expect(samples.map(({ label, lang }) => [label, lang])).toEqual([
      ['TypeScript', 'typescript'],
      ['Python', 'python'],
      ['curl', 'shell'],
    ]);
    expect(findSample({ samples } as DocumentedOperation, 'TypeScript')).toContain(`client.${id.replace('_', '.')}(`);
  }
});

describe.each([
  ['TypeScript', {}],
  ['Python', skipUnlessPython()],
  ['curl', {}],
])('%s samples', (label, options) => {
  let demo: Demo;
  let env: Record<string, string>;
  let driver: PythonDriver | undefined;

  beforeAll(async () => {
    demo = await startDemo();
    env = { ITSM_URL: await demo.api.app.listen({ host: '127.0.0.1', port: 0 }), ITSM_KEY: demo.key };
  });
  afterAll(async () => {
    await driver?.stop();
    await demo.close();
  });

  it.each(demoOrder)('runs the code sample of the operation $id', options, async (operation) => {
    await demo.prepare(operation.id);
    const source = findSample(operation, label);
    if (label === 'Python') {
      driver ??= startPythonDriver();
      expect(await driver.run({ program: source, env })).toEqual([expect.stringMatching(/\S|^$/)]);
    } else if (label === 'TypeScript') {
      const printed = await runClient(source, env);
      if (source.includes('for await')) return;
      const [done, failed = []] = printed;
      expect([typeof done, failed]).toEqual(['object', []]);
    } else {
      const { status, text } = await runCurl(source, env);
      const advice = 'Add a row with the id of the example to prisma/demo-data.ts.';
      expect(String(status), `${text} ${advice}`).toBe(Object.keys(operation.responses)[0]);
    }
  });
});
