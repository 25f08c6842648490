import { AssetStatus, assetTransitions } from '../assets.ts';
import { bulkItems } from '../bulk.ts';
import type { Endpoint } from '../endpoint.ts';
import { errors } from '../errors.ts';
import { idempotencyHours } from '../idempotency.ts';
import { pathPrefix } from '../index.ts';
import { groups, rateLimits, requestLimits } from '../limits.ts';
import { type Scope, scopes } from '../scopes.ts';
import { ticketTransitions } from '../tickets.ts';
import { errorCodes } from './errors.ts';

/** Where the server shows the changelog of the API, docs/changelog.md. */
export const changelogPath = '/docs/changelog';

/** What is said of the whole API. */
export const introduction = `
Tickets, assets, projects and tasks, users and webhook subscriptions of one workspace.
All paths are below \`${pathPrefix}\` of the workspace's own address. Requests and answers are JSON.

What has been added, and when: [the changelog](${changelogPath}).

Samples take the address of the server and the key from the environment: \`export ITSM_URL=http://127.0.0.1:3000\` and
\`export ITSM_KEY=itsm_…\`. Their ids are those of the demo workspace.

# Keys and scopes

Every request but ping carries an API key, as \`Authorization: Bearer <API_KEY>\` or as \`X-API-Key: <API_KEY>\`.
The key decides the workspace. It may do what its scopes allow:

${table(
  ['Scope', 'Allows to'],
  Object.entries(scopes).map(([scope, what]) => [`\`${scope}\``, lower(what)]),
)}

# Answers

Every answer is an envelope: \`success\`, then \`data\` (and \`meta\` on lists) or \`error\`.
A resource always has all its fields; what is absent is \`null\`. Timestamps are UTC. Answers may get new fields, enums
new values: ignore those you don't know. Every answer carries \`x-request-id\`.

# Lists

Newest first, by id. \`page\` counts from 1, \`perPage\` is 20 unless given and at most 100. \`meta.totalCount\` is exact
unless \`meta.totalCountCapped\` says that there are more; a page past the end is empty. Filters combine with
AND. A filter may be repeated (\`status=OPEN&status=PENDING\`) or its values separated by commas
(\`status=OPEN,PENDING\`), at most 100; several values mean any of them.

\`q\` finds rows by words, whatever their case: all of them must be there, and the last may be the beginning of one.
Words are runs of letters and digits; all else separates them.

# Changes

\`GET …/changes\` is for those who keep a copy: rows at their newest state, in the order of their last change. Ask with the
\`nextCursor\` of the last answer, again and again, also when \`hasMore\` was false. What commits after a cursor was given
comes after it; a row may come twice, none is missed.

# Updates

\`PATCH\` changes the fields it names, at least one. An absent field stays as it is, \`null\` clears it where it may be null.

# Sending a request again

A \`POST\` with an \`Idempotency-Key\` is done once, however often it is sent: one that succeeded is answered again as it
was, with \`Idempotent-Replayed: true\`, for ${idempotencyHours} hours. The same key with another path or body is an error.
A request that was refused may be mended and sent with the same key.

# Many at once

\`/tickets/bulk\` takes up to ${bulkItems} tickets in one request. \`data\` tells of each, in their order, what the single request
would have been answered: \`status\`, and \`data\` or \`error\`.

# Conditions

A single resource is answered with an \`ETag\`, which names the state that it is in; creating and changing answer the new
one. \`If-None-Match\` with it asks for the resource only where it has changed: else the answer is 304, without a body.
\`PATCH\` and \`DELETE\` with \`If-Match\` are done only while it has not changed: else the answer is 412, and nothing is
done. 304 and 412 answer no other requests. A ticket changes with its watchers and its comments, too.

# What is refused

Unknown query parameters and unknown fields are errors that name them. A body has at most ${requestLimits.bodyBytes / 2 ** 20} MiB, is nested at most
${requestLimits.jsonDepth} deep and holds at most ${requestLimits.jsonValues} values, objects and arrays among them. Text holds no control characters but
tab, line feed and carriage return; descriptions, notes and resolutions have at most 65535 bytes in UTF-8.

# Rate limits

A key may send ${rateLimits.global} requests in ${rateLimits.windowSeconds} seconds, and ${rateLimits.group} of them in each group of endpoints:
${groups.join(', ')} (tasks belong to projects). A workspace may have other figures; the headers of
every answer tell them, and what is left. A request over the limit is answered 429 with \`Retry-After\`, and takes
nothing from either window.

# Errors

${table(
  ['Code', 'Status', 'When'],
  errorCodes.map((code) => [`\`${code}\``, String(errors[code].status), errors[code].when]),
)}

They are checked in this order: path, key, rate limits, scope, parameters and body, rows, \`If-Match\`. Every error
names in \`docs\` the page on this server that says what its code means.
`.trim();

/** The tags: a resource each, and what is sent to receivers. */
export const tags: Record<string, string> = {
  ping: 'Whether the service answers. Needs no key.',
  me: 'The key of the request.',
  tickets: 'Incidents, problems, changes and service requests.',
  comments: 'What is said of tickets.',
  assets: 'Devices, licences and other things the workspace looks after.',
  activities: 'Who did what to tickets and assets, and when.',
  projects: 'Projects, to which tasks belong.',
  tasks: 'The tasks of projects.',
  users: 'The people of the workspace.',
  webhooks: 'Subscriptions to events. What they deliver stands under `events`.',
  deliveries: 'Events on their way to subscriptions, and what came of them.',
};

/** Where a status may go, for the resources whose moves are not all free. */
const transitions: Record<string, Readonly<Record<string, readonly string[]>>> = {
  tickets: ticketTransitions,
  assets: Object.fromEntries(AssetStatus.options.map((from) => [from, assetTransitions(from)])),
};

/** Whether an update can ask for a move that is forbidden. */
export function hasForbiddenMoves(resource: string, { method }: Endpoint, fields: readonly string[]): boolean {
  return method === 'PATCH' && fields.includes('status') && resource in transitions;
}

/** What an endpoint does and asks for, in words. */
export function describeOperation(resource: string, route: Endpoint, fields: readonly string[]): string {
  const { scope } = route.metadata;
  const paragraphs = [
    route.description,
    route.method === 'PATCH' && fields.includes('status') ? describeMoves(transitions[resource]) : undefined,
    scope === null
      ? undefined
      : scope === 'any'
        ? 'Any valid key will do.'
        : `Needs the scope ${describeScope(scope)}.`,
  ];
  return paragraphs.filter((each) => each !== undefined).join('\n\n');
}

function describeScope(scope: Scope): string {
  return `\`${scope}\` (${lower(scopes[scope])})`;
}

function describeMoves(table: Readonly<Record<string, readonly string[]>> | undefined): string {
  if (table === undefined) return 'Every move of `status` is free.';
  const states = Object.keys(table);
  const final = states.filter((from) => table[from]?.length === 0);
  const open = states.filter((from) => !final.includes(from));
  const free = open.every((from) => table[from]?.length === states.length - 1);
  const moves = free
    ? ['- any other status → every status']
    : open.map((from) => `- ${from} → ${table[from]?.join(', ')}`);
  return [
    'Moves of `status`; any other is `INVALID_TRANSITION`, and the same status again changes nothing:',
    [...moves, ...final.map((from) => `- ${from} is final; the other fields may still change`)].join('\n'),
  ].join('\n\n');
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
