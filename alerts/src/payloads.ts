import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Alert } from './alert.ts';

/** Parses the webhooks of a sender. @throws ZodError if the body is invalid */
export type Parse = (body: unknown, identity: 'fingerprint' | 'groupKey') => Alert[];

/** The forms of webhooks. Grafana's has the fields of Alertmanager's, and more links. */
export const forms: Record<string, Parse> = { alertmanager: parseGroup, grafana: parseGroup, generic: parseGeneric };

const Text = z.string().min(1);
const Link = z.string().optional();
const Texts = z.record(z.string(), z.string()).default({});
const Time = z.iso.datetime({ offset: true }).transform((time) => new Date(time).toISOString());
const Status = z.enum(['firing', 'resolved']);

const Notification = z.object({
  ...{ fingerprint: Text, status: Status, labels: Texts, annotations: Texts, startsAt: Time, endsAt: Time },
  ...{ generatorURL: Link, dashboardURL: Link, panelURL: Link, silenceURL: Link, valueString: z.string().optional() },
});
type Notification = z.output<typeof Notification>;

const Group = z.object({
  ...{ status: Status, groupKey: Text, alerts: z.array(Notification).min(1), externalURL: Link },
  ...{ groupLabels: Texts, commonLabels: Texts, commonAnnotations: Texts },
});

const GenericAlert = z.strictObject({
  ...{ id: Text, status: Status, title: z.string().trim().min(1), description: z.string().default('') },
  ...{ url: Link, labels: Texts, startsAt: Time.optional(), endsAt: Time.optional() },
});
const Generic = z.strictObject({ alerts: z.array(GenericAlert).min(1) });

function parseGroup(body: unknown, identity: 'fingerprint' | 'groupKey'): Alert[] {
  const { alerts, status, groupKey, ...group } = Group.parse(body);
  if (identity === 'fingerprint') return alerts.map(toAlert);
  const firing = alerts.filter((alert) => alert.status === 'firing');
  const list = alerts.map((alert) => `${alert.status}: ${titleOf(alert)}`).join('\n');
  return [
    toAlert({
      fingerprint: groupKey,
      status,
      labels: { ...group.commonLabels, ...group.groupLabels },
      annotations: { ...group.commonAnnotations, description: list },
      // The start of the newest alert. If a person has resolved the ticket before it, the group gets a new ticket.
      startsAt: latest((firing.length > 0 ? firing : alerts).map(({ startsAt }) => startsAt)),
      endsAt: latest(alerts.map(({ endsAt }) => endsAt)),
      generatorURL: group.externalURL,
    }),
  ];
}

function parseGeneric(body: unknown): Alert[] {
  const now = new Date().toISOString();
  return Generic.parse(body).alerts.map(({ id, title, description, url, ...alert }) => {
    const { startsAt = alert.endsAt ?? now, endsAt = now } = alert;
    const annotations = { summary: title, description };
    return toAlert({ ...alert, fingerprint: id, annotations, generatorURL: url, startsAt, endsAt });
  });
}

function toAlert(notification: Notification): Alert {
  const { fingerprint, labels, annotations, status, startsAt, endsAt } = notification;
  const { generatorURL, dashboardURL, panelURL, silenceURL, valueString } = notification;
  const links = { source: generatorURL, dashboard: dashboardURL, panel: panelURL, silence: silenceURL };
  const parts = [
    annotations.description,
    valueString,
    formatPairs({ ...labels, 'started at': startsAt }),
    formatPairs({ runbook: annotations.runbook_url ?? annotations.runbook, ...links }),
  ];
  return {
    // External ids and tags can't contain all characters of a group key.
    hash: createHash('sha256').update(fingerprint).digest('hex').slice(0, 16),
    status,
    hasFired: status === 'firing',
    title: titleOf(notification),
    // The API allows 65,535 bytes, and a UTF-16 code unit has at most 3 bytes.
    description: clean(parts.filter(Boolean).join('\n\n')).slice(0, 21_000).toWellFormed(),
    labels,
    startsAt,
    endsAt,
    receivedAt: new Date().toISOString(),
  };
}

function titleOf({ labels, annotations }: Pick<Notification, 'labels' | 'annotations'>): string {
  const name = [labels.alertname ?? Object.values(labels).join(' '), labels.instance].filter(Boolean).join(' on ');
  const texts = [annotations.summary ?? '', name].map((text) => clean(text).replace(/\s+/g, ' ').trim());
  return (texts.find(Boolean) ?? 'Alert without a name').slice(0, 255).toWellFormed();
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
