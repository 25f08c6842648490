import { join } from 'node:path';
import { openInstallation } from '../../test/support/installation.ts';
import { runPython } from '../../test/support/python.ts';
import { supervise } from '../../test/support/server-process.ts';
import { addWorkspace } from '../../test/support/subscribed-workspaces.ts';

/** The CPU time of 2,000 reads, divided by the time of a loop over `http.client`, and the seconds for 2,000 devices. */
interface PythonResult {
  cpuRatio: number;
  deviceSeconds: number;
}

const limits: PythonResult = { cpuRatio: 1.5, deviceSeconds: 10 };

/** Starts a server, and runs the benchmark of the Python client with it. */
export async function benchPython(): Promise<{ table: string; result: PythonResult; good: boolean }> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { runtime, apiUrl, env } = await openInstallation(stops);
    const { key } = await addWorkspace(runtime, 'Python');
    const unlimited = { RATE_LIMIT_GLOBAL: '1000000', RATE_LIMIT_GROUP: '1000000' };
    const api = supervise({ ...env, ...unlimited, ROLES: 'api' });
    stops.push(api.stop);
    await api.ready();
    const program = join(import.meta.dirname, 'python-client.py');
    const { code, stdout, stderr } = await runPython([program], { env: { ITSM_URL: apiUrl, ITSM_KEY: key } });
    if (code !== 0) throw new Error(stderr);
    const result: PythonResult = JSON.parse(stdout);
    const table = `CPU time of 2,000 reads  ${result.cpuRatio} of http.client (at most ${limits.cpuRatio})
2,000 devices            ${result.deviceSeconds} s (at most ${limits.deviceSeconds} s)\n`;
    const good = result.cpuRatio <= limits.cpuRatio && result.deviceSeconds <= limits.deviceSeconds;
    return { table, result, good };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
