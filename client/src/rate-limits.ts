/** A rate limit of the API key, as reported by a response. */
export interface RateLimit {
  /** `global`, or the name of an endpoint group. */
  name: string;
  /** Maximum number of requests per window. */
  limit: number;
  /** Number of requests left in the window. */
  remaining: number;
  /** Seconds until the window ends. */
  resetSeconds: number;
  /** Length of the window in seconds. */
  windowSeconds: number;
}

/**
 * Parses the response headers `RateLimit-Policy` and `RateLimit`. Returns an empty array if the response lacks these
 * headers, or if a browser hides them.
 */
export function readRateLimits(headers: Headers): RateLimit[] {
  const current = readItems(headers.get('ratelimit'));
  return [...readItems(headers.get('ratelimit-policy'))].map(([name, { q = 0, w = 0 }]) => {
    const { r = 0, t = 0 } = current.get(name) ?? {};
    return { name, limit: q, remaining: r, resetSeconds: t, windowSeconds: w };
  });
}

/** Parses a header such as `"global";q=60;w=60, "tickets";q=30;w=60` into a map from rate limit names to parameters. */
function readItems(header: string | null): Map<string, Record<string, number>> {
  const items = (header ?? '').matchAll(/"([^"]*)"((?:;\w+=\d+)*)/g);
  return new Map(
    Array.from(items, ([, name = '', parameters = '']) => [
      name,
      Object.fromEntries(Array.from(parameters.matchAll(/(\w+)=(\d+)/g), ([, key, value]) => [key, Number(value)])),
    ]),
  );
}
