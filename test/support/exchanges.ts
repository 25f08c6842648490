import { onTestFailed, type RunnerTestCase, TestRunner } from 'vitest';

/** A request of a test, and its response. */
interface Exchange {
  method: string;
  path: string;
  headers: Record<string, unknown>;
  body: unknown;
  status: number;
  responseHeaders: Record<string, unknown>;
  text: string;
}

/** The exchanges of a test that it prints if it fails. */
interface Recorded {
  /** The last exchanges, newest last. */
  recent: Exchange[];
  /** For each failed `expect.soft`, the exchange before it. */
  failed: Exchange[];
  errorCount: number;
}

/** A failed assertion is usually about one of the last requests, such as a PATCH and the GET that follows. */
const maxRecent = 3;

const recordings = new WeakMap<RunnerTestCase, Recorded>();

/** Records an exchange of the current test. If the test fails, it prints its last requests and responses in full. */
export function recordExchange(exchange: Exchange): void {
  const test = TestRunner.getCurrentTest<RunnerTestCase | undefined>();
  if (test === undefined) return;
  const recorded = recordings.get(test) ?? startRecording(test);
  const errorCount = test.result?.errors?.length ?? 0;
  const previous = recorded.recent.at(-1);
  if (errorCount > recorded.errorCount && previous !== undefined) recorded.failed.push(previous);
  recorded.errorCount = errorCount;
  recorded.recent = [...recorded.recent.slice(1 - maxRecent), exchange];
}

function startRecording(test: RunnerTestCase): Recorded {
  const recorded: Recorded = { recent: [], failed: [], errorCount: 0 };
  recordings.set(test, recorded);
  onTestFailed(() => {
    const exchanges = new Set([...recorded.failed, ...recorded.recent]);
    console.error([...exchanges].map(describe).join('\n\n'));
  });
  return recorded;
}

function describe({ method, path, headers, body, status, responseHeaders, text }: Exchange): string {
  const lines = (fields: Record<string, unknown>) => Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  const content = body === undefined || typeof body === 'string' ? (body ?? '') : JSON.stringify(body);
  const request = [`${method} ${path}`, ...lines(headers), '', content];
  return [...request, '', `HTTP ${status}`, ...lines(responseHeaders), '', text].join('\n');
}
