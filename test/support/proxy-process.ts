import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathOf } from './programs.ts';

/**
 * Starts a proxy and waits until the proxy listens on `address`. Returns a function that stops the proxy.
 * @throws if the proxy exits
 */
export async function startProxy(
  programs: string[],
  args: string[],
  address: string,
  env: Record<string, string> = {},
): Promise<() => Promise<void>> {
  const child = spawn(pathOf(programs), args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  const exited = once(child, 'exit').then(() => {
    process.off('exit', onExit);
  });
  while (!(await takesConnections(address))) {
    if (child.exitCode !== null) throw new Error(`${programs[0]} ended: ${output}`);
    await sleep(20);
  }
  return async () => {
    child.kill('SIGKILL');
    await exited;
  };
}

function takesConnections(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${address}`);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
