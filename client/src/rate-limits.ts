/** One of the limits that a key is held to, as it stood when the answer was written. */
export interface RateLimit {
  /** `global`, or the group of endpoints. */
  name: string;
  /** Requests in a window. */
  limit: number;
  /** Requests left in this window. */
  remaining: number;
  /** Seconds until the window ends. */
  resetSeconds: number;
  /** The length of a window in seconds. */
  windowSeconds: number;
}

/** The limits named by `RateLimit-Policy` and `RateLimit`; none where a page may not read these headers. */
export function readRateLimits(headers: Headers): RateLimit[] {
  const now = readItems(headers.get('ratelimit'));
  return [...readItems(headers.get('ratelimit-policy'))].map(([name, { q = 0, w = 0 }]) => {
    const { r = 0, t = 0 } = now.get(name) ?? {};
    return { name, limit: q, remaining: r, resetSeconds: t, windowSeconds: w };
  });
}

/** `"global";q=60;w=60, "tickets";q=30;w=60`, by name. */
function readItems(header: string | null): Map<string, Record<string, number>> {
  const items = (header ?? '').matchAll(/"([^"]*)"((?:;\w+=\d+)*)/g);
  return new Map(
    Array.from(items, ([, name = '', parameters = '']) => [
      name,
      Object.fromEntries(Array.from(parameters.matchAll(/(\w+)=(\d+)/g), ([, key, value]) => [key, Number(value)])),
    ]),
  );
}
