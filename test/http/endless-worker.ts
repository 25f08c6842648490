/** Runs a worker task that never ends unless `ends` is true. */
export default function run(ends: boolean): string {
  while (!ends);
  return 'done';
}
