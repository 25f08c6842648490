import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in ticks of a hundredth of a second. */
const microsecondsPerTick = 10_000;

/** Returns the CPU time of a process in microseconds, or 0 if /proc doesn't contain the process. */
export function cpuOf(pid: number): number {
  const [user = 0, system = 0] = timesOf(pid);
  return (user + system) * microsecondsPerTick;
}

/**
 * Returns the total CPU time of a process and its child processes, in microseconds. For PostgreSQL, pass the process id
 * of the postmaster.
 */
export function cpuOfFamily(pid: number): number {
  const children = childrenOf(pid);
  const own = timesOf(pid).reduce((sum, ticks) => sum + ticks, 0) * microsecondsPerTick;
  return own + children.reduce((sum, name) => sum + cpuOf(Number(name)), 0);
}

/** Returns the CPU time of a process, its descendants and their exited child processes, in microseconds. */
export function cpuOfTree(pid: number): number {
  const own = timesOf(pid).reduce((sum, ticks) => sum + ticks, 0) * microsecondsPerTick;
  return childrenOf(pid).reduce((sum, name) => sum + cpuOfTree(Number(name)), own);
}

/** Returns the CPU time of the exited child processes of a process, in microseconds. */
export function cpuOfChildren(pid: number): number {
  const [, , user = 0, system = 0] = timesOf(pid);
  return (user + system) * microsecondsPerTick;
}

/**
 * Returns the exact CPU time of a process and its child processes in milliseconds. Doesn't include exited child
 * processes.
 */
export function runTimeOfFamily(pid: number): number {
  return [String(pid), ...childrenOf(pid)].reduce((sum, name) => sum + runTimeOf(name), 0);
}

/** Returns the CPU time of all threads of a process in milliseconds. */
function runTimeOf(pid: string): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const times = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    return times.reduce((sum, nanoseconds) => sum + Number(nanoseconds) / 1e6, 0);
  } catch {
    return 0;
  }
}

function childrenOf(pid: number): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
}

/**
 * Returns the CPU ticks of a process in user mode and system mode, followed by the ticks of its exited child processes.
 */
function timesOf(pid: number): number[] {
  try {
    // The process name can contain spaces and parentheses, but the fields after the name can't.
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

/** Returns the resident memory of a process in MB, or 0 if /proc doesn't contain the process. */
export function residentOf(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kilobytes) / 1024);
  } catch {
    return 0;
  }
}
