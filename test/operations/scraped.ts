type Labels = Record<string, string>;

/** What `/metrics` answered. */
export interface Scraped {
  text: string;
  /** Each series by its name and labels, in the order of their names. */
  series: string[];
  /** What kind each metric is, by its name. */
  types: Map<string, string>;
  /** The names of the labels that a metric has. */
  labelsOf(metric: string): Set<string>;
  /** Of the series with just these labels; undefined where there is none. */
  value(metric: string, labels?: Labels): number | undefined;
  /** Of all series of a metric. */
  values(metric: string): number[];
}

/** Reads the text format of Prometheus. */
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
