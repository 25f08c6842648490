import { readdirSync, readFileSync } from 'node:fs';

/** A clock tick takes a hundredth of a second on every Linux system. */
const microsecondsPerTick = 10_000;

/** Returns the CPU time of a process in microseconds, or 0 without /proc. */
export function cpuOf(pid: number): number {
  const [user = 0, system = 0] = timesOf(pid);
  return (user + system) * microsecondsPerTick;
}

/**
 * Returns the CPU time of a process and all its children in microseconds, for example of the postmaster and its
 * backends.
 */
export function cpuOfFamily(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid);
  const own = timesOf(pid).reduce((sum, ticks) => sum + ticks, 0) * microsecondsPerTick;
  return own + children.reduce((sum, name) => sum + cpuOf(Number(name)), 0);
}

/** Returns the CPU ticks of a process in user mode and in system mode, then those of its exited children. */
function timesOf(pid: number): number[] {
  try {
    // The name of the process can contain spaces and parentheses. The fields after the name can't.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return fields.slice(11, 15).map(Number);
  } catch {
    return [];
  }
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** Returns the memory of a process in MB, or 0 without /proc. */
export function residentOf(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kilobytes) / 1024);
  } catch {
    return 0;
  }
}
