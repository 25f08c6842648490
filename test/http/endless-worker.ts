/** A task that never ends, unless it is told to. */
export default function run(ends: boolean): string {
  while (!ends);
  return 'done';
}
