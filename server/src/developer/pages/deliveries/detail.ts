import {
  type DeliveryAttempt,
  type DeliveryDetail,
  events,
  integerFromText,
  maxShownAttempts,
} from '@itsm-api/contract';
import * as z from 'zod';
import { countAttempts, getDelivery, headersOf, replayDelivery } from '../../../resources/deliveries/queries.ts';
import { form, type PageRequest, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { optional, renderForm, submit } from '../../ui/form-fields.ts';
import { badge, code, facts, html, notice, type SafeHtml, section, withQuery } from '../../ui/html.ts';
import { isPending, nextAttempt, pendingReload, stateBadge } from './delivery-table.ts';
import { getOwnerFilter } from './list.ts';

/**
 * Maximum size in bytes of the request body and of each response on the page. With the query parameter `answer`, the
 * page shows one response in full.
 */
const maxBodyBytes = 16 * 1024;
const maxResponseBytes = 300;
const shownAttempts = 20;
/** The time in milliseconds before and after the next attempt during which the page refreshes more often. */
const soon = 60_000;

const Params = z.object({ id: integerFromText() });
const Query = z.strictObject({
  /** If the value is `file`, the browser downloads the webhook's request body, exactly as the server sends it. */
  body: optional(z.literal('file')),
  /** If present, the page shows up to `maxShownAttempts` attempts. */
  attempts: optional(z.literal(String(maxShownAttempts))),
  /** The position of the attempt for which the page shows the whole response. */
  answer: optional(integerFromText()),
});
type Query = z.output<typeof Query>;

/** The page of a delivery, with its request body and its attempts. */
export const delivery = page({
  path: '/developer/deliveries/:id',
  roles: ['ADMIN', 'AGENT'],
  params: Params,
  query: Query,
  async show(request) {
    const { visit, params, query } = request;
    const found = await getDelivery(visit.context, params.id, { madeBy: getOwnerFilter(visit) });
    if (query.body !== undefined) {
      return { file: { name: `${found.eventId}.json`, type: 'application/json', content: found.body } };
    }
    const { nextAttemptAt } = found;
    const isSoon = nextAttemptAt !== null && Math.abs(Date.parse(nextAttemptAt) - visit.context.now().getTime()) < soon;
    const before = (await countAttempts(visit.context, found.id)) - found.attempts.length;
    return {
      title: `Delivery ${found.id}`,
      reload: isPending(found) ? (isSoon ? 2 : pendingReload) : undefined,
      body: html`<p class="lead"><code>${found.event}</code>, <code>${found.eventId}</code></p>
<div id="outcome" data-watched>${outcome(visit, found)}${attempts(request, found, before)}</div>
${visit.user.account.role === 'ADMIN' ? renderForm(request, 'replay', () => submit('Replay delivery', 'plain')) : null}
${section('Body', body(found))}
${section('Headers', headers(await headersOf(visit.context, found)))}`,
    };
  },
  forms: {
    replay: form({
      params: Params,
      fields: z.object({}),
      audit: 'delivery.replayed',
      roles: ['ADMIN'],
      async run({ visit, params: { id } }) {
        await replayDelivery(visit.context, id);
        return { redirect: `/developer/deliveries/${id}`, subject: `delivery ${id}`, target: { type: 'delivery', id } };
      },
    }),
  },
});

function outcome(visit: UserContext, found: Awaited<ReturnType<typeof getDelivery>>): SafeHtml {
  const { state, webhookId, url, createdAt, settledAt, nextAttemptAt } = found;
  const { time, user } = visit;
  const isAdmin = user.account.role === 'ADMIN';
  return facts({
    Status: stateBadge(state),
    Webhook: isAdmin ? html`<a href="/developer/webhooks/${webhookId}">${url}</a>` : url,
    Created: time(createdAt),
    Settled: settledAt === null ? null : time(settledAt),
    'Next attempt': nextAttemptAt === null ? null : nextAttempt(visit, nextAttemptAt),
    Ticket: renderTicketLink(found),
  });
}

/** Renders a link to the event's ticket. Returns null for test events and for events of other resources. */
function renderTicketLink({ event, eventId, body }: DeliveryDetail): SafeHtml | null {
  if (events[event].key !== 'ticket' || eventId.startsWith('evt_test_')) return null;
  const { data } = z
    .object({ ticket: z.object({ id: z.int(), ticketNumber: z.string() }) })
    .safeParse(tryParseJson(body));
  return data === undefined
    ? null
    : html`<a href="/developer/tickets/${data.ticket.id}">${data.ticket.ticketNumber}</a>`;
}

/**
 * Renders the latest attempts, newest first. The attempts of a replay continue the numbering of the earlier attempts.
 * @param before the number of earlier attempts that `attempts` doesn't contain
 */
function attempts(
  { visit, address, query }: PageRequest<UserContext, unknown, Query>,
  { id, attempts }: DeliveryDetail,
  before: number,
): SafeHtml {
  if (attempts.length === 0) return section('Attempts', html`<p>No attempts yet.</p>`);
  const numbered = attempts.map((attempt, index) => ({ attempt, position: index + 1 })).reverse();
  const shown = query.attempts === undefined ? numbered.slice(0, shownAttempts) : numbered;
  const items = shown.map(({ attempt, position }) => {
    const { startedAt, durationMs } = attempt;
    const number = before + position;
    const answer = renderResponse(
      { ...attempt, number },
      { whole: query.answer === position, link: withQuery(address, { answer: position }) },
    );
    return html`<li id="attempt-${position}"><p>${renderResult(attempt)} <b>Attempt ${number}</b>, ${visit.time(startedAt)}, took ${durationMs} ms</p>${answer}</li>`;
  });
  const hidden = numbered.length - shown.length;
  const more = html`<p><a href="${withQuery(address, { attempts: maxShownAttempts })}">Show ${hidden} earlier attempts</a></p>`;
  const isPrivate = attempts.some(({ status, answer }) => status !== null && answer === null);
  return section(
    'Attempts',
    html`<ol class="attempts">${items}</ol>${hidden > 0 ? more : null}${
      isPrivate
        ? html`<p class="hint">Responses that may come from a private network are not shown here. An operator can view them with <code>itsm deliveries show ${id}</code>.</p>`
        : null
    }`,
  );
}

/** Renders the result of a delivery attempt: the status code or the error. */
export function renderResult({ status, error }: Pick<DeliveryAttempt, 'status' | 'error'>): SafeHtml {
  if (status === null) return html`${badge('failed', 'bad')} ${error}`;
  return badge(String(status), status >= 200 && status < 300 ? 'good' : 'bad');
}

function renderResponse(
  { answer, number }: DeliveryAttempt,
  { whole, link }: { whole: boolean; link: string },
): SafeHtml | null {
  if (answer === null) return null;
  const cut = whole ? answer : truncate(answer, maxResponseBytes);
  const rest = cut === answer ? null : html`<p><a href="${link}">Show the full response</a></p>`;
  return html`${code(cut, `Response to attempt ${number}`)}${rest}`;
}

/** Renders the request body as indented JSON, with a link that downloads the unchanged body. */
function body({ body }: DeliveryDetail): SafeHtml {
  const parsed = tryParseJson(body);
  const text = parsed === undefined ? body : JSON.stringify(parsed, null, 2);
  const shown = truncate(text, maxBodyBytes);
  const rest =
    shown === text
      ? null
      : notice(html`Only the first 16 KiB of ${Math.ceil(Buffer.byteLength(text) / 1024)} KiB are shown.`, 'warn');
  return html`${rest}${code(shown, 'Body')}<p><a href="?body=file" download>Download the body</a> exactly as it is sent.</p>`;
}

function headers(sent: Record<string, string>): SafeHtml {
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
  return html`${code(lines.join('\n'), 'Headers')}<p class="hint">The signatures are those of the last attempt, computed with the current signing secret.</p>`;
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Truncates a text to a number of bytes. Never splits a character. */
function truncate(text: string, bytes: number): string {
  const all = Buffer.from(text);
  return all.length <= bytes ? text : new TextDecoder().decode(all.subarray(0, bytes), { stream: true });
}
