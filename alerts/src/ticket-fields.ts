import type { NewTicketItem } from '@itsm-api/client';
import type { Alert } from './alert.ts';
import { tagOf } from './decision.ts';
import type { Settings } from './settings.ts';

/**
 * Returns the new ticket of an alert.
 * @param assets the ids of the known assets, by asset tag
 */
export function newTicketOf(
  alert: Alert,
  externalId: string,
  settings: Settings,
  assets: ReadonlyMap<string, number>,
): NewTicketItem {
  const { title, description, labels } = alert;
  const asset = assets.get(settings.asset?.(labels) ?? '');
  const customFields = Object.entries(settings.customFields).map(([name, field]) => [name, field(labels)]);
  return {
    title,
    description,
    externalId,
    type: settings.type,
    priority: settings.priority(labels),
    category: settings.category(labels) ?? 'OTHER',
    teamId: settings.team?.(labels),
    assigneeId: settings.assignee?.(labels) as `${string}@${string}` | undefined,
    assetIds: asset === undefined ? [] : [asset],
    tags: [tagOf(alert), ...settings.tags.fixed, ...settings.tags.labels.flatMap((name) => labelTag(name, labels))],
    customFields: Object.fromEntries(customFields),
  };
}

/** Removes the fields that can refer to a user, a team or an asset that doesn't exist. */
export function withoutReferences({ teamId, assigneeId, assetIds, ...ticket }: NewTicketItem): NewTicketItem {
  return ticket as NewTicketItem;
}

/** Returns a tag such as `severity:critical`. Replaces the characters that tags can't contain. */
function labelTag(name: string, labels: Record<string, string>): string[] {
  if (!labels[name]) return [];
  const text = `${name}:${labels[name]}`.toLowerCase().normalize('NFC');
  const tag = text.replace(/[^\p{L}\p{M}\p{Nd}:_./-]+/gu, '-').replace(/^[^\p{L}\p{Nd}]+/u, '');
  // A tag must not end with half of a character.
  return [tag.slice(0, 50).replace(/[\ud800-\udbff]$/, '')].filter(Boolean);
}
