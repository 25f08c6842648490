import type { CustomFieldValue, NewTicketItem } from '@itsm-api/client';
import type { Alert } from './alert.ts';
import { toFieldValue } from './custom-fields.ts';
import { tagOf } from './decision.ts';
import type { Settings } from './settings.ts';

/** The maximum size of the custom fields of a ticket, in bytes of JSON. */
const maxFieldBytes = 16_384;

interface TicketOptions {
  settings: Settings;
  /** The ids of the known assets, by asset tag. */
  assets: ReadonlyMap<string, number>;
  /** The types of the defined custom fields, by key. */
  types: ReadonlyMap<string, string>;
  /** How often the service rejected each field (`optionalFields`). */
  rejectedFields: ReadonlyMap<string, number>;
}

/** Returns the new ticket of an alert, without the optional fields that the service rejected. */
export function newTicketOf(alert: Alert, externalId: string, options: TicketOptions): NewTicketItem {
  const { settings, assets, rejectedFields } = options;
  const { title, description, labels } = alert;
  const asset = assets.get(settings.asset?.(labels) ?? '');
  const accepted = <Value>(name: string, value: Value) => (rejectedFields.has(name) ? undefined : value);
  return {
    title,
    description,
    externalId,
    type: settings.type,
    priority: settings.priority(labels),
    category: settings.category(labels) ?? 'OTHER',
    teamId: accepted('teamId', settings.team?.(labels)),
    assigneeId: accepted('assigneeId', settings.assignee?.(labels) as `${string}@${string}` | undefined),
    assetIds: accepted('assetIds', asset === undefined ? [] : [asset]),
    tags: [tagOf(alert), ...settings.tags.fixed, ...settings.tags.labels.flatMap((name) => labelTag(name, labels))],
    customFields: customFieldsOf(alert, options),
  };
}

/** Returns the names of the fields that a ticket can lack, as in the paths of error details. */
export function optionalFields({ customFields }: Settings): string[] {
  return ['teamId', 'assigneeId', 'assetIds', ...Object.keys(customFields).map((key) => `customFields.${key}`)];
}

function customFieldsOf({ labels }: Alert, { settings, types, rejectedFields }: TicketOptions) {
  let fields: Record<string, CustomFieldValue> = {};
  for (const [key, field] of Object.entries(settings.customFields)) {
    // After the value of the label, the default is tried.
    const values = [field(labels), field({})];
    const value = values[rejectedFields.get(`customFields.${key}`) ?? 0];
    if (value === undefined) continue;
    const next = { ...fields, [key]: toFieldValue(types.get(key), value) };
    // A label has any length.
    if (Buffer.byteLength(JSON.stringify(next)) <= maxFieldBytes) fields = next;
  }
  return fields;
}

/** Returns a tag such as `severity:critical`. Replaces the characters that tags can't contain. */
function labelTag(name: string, labels: Record<string, string>): string[] {
  if (!labels[name]) return [];
  const text = `${name}:${labels[name]}`.toLowerCase().normalize('NFC');
  const tag = text.replace(/[^\p{L}\p{M}\p{Nd}:_./-]+/gu, '-').replace(/^[^\p{L}\p{Nd}]+/u, '');
  // A tag must not end with half of a character.
  return [tag.slice(0, 50).replace(/[\ud800-\udbff]$/, '')].filter(Boolean);
}
