/** The endpoint groups that have a rate limit of their own (spec §8, docs/decisions/rate-and-concurrency-limits.md). */
export const groups = ['tickets', 'assets', 'projects', 'users', 'webhooks'] as const;

export type Group = (typeof groups)[number];

/** Requests per key and window (spec §8). The server's settings may change the figures. */
export const rateLimits = { global: 60, group: 30, windowSeconds: 60 } as const;

/** Sizes that every request is held to (docs/decisions/api-conventions.md). */
export const requestLimits = {
  bodyBytes: 1024 * 1024,
  jsonDepth: 32,
  /** Objects, arrays and what stands in them, the outermost included. */
  jsonValues: 20_000,
  errorDetails: 20,
  namesInErrors: 100,
} as const;
