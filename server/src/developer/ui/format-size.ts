/** Formats a number of bytes with a binary unit, such as `1.5 MiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`;
}

const units = ['KiB', 'MiB', 'GiB', 'TiB'] as const;
