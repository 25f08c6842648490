import { setTimeout as sleep } from 'node:timers/promises';
import { type BulkItemResult, type ItsmClient, type ItsmError, isItsmError, type Ticket } from '@itsm-api/client';
import type { FastifyBaseLogger } from 'fastify';
import type { Alert } from './alert.ts';
import { describeUnfilled, findDefinitions, findUnfilled } from './custom-fields.ts';
import {
  type AlertTicket,
  type Decision,
  decide,
  externalIdOf,
  hasEnded,
  needsCancellation,
  numberOf,
  tagOf,
} from './decision.ts';
import type { Metrics } from './metrics.ts';
import type { Settings } from './settings.ts';
import type { Entry, Spool } from './spool.ts';
import { newTicketOf, optionalFields } from './ticket-fields.ts';

/** The maximum number of items and of filter values in a request. */
const maxBatch = 100;
/** The minimum time between two batches, so that batches contain more alerts. */
const minIntervalMs = 200;
const maxBackoffMs = 30_000;
const maxRetryAfterMs = 60 * 60_000;
/** The time after which the program sends a rejected alert again. */
const rejectionPauseMs = 10 * 60_000;
/** The number of responses with the status 500 after which the program looks for the alert that causes them. */
const maxInternalErrors = 3;
/** The maximum number of times that a ticket is read again because another program has created or changed it. */
const maxConflicts = 5;
/** The maximum number of external ids of an alert in a request. */
const maxWidth = 10;
/** The maximum size of a query in bytes. The service allows 16 KiB for the URL and the headers, and many proxies 8 KiB. */
const maxQueryBytes = 6 * 1024;

/** An alert in a batch. */
interface Case extends Entry {
  /** The newest ticket of the alert. Absent if it has none. */
  ticket?: AlertTicket | undefined;
  isChanged?: boolean;
  /** Whether the batch has finished with the alert. */
  isDone?: boolean;
  /** How often the service rejected each field of the new ticket. */
  rejectedFields: Map<string, number>;
  /** How often another program has created or changed the ticket in the meantime. */
  conflicts: number;
  /** Whether the service doesn't allow to reopen the ticket, for example because of its policy for changes. */
  isFinal?: boolean;
}

type Step = [each: Case, decision: Decision];

interface SenderOptions {
  client: ItsmClient;
  spool: Spool;
  settings: Settings;
  metrics: Metrics;
  logger: FastifyBaseLogger;
  /** Stops the sender. */
  signal: AbortSignal;
}

/**
 * Sends the alerts in the spool to the service in batches. The client waits for the rate limits. A link or a comment
 * needs a request of its own, so the sender adds them one at a time, beside the batches.
 */
export class Sender {
  readonly #options: SenderOptions;
  /** Resolves after all links and comments. */
  #additions = Promise.resolve();
  /** The last link or comment for each alert, which the sender adds only once. */
  readonly #lastAdditions = new Map<string, string>();
  /** The time by the clock of the server minus the time by the clock of this program, in milliseconds. */
  #clockDifferenceMs = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Sends alerts until the signal aborts. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    const warnings = this.#untilDone(() => this.#warnAboutFields());
    while (!signal.aborted) {
      await this.#untilDone((isPersistent) => this.#sendBatch(isPersistent));
      await pause(minIntervalMs, signal);
    }
    await Promise.all([warnings, this.#additions]);
  }

  /**
   * Repeats `work` until it succeeds or the signal aborts. The pauses grow. Passes to `work` whether another 500 would be
   * the third.
   */
  async #untilDone(work: (isPersistent: boolean) => Promise<void>): Promise<void> {
    const { logger, metrics, signal } = this.#options;
    let internalErrors = 0;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        return await work(internalErrors + 1 >= maxInternalErrors);
      } catch (error) {
        if (signal.aborted) return;
        const { code = 'UNKNOWN', message, requestId, status, retryAfterSeconds = 0 } = error as Partial<ItsmError>;
        metrics.failures.inc({ code });
        if (status === 500) internalErrors += 1;
        logger.warn({ code, requestId }, `Alerts wait in the spool: ${message}`);
        const backoffMs = Math.min(maxBackoffMs, 1000 * 2 ** failures) * (1 - Math.random() / 2);
        await pause(Math.max(backoffMs, Math.min(maxRetryAfterMs, retryAfterSeconds * 1000)), signal);
      }
    }
  }

  /** Sends the oldest alerts. @throws ItsmError if the service is unavailable; the alerts then wait again */
  async #sendBatch(isPersistent: boolean): Promise<void> {
    const { spool, signal } = this.#options;
    const entries = await spool.take(maxBatch, signal);
    const cases = entries.map((entry): Case => ({ ...entry, rejectedFields: new Map(), conflicts: 0 }));
    try {
      await this.#send(cases, isPersistent);
    } finally {
      spool.release(openOf(cases));
    }
  }

  /**
   * Sends alerts. If the service rejects a whole request, sends the alerts in two halves, until only the alert that
   * causes the error is left.
   */
  async #send(cases: Case[], isPersistent: boolean): Promise<void> {
    try {
      await this.#sendTogether(cases);
    } catch (error) {
      if (isTemporary(error, isPersistent)) throw error;
      const open = openOf(cases);
      if (open.length === 1) return this.#reject(open[0] as Case, error as Error);
      const middle = Math.ceil(open.length / 2);
      for (const part of [open.slice(0, middle), open.slice(middle)]) await this.#send(part, isPersistent);
    }
  }

  async #sendTogether(cases: Case[]): Promise<void> {
    const { settings } = this.#options;
    await this.#findByTag(openOf(cases));
    await this.#findByNumber(openOf(cases), 1);
    for (let open = openOf(cases); open.length > 0; open = openOf(cases)) {
      await this.#findCancellations(open);
      const now = Date.now() + this.#clockDifferenceMs;
      const steps = open.map((each): Step => {
        const reopenWithinHours = each.isFinal ? 0 : settings.reopenWithinHours;
        return [each, decide(each.alert, each.ticket, reopenWithinHours, now)];
      });
      const { none = [], create = [], reopen = [], resolve = [] } = Object.groupBy(steps, ([, { change }]) => change);
      this.#finish(none.map(([each]) => each));
      await this.#create(create);
      await this.#update([...reopen, ...resolve]);
    }
  }

  /** Finds the newest ticket with the tag of each alert. */
  async #findByTag(cases: Case[]): Promise<void> {
    for (let missing = cases; missing.length > 0; ) {
      const tag = missing.map(({ alert }) => tagOf(alert));
      const { data, hasNext } = await this.#listTickets({ tag });
      for (const each of missing) each.ticket = data.find((ticket) => numberOf(each.alert, ticket) > 0);
      const left = missing.filter(({ ticket }) => ticket === undefined);
      // An alert can have many tickets, so the tickets of the other alerts can be on later pages.
      missing = hasNext && left.length < missing.length ? left : [];
    }
  }

  /**
   * Finds the newest ticket of each alert by its external ids, because people can replace its tags.
   * @param step 1 to look only for newer tickets, 0 to read the known ticket again
   */
  async #findByNumber(cases: Case[], step: 0 | 1): Promise<void> {
    let left = cases.map((each) => ({ each, next: Math.max(1, numberOf(each.alert, each.ticket) + step) }));
    while (left.length > 0) {
      const width = Math.min(maxWidth, Math.floor(maxBatch / left.length));
      const externalId = left.flatMap(({ each, next }) =>
        Array.from({ length: width }, (_, index) => externalIdOf(each.alert, next + index)),
      );
      const { data } = await this.#listTickets({ externalId });
      const tickets = new Map(data.map((ticket) => [ticket.externalId, ticket]));
      left = left.flatMap(({ each, next }) => {
        const last = next + width;
        while (next < last && tickets.has(externalIdOf(each.alert, next))) {
          each.ticket = tickets.get(externalIdOf(each.alert, next));
          next += 1;
        }
        return next === last ? [{ each, next }] : [];
      });
    }
  }

  /** Finds when the tickets were cancelled whose alerts started before their last change. */
  async #findCancellations(cases: Case[]): Promise<void> {
    const { client, signal } = this.#options;
    for (const { alert, ticket } of cases) {
      if (ticket === undefined || !needsCancellation(alert, ticket)) continue;
      for await (const { at, changes } of client.activities.ofTicket(ticket.id, { perPage: 100 }, { signal })) {
        if (changes.status?.to !== 'CANCELLED') continue;
        ticket.cancelledAt = at;
        break;
      }
    }
  }

  /** Lists tickets, and learns the time of the server. */
  async #listTickets(filter: { tag: string[] } | { externalId: string[] }) {
    const { client, signal } = this.#options;
    const { data, headers } = await client.tickets.list({ ...filter, perPage: 100 }, { signal }).withResponse();
    const serverTime = Date.parse(headers.get('date') ?? '');
    if (!Number.isNaN(serverTime)) this.#clockDifferenceMs = serverTime - Date.now();
    return data;
  }

  async #create(steps: Step[]): Promise<void> {
    const { client, settings, signal } = this.#options;
    if (steps.length === 0) return;
    const hasFields = Object.keys(settings.customFields).length > 0;
    const definitions = hasFields ? await findDefinitions(client, { signal }) : [];
    const types = new Map(definitions.map(({ key, type }) => [key, type]));
    const assets = await this.#findAssets(steps.map(([{ alert }]) => alert));
    const tickets = steps.map(([{ alert, rejectedFields }, { externalId }]) =>
      newTicketOf(alert, externalId, { settings, assets, types, rejectedFields }),
    );
    await this.#apply(steps, (await client.tickets.createMany(tickets, { signal })).results);
  }

  /** Returns the ids of the assets of alerts, by asset tag. */
  async #findAssets(alerts: Alert[]): Promise<ReadonlyMap<string, number>> {
    const { client, settings, signal } = this.#options;
    const assets = new Map<string, number>();
    const left = [...new Set(alerts.flatMap(({ labels }) => settings.asset?.(labels) ?? []))];
    while (left.length > 0) {
      let bytes = 0;
      const end = left.findIndex((tag, index) => {
        bytes += new URLSearchParams({ assetTag: tag }).toString().length + 1;
        return index === maxBatch || bytes > maxQueryBytes;
      });
      const assetTag = left.splice(0, end === -1 ? left.length : end);
      try {
        const { data } = await client.assets.list({ assetTag, perPage: 100 }, { signal });
        for (const asset of data) assets.set(asset.assetTag.normalize('NFC'), asset.id);
      } catch (error) {
        // A label that can't be an asset tag costs only the asset.
        if (assetTag.length > 1 || isTemporary(error, false)) throw error;
      }
    }
    return assets;
  }

  /** Reopens and resolves tickets. */
  async #update(steps: Step[]): Promise<void> {
    const { client, signal } = this.#options;
    if (steps.length === 0) return;
    const patches = steps.flatMap(([, { patch }]) => patch ?? []);
    await this.#apply(steps, (await client.tickets.updateMany(patches, { signal })).results);
  }

  /** Stores the results of a bulk request in its cases. @throws ItsmError if the service rejected a whole request */
  async #apply(steps: Step[], results: BulkItemResult<object, Ticket>[]): Promise<void> {
    const { metrics } = this.#options;
    const conflicting: Case[] = [];
    let failure: ItsmError | undefined;
    for (const { index, ...result } of results) {
      const [each, { change }] = steps[index] as Step;
      if (result.ok) {
        // If the clocks differ, the ticket of the alert can seem to have ended before the alert started.
        Object.assign(each, { ticket: result.data, isChanged: true, alert: { ...each.alert, hasFired: false } });
        metrics.changes.inc({ change });
        continue;
      }
      const { error } = result;
      const isConflict = error.code === 'EXTERNAL_ID_EXISTS' || error.code === 'PRECONDITION_FAILED';
      // The error of an item has a status, but no headers.
      if (error.status === undefined || error.headers !== undefined) failure ??= error;
      else if (isConflict && ++each.conflicts <= maxConflicts) conflicting.push(each);
      else if (change === 'reopen' && error.code === 'INVALID_TRANSITION') each.isFinal = true;
      else if (change !== 'create' || !this.#omitFields(each, error)) this.#reject(each, error);
    }
    if (failure !== undefined) throw failure;
    // Another program has created or changed the tickets in the meantime.
    await this.#findByNumber(conflicting, 0);
  }

  /** Omits the optional fields that the service rejected from the new ticket. Returns false if there are none. */
  #omitFields({ alert, rejectedFields }: Case, { code, details, message }: ItsmError): boolean {
    const { settings, logger } = this.#options;
    const fields = optionalFields(settings).filter((field) => {
      const isRejected = details.some(({ path }) => path === field || path.startsWith(`${field}.`));
      return isRejected && (rejectedFields.get(field) ?? 0) < 2;
    });
    for (const field of fields) rejectedFields.set(field, (rejectedFields.get(field) ?? 0) + 1);
    if (fields.length === 0) return false;
    const { hash, title } = alert;
    logger.warn({ code, details, hash, title }, `The ticket of an alert is created without ${fields}: ${message}`);
    return true;
  }

  /** Stops sending an alert, so that it doesn't hold up others, and sends it again later. */
  #reject(each: Case, error: Error): void {
    const { spool, metrics, logger, signal } = this.#options;
    const { code = 'UNKNOWN', details, message } = error as Partial<ItsmError>;
    const { hash, title } = each.alert;
    logger.error({ code, details, hash, title }, `The service rejected the ticket of an alert: ${message}`);
    metrics.rejections.inc({ code });
    each.isDone = true;
    void pause(rejectionPauseMs, signal).then(() => spool.release([each]));
  }

  /** Removes alerts from the spool. If a ticket needs a link or a comment, adds it first. */
  #finish(cases: Case[]): void {
    const { spool, metrics, logger } = this.#options;
    const additions = cases.map((each) => ({ each, addition: this.#additionOf(each) }));
    for (const each of cases) {
      each.isDone = true;
      const { alert, ticket } = each;
      if (!alert.hasFired || alert.status !== 'firing' || ticket === undefined || !hasEnded(ticket)) continue;
      const { hash, title } = alert;
      logger.info({ hash, title }, `The alert still fires, but a person has ended ${ticket.ticketNumber}.`);
    }
    spool.remove(additions.flatMap(({ each, addition }) => (addition ? [] : [each])));
    for (const { each, addition } of additions) {
      if (addition === undefined) continue;
      const work = async (isPersistent: boolean) => {
        try {
          await addition.add();
          metrics.changes.inc({ change: addition.change });
        } catch (error) {
          if (isTemporary(error, isPersistent)) throw error;
          const { code = 'UNKNOWN', message, status } = error as Partial<ItsmError>;
          // With 400 and 404, the ticket already has the link or the comment, or the earlier ticket is gone.
          if (status !== 400 && status !== 404) {
            this.#lastAdditions.delete(each.alert.hash);
            metrics.rejections.inc({ code });
            logger.error({ code, hash: each.alert.hash }, `The service rejected a ${addition.change}: ${message}`);
          }
        }
        spool.remove([each]);
      };
      this.#additions = this.#additions.then(() => this.#untilDone(work));
    }
  }

  /** Returns the link or the comment that the ticket of an alert needs. Returns the same addition only once. */
  #additionOf({ alert, ticket, isChanged }: Case): { change: string; add(): Promise<unknown> } | undefined {
    const { client, settings, signal } = this.#options;
    if (ticket === undefined) return undefined;
    const number = numberOf(alert, ticket);
    const needsLink = number > 1 && ticket.linkCount === 0;
    const isRepeated = alert.status === 'firing' && !isChanged && !hasEnded(ticket);
    if (!needsLink && !(isRepeated && settings.repeat === 'comment')) return undefined;

    // The service accepts only one comment with this external id, which contains the hour.
    const now = new Date().toISOString();
    const externalId = `${ticket.externalId}:${needsLink ? 'link' : now.slice(0, 'yyyy-mm-ddThh'.length)}`;
    if (this.#lastAdditions.get(alert.hash) === externalId) return undefined;
    // Without a limit, the map would grow with each alert. The service rejects a repeated external id anyway.
    if (this.#lastAdditions.size >= 10_000) this.#lastAdditions.clear();
    this.#lastAdditions.set(alert.hash, externalId);
    if (!needsLink) {
      const comment = { body: `The alert is still firing at ${now}.`, visibility: 'INTERNAL', externalId } as const;
      return { change: 'comment', add: () => client.comments.create(ticket.id, comment, { signal }) };
    }
    const add = async () => {
      const { data } = await client.tickets.list({ externalId: externalIdOf(alert, number - 1) }, { signal });
      const links = data.map(({ id }) => ({ type: 'RELATES_TO', ticketId: id }) as const);
      for (const link of links) await client.links.create(ticket.id, link, { signal });
    };
    return { change: 'link', add };
  }

  /** Logs the required custom fields that the settings may not fill. */
  async #warnAboutFields(): Promise<void> {
    const { client, settings, logger, signal } = this.#options;
    try {
      const keys = findUnfilled(await findDefinitions(client, { signal }), settings);
      for (const field of keys) logger.warn({ field }, describeUnfilled(field));
    } catch (error) {
      if (isTemporary(error, true)) throw error;
      logger.warn(`The definitions of custom fields can't be read: ${(error as Error).message}`);
    }
  }
}

/** Returns the alerts that a batch hasn't finished with. */
function openOf(cases: Case[]): Case[] {
  return cases.filter(({ isDone }) => !isDone);
}

/**
 * Returns true if a later repetition of a request can succeed.
 * @param isPersistent whether a 500 counts as permanent, because it is the third
 */
function isTemporary(error: unknown, isPersistent: boolean): boolean {
  // The only other errors that time can correct are those of the spool.
  if (!isItsmError(error)) return (error as { code?: string }).code === 'ERR_SQLITE_ERROR';
  const { code, status } = error;
  const isFromService = code !== 'UNEXPECTED_ANSWER';
  if (status === undefined) return isFromService;
  if (status === 500 && isPersistent) return false;
  if (!isFromService && (status < 400 || status === 404)) return true;
  return status >= 500 || [401, 403, 408, 409, 429].includes(status);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
