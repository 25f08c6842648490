import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks are hundredths of a second on every Linux. */
const microsecondsPerTick = 10_000;

/** The CPU time that a process has used, in microseconds; 0 where /proc doesn't tell. */
export function cpuOf(pid: number): number {
  const [user = 0, system = 0] = timesOf(pid);
  return (user + system) * microsecondsPerTick;
}

/** The CPU time of a process and its children, living and ended, such as the postmaster and its backends. */
export function cpuOfFamily(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid);
  const own = timesOf(pid).reduce((sum, ticks) => sum + ticks, 0) * microsecondsPerTick;
  return own + children.reduce((sum, name) => sum + cpuOf(Number(name)), 0);
}

/** Ticks in user and system mode, and those of the children that have ended. */
function timesOf(pid: number): number[] {
  try {
    // The name may hold spaces and parentheses; the fields that follow it don't.
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

/** The memory that a process holds, in MB; 0 where /proc doesn't tell. */
export function residentOf(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kilobytes) / 1024);
  } catch {
    return 0;
  }
}
