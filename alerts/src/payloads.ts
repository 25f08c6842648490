import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Alert } from './alert.ts';

/** The maximum number of alerts in a webhook. */
const maxAlerts = 10_000;
/** The maximum number of faults in a response, and of characters in a fault. */
const [maxFaults, maxFaultLength] = [20, 200];

/** The alerts of a webhook that are readable, and why the others aren't. */
interface Webhook {
  alerts: Alert[];
  /** The number of unreadable alerts. */
  skipped: number;
  /** The faults of the unreadable alerts, at most 20. */
  faults: string[];
}

/** A webhook whose body has another form, or too many alerts. */
class InvalidWebhookError extends Error {
  /** The status of the response. */
  readonly statusCode: 400 | 413;

  constructor(statusCode: 400 | 413, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Parses the webhooks of a sender. @throws InvalidWebhookError */
export type Parse = (body: unknown, identity: 'fingerprint' | 'groupKey') => Webhook;

/** The forms of webhooks. Grafana's has the fields of Alertmanager's, and more links. */
export const forms: Record<string, Parse> = { alertmanager: parseGroup, grafana: parseGroup, generic: parseGeneric };

/** Keeps the fields of an object whose values fulfil a condition. Returns anything else unchanged. */
function keepFields(given: unknown, isKept: (value: unknown, name: string) => boolean): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => isKept(value, name)));
}

/** Removes the fields of an object that are null. */
function withoutNulls(given: unknown): unknown {
  return keepFields(given, (value) => value !== null);
}

/** Removes the fields of an alert that are null, and the end of an alert that fires, which senders fill differently. */
function withoutUnused(given: unknown): unknown {
  const isFiring = Object(given).status === 'firing';
  return keepFields(given, (value, name) => value !== null && !(isFiring && name === 'endsAt'));
}

const Text = z.union([z.string(), z.number(), z.boolean()], 'must be a text').transform(String);
const Id = Text.pipe(z.string().min(1));
const Link = z.string().optional().catch(undefined);
const Time = z.iso.datetime({ offset: true }).transform((time) => new Date(time).toISOString());
const Status = z.enum(['firing', 'resolved']);

/** Labels or annotations. Validation stops at the first fault, because a webhook can contain many. */
const Texts = z
  .preprocess(
    withoutNulls,
    z.custom<object>((given) => typeof given === 'object' && !Array.isArray(given)),
  )
  .transform((given, context) => {
    const texts: Record<string, string> = {};
    for (const [name, value] of Object.entries(given)) {
      if (typeof value === 'object') {
        context.addIssue({ code: 'custom', path: [name], message: 'must be a text' });
        return z.NEVER;
      }
      texts[name] = clean(String(value)).toWellFormed();
    }
    return texts;
  })
  .default({});

/** Annotations. Those that aren't texts are ignored, because they only add to the description. */
const Annotations = z.preprocess((given) => keepFields(given, (value) => typeof value !== 'object'), Texts).catch({});

const times = { startsAt: Time.optional(), endsAt: Time.optional() };
const links = { generatorURL: Link, dashboardURL: Link, panelURL: Link, silenceURL: Link, valueString: Link };

const Notification = z.preprocess(
  withoutUnused,
  z
    .object({
      fingerprint: Text.optional(),
      status: Status,
      labels: Texts,
      annotations: Annotations,
      ...times,
      ...links,
    })
    .refine(({ fingerprint, labels }) => fingerprint || Object.keys(labels).length > 0, 'needs a fingerprint or labels')
    .transform(withTimes),
);
type Notification = z.output<typeof Notification>;

const Group = z.preprocess(
  withoutNulls,
  z.object({
    ...{ alerts: z.array(z.unknown()).min(1), status: Status.optional().catch(undefined) },
    ...{ groupKey: Text.optional(), externalURL: Link },
    ...{ groupLabels: Texts.catch({}), commonLabels: Texts.catch({}), commonAnnotations: Annotations },
  }),
);

const GenericAlert = z.preprocess(
  withoutUnused,
  z
    .strictObject({
      id: Id,
      status: Status,
      title: Text.pipe(z.string().trim().min(1)),
      description: Text.default(''),
      url: Link,
      labels: Texts,
      ...times,
    })
    .transform(withTimes),
);
const Generic = z.preprocess(withoutNulls, z.strictObject({ alerts: z.array(z.unknown()).min(1) }));

/** Adds the current time if an alert lacks a time. If only its end is known, the end is also its start. */
function withTimes<Given extends { status: string; startsAt?: string | undefined; endsAt?: string | undefined }>(
  given: Given,
) {
  const { endsAt = new Date().toISOString() } = given;
  const { startsAt = given.status === 'resolved' ? endsAt : new Date().toISOString() } = given;
  return { ...given, startsAt, endsAt };
}

function parseGroup(body: unknown, identity: 'fingerprint' | 'groupKey'): Webhook {
  const { groupKey, ...group } = parseBody(Group, body);
  const { readable, ...faults } = parseAlerts(Notification, group.alerts);
  if (identity === 'fingerprint') return { alerts: readable.map(toAlert), ...faults };
  if (!groupKey) throw new InvalidWebhookError(400, 'groupKey is required because of `identity: groupKey`.');
  if (readable.length === 0) return { alerts: [], ...faults };
  const firing = readable.filter((alert) => alert.status === 'firing');
  const list = readable.map((alert) => `${alert.status}: ${titleOf(alert)}`).join('\n');
  const alert = toAlert({
    fingerprint: groupKey,
    status: group.status ?? (firing.length > 0 ? 'firing' : 'resolved'),
    labels: { ...group.commonLabels, ...group.groupLabels },
    annotations: { ...group.commonAnnotations, description: list },
    // The start of the newest alert. If a person has resolved the ticket before it, the group gets a new ticket.
    startsAt: latest((firing.length > 0 ? firing : readable).map(({ startsAt }) => startsAt)),
    endsAt: latest(readable.map(({ endsAt }) => endsAt)),
    generatorURL: group.externalURL,
  });
  return { alerts: [alert], ...faults };
}

function parseGeneric(body: unknown): Webhook {
  const { readable, ...faults } = parseAlerts(GenericAlert, parseBody(Generic, body).alerts);
  const alerts = readable.map(({ id, title, description, url, ...alert }) => {
    return toAlert({ ...alert, fingerprint: id, annotations: { summary: title, description }, generatorURL: url });
  });
  return { alerts, ...faults };
}

/** Parses a body without its alerts. @throws InvalidWebhookError */
function parseBody<Body>(schema: z.ZodType<Body>, body: unknown): Body {
  const { alerts } = Object(body);
  if (Array.isArray(alerts) && alerts.length > maxAlerts) {
    const message = `The webhook has ${alerts.length} alerts. Send at most ${maxAlerts} in each webhook.`;
    throw new InvalidWebhookError(413, message);
  }
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new InvalidWebhookError(400, `The webhook is invalid. ${faultsOf(result.error, '').join('; ')}`);
}

/** Parses the alerts of a body, and skips those that are unreadable. */
function parseAlerts<Given>(schema: z.ZodType<Given>, alerts: unknown[]) {
  const readable: Given[] = [];
  const faults: string[] = [];
  for (const [index, alert] of alerts.entries()) {
    const result = schema.safeParse(alert);
    if (result.success) readable.push(result.data);
    else if (faults.length < maxFaults) faults.push(...faultsOf(result.error, `alerts[${index}]`));
  }
  return { readable, skipped: alerts.length - readable.length, faults: faults.slice(0, maxFaults) };
}

function faultsOf(error: z.ZodError, place: string): string[] {
  return error.issues.slice(0, maxFaults).map(({ path, message }) => {
    const fault = `${[place, ...path].filter((part) => part !== '').join('.')}: ${message}`;
    return (fault.length > maxFaultLength ? `${fault.slice(0, maxFaultLength)}…` : fault).toWellFormed();
  });
}

function toAlert(notification: Notification): Alert {
  const { labels, annotations, status, startsAt, endsAt } = notification;
  const { generatorURL, dashboardURL, panelURL, silenceURL, valueString } = notification;
  const links = { source: generatorURL, dashboard: dashboardURL, panel: panelURL, silence: silenceURL };
  const title = titleOf(notification);
  const parts = [
    toLine(annotations.summary).startsWith(title) ? undefined : annotations.summary,
    annotations.description,
    valueString,
    formatPairs({ ...labels, 'started at': startsAt }),
    formatPairs({ runbook: annotations.runbook_url ?? annotations.runbook, ...links }),
  ];
  return {
    // External ids and tags can't contain all characters of a group key.
    hash: createHash('sha256').update(identityOf(notification)).digest('hex').slice(0, 16),
    status,
    hasFired: status === 'firing',
    title,
    // The API allows 65,535 bytes, and a UTF-16 code unit has at most 3 bytes.
    description: clean(parts.filter(Boolean).join('\n\n')).slice(0, 21_000).toWellFormed(),
    labels,
    startsAt,
    endsAt,
    receivedAt: new Date().toISOString(),
  };
}

/**
 * Returns the text that identifies an alert. The labels of an alert without a fingerprint identify it. The text must be
 * the same in every release, because the tickets of an alert are found by it.
 */
function identityOf({ fingerprint, labels }: Pick<Notification, 'fingerprint' | 'labels'>): string {
  return fingerprint || JSON.stringify(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The alerts that Grafana sends instead of those of a rule, with the name of the rule in the label `rulename`. */
const ruleFailures: Record<string, string> = { DatasourceNoData: 'No data', DatasourceError: 'Error' };

function titleOf({ labels, annotations }: Pick<Notification, 'labels' | 'annotations'>): string {
  const failure = labels.rulename && ruleFailures[labels.alertname ?? ''];
  const rule = failure ? `${failure}: ${labels.rulename}` : labels.alertname;
  const name = [rule ?? Object.values(labels).join(' '), labels.instance].filter(Boolean).join(' on ');
  // The summary of a rule describes its problem, which a rule without data may not have.
  const texts = [failure ? '' : annotations.summary, name].map(toLine);
  return (texts.find(Boolean) ?? 'Alert without a name').slice(0, 255).toWellFormed();
}

function toLine(text = ''): string {
  return clean(text).replace(/\s+/g, ' ').trim();
}

function formatPairs(pairs: Record<string, string | undefined>): string {
  return Object.entries(pairs)
    .flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))
    .join('\n');
}

function latest(times: string[]): string {
  return times.toSorted().at(-1) ?? '';
}

/** Removes the control characters that the API rejects. */
function clean(text: string): string {
  return text.replace(/[\p{Cc}--[\t\n\r]]/gv, '');
}
