import * as z from 'zod';

/** The metadata of a deprecated endpoint or field. The names are those of the OpenAPI document. */
export interface Deprecation {
  deprecated: true;
  /** The date of the deprecation, `YYYY-MM-DD` in UTC. */
  'x-deprecated-since': string;
  /** The date after which the endpoint or the field can be removed, `YYYY-MM-DD` in UTC. */
  'x-sunset': string;
}

/** The minimum number of months between a deprecation and the removal (docs/guides/versioning.md). */
const minDeprecationMonths = 12;

/**
 * Returns the metadata of a deprecated endpoint or field, for `meta()`. The OpenAPI document contains the metadata, and
 * the responses of the endpoint contain its dates in the headers `Deprecation` and `Sunset`.
 * @param dates the dates of the deprecation and of the earliest removal, `YYYY-MM-DD` in UTC
 * @throws RangeError if a date is invalid or less than `minDeprecationMonths` are between the dates
 */
export function deprecated({ since, sunset }: { since: string; sunset: string }): Deprecation {
  const earliest = new Date(since);
  earliest.setUTCMonth(earliest.getUTCMonth() + minDeprecationMonths);
  if (!(new Date(sunset) >= earliest)) {
    throw new RangeError(`The sunset ${sunset} must be at least ${minDeprecationMonths} months after ${since}.`);
  }
  return { deprecated: true, 'x-deprecated-since': since, 'x-sunset': sunset };
}

/** The parts of an endpoint that can be deprecated. */
interface Deprecatable {
  metadata: Partial<Deprecation>;
  query: z.ZodType;
  body?: unknown;
  responses: Record<number, unknown>;
}

/**
 * Returns the headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) of an endpoint that is deprecated or has a
 * deprecated field in its query, body or response. Each header has the earliest date. Returns undefined if nothing is
 * deprecated.
 */
export function deprecationHeaders(route: Deprecatable): { deprecation: string; sunset: string } | undefined {
  const { metadata, query, body, responses } = route;
  const fields = schemasIn([query, body, ...Object.values(responses)]).map((schema) => z.globalRegistry.get(schema));
  const found = [metadata, ...fields].filter((each) => each?.deprecated === true) as Deprecation[];
  const [since] = found.map((each) => each['x-deprecated-since']).sort();
  const [sunset] = found.map((each) => each['x-sunset']).sort();
  if (since === undefined || sunset === undefined) return undefined;
  return { deprecation: `@${Date.parse(since) / 1000}`, sunset: new Date(sunset).toUTCString() };
}

/** Returns all schemas in a value, including the schemas of fields and items. */
function schemasIn(value: unknown, visited = new Set<unknown>()): z.ZodType[] {
  if (typeof value !== 'object' || value === null || visited.has(value)) return [];
  visited.add(value);
  if (!(value instanceof z.ZodType)) return Object.values(value).flatMap((inner) => schemasIn(inner, visited));
  const { checks: _, ...parts } = value.def as unknown as Record<string, unknown>;
  return [value, ...schemasIn(parts, visited)];
}
