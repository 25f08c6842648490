type Labels = Record<string, string>;

/** A parsed response of `/metrics`. */
export interface Scraped {
  text: string;
  /** The name and the labels of each series, sorted by name. */
  series: string[];
  /** The type of each metric, by metric name. */
  types: Map<string, string>;
  /** Returns the label names of a metric. */
  labelsOf(metric: string): Set<string>;
  /** Returns the value of the series with exactly these labels, or undefined if there is none. */
  value(metric: string, labels?: Labels): number | undefined;
  /** Returns the values of all series of a metric. */
  values(metric: string): number[];
}

/** Parses metrics in the Prometheus text format. */
export function scraped(text: string): Scraped {
  const found = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text]),
    ) as Labels,
    value: Number(value),
  }));
  const of = (metric: string) => found.filter(({ name }) => name === metric);
  const idOf = (labels: Labels) => JSON.stringify(Object.entries(labels).sort());
  return {
    text,
    series: found.map(({ name, labels }) => `${name} ${idOf(labels)}`).sort(),
    types: new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type])),
    labelsOf: (metric) => new Set(of(metric).flatMap(({ labels }) => Object.keys(labels))),
    value: (metric, labels = {}) => of(metric).find((each) => idOf(each.labels) === idOf(labels))?.value,
    values: (metric) => of(metric).map(({ value }) => value),
  };
}
