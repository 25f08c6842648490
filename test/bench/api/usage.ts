import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks are hundredths of a second on every Linux. */
const microsecondsPerTick = 10_000;

/** The CPU time that a process has used, in microseconds; 0 where /proc doesn't tell. */
export function cpuOf(pid: number): number {
  try {
    // The name may hold spaces and parentheses; the fields that follow it don't.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick;
  } catch {
    return 0;
  }
}

/** The CPU time of a process and its living children, such as the postmaster and its backends. */
export function cpuOfFamily(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid);
  return cpuOf(pid) + children.reduce((sum, name) => sum + cpuOf(Number(name)), 0);
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
