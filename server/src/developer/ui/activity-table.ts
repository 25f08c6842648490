import type { AssetActivity, TicketActivity } from '@itsm-api/contract';
import { findUserNames } from '../../resources/users/queries.ts';
import type { UserContext } from '../framework/request-context.ts';
import { html, type SafeHtml, table } from './html.ts';

/** Maximum length of a value in the activity table, in UTF-16 code units. */
const maxValueLength = 200;

type Activity = TicketActivity | AssetActivity;

/** Renders the activity of a ticket or an asset as a table with time, user, action and changes. */
export async function activityTable(visit: UserContext, activities: readonly Activity[]): Promise<SafeHtml> {
  const names = await findUserNames(
    visit.context,
    activities.map(({ actor }) => actor?.userId ?? null),
  );
  const rows = activities.map(({ at, action, actor, changes }) => [
    visit.time(at),
    toActorName(actor, names),
    action,
    html`<ul class="changes">${Object.entries(changes).map(([name, { from, to }]) => {
      return html`<li><code>${name}</code> from ${formatValue(from)} to ${formatValue(to)}</li>`;
    })}</ul>`,
  ]);
  return table('Activity', ['Time', 'User', 'Action', 'Changes'], rows, 'No activity yet.');
}

function toActorName(actor: Activity['actor'], names: ReadonlyMap<number, string>): string {
  if (actor === null) return 'Command line';
  const name = names.get(actor.userId) ?? `user ${actor.userId}`;
  return actor.keyId === null ? name : `${name}, with API key ${actor.keyId}`;
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength).toWellFormed()}…` : text;
}
