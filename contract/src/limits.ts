/** The endpoint groups. Each group has its own rate limit (spec §8, docs/decisions/rate-and-concurrency-limits.md). */
export const groups = ['tickets', 'assets', 'projects', 'users', 'webhooks', 'kb'] as const;

export type Group = (typeof groups)[number];

/** The default rate limits of an API key (spec §8). The server's settings can override them. */
export const rateLimits = { global: 60, group: 30, windowSeconds: 60 } as const;

/** Size limits of every request (docs/decisions/api-conventions.md). */
export const requestLimits = {
  bodyBytes: 1024 * 1024,
  jsonDepth: 32,
  /** Maximum number of values in a JSON body. Objects and arrays count as values. */
  jsonValues: 20_000,
  /** Maximum number of comments of all tickets in a request to `POST /tickets/bulk`. */
  newTicketComments: 1000,
  errorDetails: 20,
  namesInErrors: 100,
} as const;

/** Limits of attachments (docs/decisions/attachments-design.md). The server's settings can override the numbers of bytes. */
export const attachmentLimits = {
  maxBytes: 25 * 2 ** 20,
  /** Maximum number of bytes of all attachments of a workspace. */
  maxWorkspaceBytes: 5 * 2 ** 30,
  /** Maximum number of concurrent uploads, and also of concurrent downloads, of a workspace in a server process. */
  maxConcurrentTransfers: 4,
  /** After this number of seconds below `minUploadBytesPerSecond`, an upload fails. */
  maxIdleSeconds: 30,
  minUploadBytesPerSecond: 1024,
  /** The maximum duration of an upload. */
  maxUploadMinutes: 15,
} as const;
