import { type Endpoint, pathPrefix } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { bulkBodies, listValues, pathValues, type Values } from './values.ts';

/** The page of a list that a request reads. The measurement finds its number. */
export type WantedPage = 'first' | 'middle' | 'last';

/** A request that the search measures. */
export interface Drawn {
  kind: 'alone' | 'pair' | 'triple' | 'feed' | 'single' | 'bulk';
  method: Endpoint['method'];
  /** The path and the query, without the number of the page. */
  path: string;
  page?: WantedPage;
  /** The position from which the request reads a feed. */
  position?: WantedPage;
  body?: (run: number) => object;
}

type Random = () => number;

const endpoints = Object.values(contract).flatMap((routes) => Object.values(routes as Record<string, Endpoint>));
const pages: readonly WantedPage[] = ['first', 'middle', 'last'];

/** The number of draws for each pair of filters of a list, and of ticket lists with three random filters. */
const [drawsPerPair, triples] = [4, 3000];

/**
 * Draws the requests from the contract: all lists, feeds, single reads and bulk writes.
 * @throws if the contract has an endpoint or a filter without a value in values.ts
 */
export function drawRequests(seed: number): Drawn[] {
  const random = randomOf(seed);
  return endpoints.flatMap((route) => {
    const path = route.path.slice(pathPrefix.length);
    const body = bulkBodies[`${route.method} ${path}`];
    if (body !== undefined) return [{ kind: 'bulk', method: route.method, path: path.replace(':id', '1'), body }];
    if (route.method !== 'GET') return [];
    const parameters = Object.keys((route.query as { shape?: object }).shape ?? {});
    return pathsOf(path).flatMap((each) => {
      if (parameters.includes('page')) return drawLists(each, valuesOf(path, parameters), random);
      if (parameters.includes('cursor'))
        return pages.map((position): Drawn => ({ kind: 'feed', method: 'GET', path: each, position }));
      return [{ kind: 'single', method: 'GET', path: each }];
    });
  });
}

function pathsOf(path: string): string[] {
  if (!path.includes(':')) return [path];
  const values = pathValues[path];
  if (values === undefined) throw new Error(`values.ts has no path parameter for ${path}.`);
  return values.map((value) => path.replace(/:\w+/, value));
}

/** Returns the values of the filters of a list. */
function valuesOf(path: string, parameters: string[]): [name: string, values: readonly string[]][] {
  const values: Values = listValues[path] ?? {};
  return parameters
    .filter((name) => !['page', 'perPage', 'sort'].includes(name))
    .map((name) => {
      if (values[name] === undefined) throw new Error(`values.ts has no value for ${name} of ${path}.`);
      return [name, values[name]];
    });
}

/** Draws each filter alone with each value, all pairs of filters, and random triples for the ticket list. */
function drawLists(path: string, filters: [string, readonly string[]][], random: Random): Drawn[] {
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value;
  const draw = (kind: Drawn['kind'], chosen: string[]): Drawn => {
    const sort = path === '/tickets' ? [`sort=${pick(['-id', 'id'])}`] : [];
    return {
      kind,
      method: 'GET',
      path: `${path}?${[...chosen, ...sort, `perPage=${pick([20, 100])}`].join('&')}`,
      page: pick(pages),
    };
  };
  const drawn = (names: [string, readonly string[]][]) =>
    names.map(([name, values]) => toParameter(name, pick(values)));
  const alone = ['', ...filters.flatMap(([name, values]) => values.map((value) => toParameter(name, value)))];
  const pairs = filters.flatMap((first, index) => filters.slice(index + 1).map((second) => [first, second]));
  const random3 = () => {
    const left = [...filters];
    return [1, 2, 3].flatMap(() => left.splice(Math.floor(random() * left.length), 1));
  };
  return [
    ...alone.flatMap((filter) => pages.map((page) => ({ ...draw('alone', filter === '' ? [] : [filter]), page }))),
    ...pairs.flatMap((pair) => Array.from({ length: drawsPerPair }, () => draw('pair', drawn(pair)))),
    ...(path === '/tickets' ? Array.from({ length: triples }, () => draw('triple', drawn(random3()))) : []),
  ];
}

function toParameter(name: string, value: string): string {
  return name === 'customFields' ? `${name}${value}` : `${name}=${value}`;
}

/** Returns a generator of random numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
