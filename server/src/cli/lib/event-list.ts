import { EventType } from '@itsm-api/contract';
import * as z from 'zod';

const types = EventType.options;

export const eventsHelp = `${types.join(', ')}, separated by commas; ticket.* for all ticket events, * for all events`;

/** The schema of a comma-separated list of event types. `*` matches any characters. */
export const eventList = z.string().transform((text, { addIssue }): EventType[] => {
  const patterns = text.split(',').map((each) => ({ each: each.trim(), matches: findMatches(each.trim()) }));
  for (const { each } of patterns.filter(({ matches }) => matches.length === 0)) {
    addIssue({ code: 'custom', message: `contains the unknown event ${each}. Use any of ${types.join(', ')}` });
  }
  return [...new Set(patterns.flatMap(({ matches }) => matches))];
});

function findMatches(pattern: string): EventType[] {
  if (pattern === '*') return [...types];
  const [start = '', ...end] = pattern.split('*');
  return types.filter((type) =>
    end.length === 0 ? type === start : type.startsWith(start) && type.endsWith(end.join('*')),
  );
}
