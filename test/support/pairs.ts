/**
 * Combines the faults of a request in pairs. Omits pairs of faults in the same field.
 * @returns the names and the fields of both faults
 */
export function pairsOf<Fields extends object>(faults: Record<string, object>): [names: string, fields: Fields][] {
  const all = Object.entries(faults);
  return all.flatMap(([name, fields], index) =>
    all
      .slice(index + 1)
      .filter(([, others]) => !Object.keys(others).some((field) => field in fields))
      .map(([other, others]): [string, Fields] => [`${name}, ${other}`, { ...fields, ...others } as Fields]),
  );
}
