/** Runs a worker task. The task ends only if `ends` is true. */
export default function run(ends: boolean): string {
  while (!ends);
  return 'done';
}
