import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { steadyPort } from '../../support/postgres-server.ts';
import { pathOf } from '../../support/programs.ts';

/** The program that Debian installs. */
export const alertmanagerNames = ['prometheus-alertmanager'];

/** The bearer token of the first program, and the password of the second. */
const secret = 'a secret of the test';

/** A process that a test kills and starts again. */
export interface Killable {
  url: string;
  start(): Promise<void>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
}

/** Returns a process. @param healthPath the path that responds with 200 when the process is ready */
function killable(url: string, healthPath: string, run: () => ChildProcess): Killable {
  let child: ChildProcess | undefined;
  const onExit = () => child?.kill('SIGKILL');
  process.once('exit', onExit);
  return {
    url,
    async start() {
      const started = run();
      child = started;
      let output = '';
      for (const stream of [started.stdout, started.stderr]) {
        stream?.on('data', (chunk) => {
          output = (output + chunk).slice(-4000);
        });
      }
      const isReady = () =>
        fetch(url + healthPath).then(
          ({ ok }) => ok,
          () => false,
        );
      while (!(await isReady())) {
        if (started.exitCode !== null) throw new Error(`A process ended: ${output}`);
        await sleep(50);
      }
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

interface ProgramOptions {
  /** The folder for its settings and its spool. */
  folder: string;
  apiUrl: string;
  key: string;
}

/** Returns the program of `@itsm-api/alerts`. */
export async function alertsProgram({ folder, apiUrl, key }: ProgramOptions): Promise<Killable> {
  const port = await steadyPort();
  await mkdir(folder, { recursive: true });
  const config = join(folder, 'alerts.yaml');
  await writeFile(config, `{ spool: "${join(folder, 'spool')}", port: ${port} }`);
  const bin = join(import.meta.dirname, '../../../alerts/bin/itsm-alerts.ts');
  const env = { PATH: process.env.PATH, ITSM_URL: apiUrl, ITSM_KEY: key, ALERTS_TOKEN: secret };
  const senders = { ALERTS_USER: 'alertmanager', ALERTS_PASSWORD: secret };
  return killable(`http://127.0.0.1:${port}`, '/healthz', () =>
    spawn(process.execPath, [bin, '--config', config], { env: { ...env, ...senders } }),
  );
}

/** An Alertmanager that sends the alerts of ten groups to two programs, and repeats them every few seconds. */
export interface Alertmanager extends Killable {
  /** Deletes its state, as a restart without a volume does. The process must not run. */
  forget(): Promise<void>;
  /** Sends alerts to it, as Prometheus does. */
  post(alerts: object[]): Promise<void>;
}

/** Returns an Alertmanager. @param targets the URLs of the programs */
export async function alertmanager(folder: string, [first, second]: [string, string]): Promise<Alertmanager> {
  const address = `127.0.0.1:${await steadyPort()}`;
  const [config, state] = [join(folder, 'alertmanager.json'), join(folder, 'state')];
  const webhooks = [
    { url: `${first}/alertmanager`, http_config: { authorization: { credentials: secret } } },
    { url: `${second}/alertmanager`, http_config: { basic_auth: { username: 'alertmanager', password: secret } } },
  ];
  const times = { group_wait: '1s', group_interval: '2s', repeat_interval: '6s' };
  const route = { receiver: 'itsm', group_by: ['rack'], ...times };
  // JSON is also YAML.
  await writeFile(config, JSON.stringify({ route, receivers: [{ name: 'itsm', webhook_configs: webhooks }] }));
  const args = [`--config.file=${config}`, `--storage.path=${state}`, `--web.listen-address=${address}`];
  const process = killable(`http://${address}`, '/-/ready', () =>
    spawn(pathOf(alertmanagerNames), [...args, '--cluster.listen-address=']),
  );
  return {
    ...process,
    forget: () => rm(state, { recursive: true }),
    async post(alerts) {
      const response = await fetch(`${process.url}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alerts),
      });
      if (!response.ok) throw new Error(await response.text());
    },
  };
}
