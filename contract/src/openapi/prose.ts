import * as z from 'zod';
import { bulkItems } from '../bulk.ts';
import { type Endpoint, pathPrefix } from '../endpoint.ts';
import { errors } from '../errors.ts';
import { idempotencyHours } from '../idempotency.ts';
import { type Group, groups, rateLimits, requestLimits } from '../limits.ts';
import { acceptsEmails } from '../references.ts';
import { resources } from '../registry.ts';
import { AssetStatus, assetTransitions } from '../resources/assets.ts';
import { ticketTransitions } from '../resources/tickets.ts';
import { scopes } from '../scopes.ts';
import { callOf } from './calls.ts';
import { errorCodes } from './error-examples.ts';

/** The path of the API's changelog page, which shows docs/changelog.md. */
export const changelogPath = '/docs/changelog';

/** The introduction of the OpenAPI document, in Markdown. */
export const introduction = `
Manage the tickets, assets, projects, tasks and webhook subscriptions of one workspace, and read its other resources.
To form the URL of an endpoint, append \`${pathPrefix}\` and the path of the endpoint to the URL of your server.
Requests and responses are JSON.

For additions and their dates, see [the changelog](${changelogPath}).

The samples read the URL of the server and the API key from the environment: \`export ITSM_URL=http://127.0.0.1:3000\`
and \`export ITSM_KEY=itsm_…\`. The ids in the samples are from the demo workspace.

# Authentication and scopes

Send your API key with every request except ping, as \`Authorization: Bearer <API_KEY>\` or \`X-API-Key: <API_KEY>\`.
An API key belongs to one workspace. The scopes of the key determine what you can do with it:

${table(
  ['Scope', 'Allows you to'],
  Object.entries(scopes).map(([scope, what]) => [`\`${scope}\``, lower(what)]),
)}

# Responses

Every response body is an object with \`success\`. A successful response also contains \`data\`, and lists contain
\`meta\`. An error response contains \`error\`. A resource always has all its fields, and a field without a value is
\`null\`. Timestamps are in UTC. Ignore unknown fields and enum values, because the API can add new ones. Every
response has the header \`x-request-id\`.

# Pagination, filters and search

By default, lists are sorted by \`id\`, newest first. \`page\` starts at 1. \`perPage\` is 20 by default and at most 100. A
page after the last page is empty. If \`meta.totalCountCapped\` is present, more items match than \`meta.totalCount\`.
Otherwise, \`meta.totalCount\` is exact.

Different filters combine with AND. To match any of several values, repeat the filter (\`status=OPEN&status=PENDING\`) or
separate the values with commas (\`status=OPEN,PENDING\`). A filter accepts at most 100 values.

\`q\` is a full-text search that ignores case. All words must match, and the last word can be a prefix. A word is a
sequence of letters and digits.

# Incremental sync

\`GET …/changes\` is a change feed: it returns the current version of each changed resource, ordered by the last
change. While \`hasMore\` is true, request the next page with \`nextCursor\`. When \`hasMore\` is false, store \`nextCursor\`
and start your next sync with this cursor. The feed contains every resource with a change that is committed after the
server issued the cursor. A resource can appear more than once. \`GET /tickets/activity\` and
\`GET /assets/activity\` work in the same way.

# Updates

\`PATCH\` changes only the fields in the body. The body must have at least one field. \`null\` clears a field that can be
null.

# Idempotent requests

Send an \`Idempotency-Key\` with a \`POST\` so that you can retry it safely. If the request succeeded, a retry within
${idempotencyHours} hours has no further effect and returns the same response with \`Idempotent-Replayed: true\`. If you send the
same key with another path, body or file type, the server returns an error. If a request failed, you can correct the
request and send it with the same key.

# Bulk requests

\`/tickets/bulk\` accepts up to ${bulkItems} tickets in one request, and \`/tickets/{id}/comments/bulk\` up to ${bulkItems} comments.
\`data\` has one result for each item, in the same order. Each result has the \`status\` and the \`data\` or \`error\` that a
request for only this item would return.

# Optimistic concurrency

The field \`etag\` identifies the version of a resource. A response with a single resource also has it in the header
\`ETag\`. If you read a resource with \`If-None-Match\` and the resource is unchanged, the server returns 304 without a
body. If you send a \`PATCH\` or \`DELETE\` with \`If-Match\` and the resource has changed, the server changes nothing and
returns 412. In bulk updates, each item has its own \`ifMatch\`. Changes to the watchers, comments, links, approvals or attachments of a
ticket also change its \`etag\`.

# Limits

Unknown query parameters and unknown fields in a request are errors. A body has at most ${requestLimits.bodyBytes / 2 ** 20} MiB,
${requestLimits.jsonDepth} nested levels and ${requestLimits.jsonValues} values (each object and array counts as a value). Text can't contain control
characters except tab, line feed and carriage return. Descriptions, notes, resolutions and comments have at most 65535 bytes in UTF-8.

# Rate limits

With an API key, you can send ${rateLimits.global} requests per ${rateLimits.windowSeconds} seconds in total, and ${rateLimits.group} to each endpoint group:

${table(
  ['Group', 'Resources'],
  groups.map((group) => [`\`${group}\``, resourcesIn(group).join(', ')]),
)}

The limits of your workspace can differ. The response headers contain
the limits and the remaining quota. If you exceed a limit, the server returns 429 with \`Retry-After\`. Requests that the
server rejects with 429 don't count against the limits.

# Errors

${table(
  ['Code', 'Status', 'When'],
  errorCodes.map((code) => [`\`${code}\``, String(errors[code].status), errors[code].when]),
)}

The server checks a request in this order: path, API key, rate limits, scope, parameters and body, existence of the
resource, \`If-Match\`. In every error, \`docs\` is the URL of the page that explains the code.
`.trim();

/** Returns the names of the resources whose endpoints belong to a rate limit group, as the section titles show them. */
function resourcesIn(group: Group): string[] {
  const routesOf = Object.entries<Record<string, Endpoint>>(resources);
  const found = routesOf.filter(([, routes]) => Object.values(routes).some(({ metadata }) => metadata.group === group));
  return found.map(([name]) => name);
}

/** The allowed status transitions, for each resource that restricts its transitions. */
const transitions: Record<string, Readonly<Record<string, readonly string[]>>> = {
  tickets: ticketTransitions,
  assets: Object.fromEntries(AssetStatus.options.map((from) => [from, assetTransitions(from)])),
};

/** Returns true if an endpoint can reject the status transition in a request. */
export function hasForbiddenMoves(resource: string, { method }: Endpoint, fields: readonly string[]): boolean {
  return method === 'PATCH' && fields.includes('status') && resource in transitions;
}

/** Returns the description of an endpoint: its behavior, its allowed status transitions and its required scope. */
export function describeOperation(resource: string, route: Endpoint): string {
  const { scope } = route.metadata;
  const paragraphs = [
    route.description,
    describeTransitions(resource, route),
    scope === null
      ? undefined
      : scope === 'any'
        ? 'Requires an API key with any scope.'
        : `Requires the scope \`${scope}\` (${lower(scopes[scope])}).${describeEmails(route)}`,
  ];
  return paragraphs.filter((each) => each !== undefined).join('\n\n');
}

/** Returns the sentence on the scope for email addresses in requests. Empty if the endpoint doesn't accept them. */
export function describeEmails(route: Endpoint): string {
  if (!acceptsEmails(route)) return '';
  return ' Email addresses in the request also require the scope `users:read`.';
}

/** Returns the allowed status transitions in Markdown, or undefined if the endpoint can't change a status. */
export function describeTransitions(resource: string, route: Endpoint): string | undefined {
  const { body, items } = callOf(route);
  const changes = items?.[1] ?? body;
  if (route.method !== 'PATCH' || !(changes instanceof z.ZodObject && 'status' in changes.shape)) return undefined;
  const table = transitions[resource];
  if (table === undefined) return 'Every transition of `status` is allowed.';
  const states = Object.keys(table);
  const final = states.filter((from) => table[from]?.length === 0);
  const open = states.filter((from) => !final.includes(from));
  const free = open.every((from) => table[from]?.length === states.length - 1);
  const moves = free
    ? [`- every status except ${final.join(', ')} → any status`]
    : open.map((from) => `- ${from} → ${table[from]?.join(', ')}`);
  return [
    '`status` can change as follows. For any other change, the server returns `INVALID_TRANSITION`. You can set the current status again, which changes nothing.',
    [...moves, ...final.map((from) => `- ${from} is final; other fields can still change`)].join('\n'),
  ].join('\n\n');
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
