import { setTimeout as sleep } from 'node:timers/promises';
import { type BulkItemResult, type ItsmClient, type ItsmError, isItsmError, type Ticket } from '@itsm-api/client';
import type { FastifyBaseLogger } from 'fastify';
import { type Decision, decide, externalIdOf, hasEnded, numberOf, tagOf } from './decision.ts';
import type { Metrics } from './metrics.ts';
import type { Settings } from './settings.ts';
import type { Entry, Spool } from './spool.ts';
import { newTicketOf, withoutReferences } from './ticket-fields.ts';

/** The maximum number of items and of filter values in a request. */
const maxBatch = 100;
/** The minimum time between two batches, so that batches contain more alerts. */
const minIntervalMs = 200;
const maxBackoffMs = 30_000;
/** The maximum number of asset tags in a request, because the URL of a request has at most 16 KiB. */
const maxAssetTags = 20;

/** An alert in a batch. */
interface Case extends Entry {
  /** The newest ticket of the alert. Absent if it has none. */
  ticket?: Ticket | undefined;
  isChanged?: boolean;
  /** Whether the service rejected the team, the assignee or the asset of the new ticket. */
  isPlain?: boolean;
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
  #additions: Promise<void> = Promise.resolve();
  /** The last link or comment for each alert, which the sender adds only once. */
  readonly #lastAdditions = new Map<string, string>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Sends alerts until the signal aborts. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      await this.#untilDone(() => this.#sendBatch());
      await pause(minIntervalMs, signal);
    }
    await this.#additions;
  }

  /** Repeats `work` until it succeeds or the signal aborts. */
  async #untilDone(work: () => Promise<void>): Promise<void> {
    const { logger, metrics, signal } = this.#options;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted) return;
        const { code = 'UNKNOWN', message, requestId, retryAfterSeconds = 0 } = error as Partial<ItsmError>;
        metrics.failures.inc({ code });
        logger.warn({ code, requestId }, `Alerts wait in the spool: ${message}`);
        const backoffMs = Math.min(maxBackoffMs, 1000 * 2 ** failures) * (1 - Math.random() / 2);
        await pause(Math.max(backoffMs, retryAfterSeconds * 1000), signal);
      }
    }
  }

  /** Sends the oldest alerts. @throws ItsmError if the service is unavailable; the alerts then wait again */
  async #sendBatch(): Promise<void> {
    const { spool, settings, signal } = this.#options;
    const open = new Set<Case>(await spool.take(maxBatch, signal));
    try {
      await this.#findNewest([...open]);
      while (open.size > 0) {
        const steps = [...open].map(
          (each): Step => [each, decide(each.alert, each.ticket, settings.reopenWithinHours)],
        );
        const { none = [], create = [], reopen = [], resolve = [] } = Object.groupBy(steps, ([, { change }]) => change);
        for (const [each] of none) open.delete(each);
        this.#finish(none.map(([each]) => each));
        const rejected = [...(await this.#create(create)), ...(await this.#update([...reopen, ...resolve]))];
        for (const each of rejected) open.delete(each);
      }
    } catch (error) {
      spool.release(open);
      throw error;
    }
  }

  /** Finds the newest ticket of each alert. */
  async #findNewest(cases: Case[]): Promise<void> {
    const { client, signal } = this.#options;
    for (let missing = cases; missing.length > 0; ) {
      const tag = missing.map(({ alert }) => tagOf(alert));
      const { data, hasNext } = await client.tickets.list({ tag, perPage: 100 }, { signal });
      for (const each of missing) each.ticket = data.find((ticket) => numberOf(each.alert, ticket) > 0);
      const left = missing.filter(({ ticket }) => ticket === undefined);
      // An alert can have many tickets, so the tickets of the other alerts can be on later pages.
      missing = hasNext && left.length < missing.length ? left : [];
    }
  }

  /** Creates tickets, and returns the alerts that the service rejects. */
  async #create(steps: Step[]): Promise<Case[]> {
    const { client, settings, signal } = this.#options;
    const assetTags = new Set(steps.flatMap(([{ alert }]) => settings.asset?.(alert.labels) ?? []));
    const assets = new Map<string, number>();
    for (let left = [...assetTags]; left.length > 0; left = left.slice(maxAssetTags)) {
      const { data } = await client.assets.list({ assetTag: left.slice(0, maxAssetTags) }, { signal });
      for (const asset of data) assets.set(asset.assetTag, asset.id);
    }
    const tickets = steps.map(([{ alert, isPlain }, { externalId }]) => {
      const ticket = newTicketOf(alert, externalId, settings, assets);
      return isPlain ? withoutReferences(ticket) : ticket;
    });
    return this.#apply(steps, (await client.tickets.createMany(tickets, { signal })).results);
  }

  /** Reopens and resolves tickets, and returns the alerts that the service rejects. */
  async #update(steps: Step[]): Promise<Case[]> {
    const { client, signal } = this.#options;
    const patches = steps.flatMap(([, { patch }]) => patch ?? []);
    return this.#apply(steps, (await client.tickets.updateMany(patches, { signal })).results);
  }

  /** Stores the results of a bulk request in its cases, and returns the alerts that the service rejects. */
  async #apply(steps: Step[], results: BulkItemResult<object, Ticket>[]): Promise<Case[]> {
    const { client, metrics, logger, signal } = this.#options;
    const rejected: Case[] = [];
    /** The alerts whose ticket another program has created or changed in the meantime, by external id. */
    const outdated = new Map<string, Case>();
    for (const { index, ...result } of results) {
      const [each, { change, externalId }] = steps[index] as Step;
      if (result.ok) {
        // If the clocks differ, the ticket of the alert can seem to have ended before the alert started.
        Object.assign(each, { ticket: result.data, isChanged: true, alert: { ...each.alert, hasFired: false } });
        metrics.changes.inc({ change });
        continue;
      }
      const { error } = result;
      if (error.code === 'EXTERNAL_ID_EXISTS' || error.code === 'PRECONDITION_FAILED') outdated.set(externalId, each);
      else if (!isRejection(error)) throw error;
      else {
        const { code, details, message } = error;
        const { hash, title } = each.alert;
        logger.error({ code, details, hash, title }, `The service rejected the ticket of an alert: ${message}`);
        metrics.rejections.inc({ code });
        if (change !== 'create' || each.isPlain) rejected.push(each);
        each.isPlain = true;
      }
    }
    if (outdated.size > 0) {
      const { data } = await client.tickets.list({ externalId: [...outdated.keys()], perPage: 100 }, { signal });
      for (const [externalId, each] of outdated) {
        each.ticket = data.find((ticket) => ticket.externalId === externalId);
        if (each.ticket === undefined) throw new Error(`The API key can't read the ticket ${externalId}.`);
      }
    }
    return rejected;
  }

  /** Removes alerts from the spool. If a ticket needs a link or a comment, adds it first. */
  #finish(cases: Case[]): void {
    const { spool, metrics } = this.#options;
    const additions = cases.map((each) => ({ each, addition: this.#additionOf(each) }));
    spool.remove(additions.flatMap(({ each, addition }) => (addition ? [] : [each])));
    for (const { each, addition } of additions) {
      if (addition === undefined) continue;
      const work = async () => {
        try {
          await addition.add();
          metrics.changes.inc({ change: addition.change });
        } catch (error) {
          // The ticket already has the link or the comment.
          if (!isItsmError(error) || !isRejection(error)) throw error;
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
}

/** Returns true if a repeated request would fail again, because the error is about its content. */
function isRejection({ status }: ItsmError): boolean {
  return status === 400 || status === 404;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
