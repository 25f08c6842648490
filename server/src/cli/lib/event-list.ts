import { EventType } from '@itsm-api/contract';
import * as z from 'zod';

const types = EventType.options;

export const eventsHelp = `${types.join(', ')}, separated by commas; ticket.* for all of a kind, * for all`;

/** Event types, separated by commas; `*` stands for whatever may stand there. */
export const eventList = z.string().transform((text, { addIssue }): EventType[] => {
  const found = text.split(',').map((each) => ({ each: each.trim(), matching: matching(each.trim()) }));
  for (const { each } of found.filter(({ matching }) => matching.length === 0)) {
    addIssue({ code: 'custom', message: `names no event with ${each}; there are ${types.join(', ')}` });
  }
  return [...new Set(found.flatMap(({ matching }) => matching))];
});

function matching(pattern: string): EventType[] {
  if (pattern === '*') return [...types];
  const [start = '', ...end] = pattern.split('*');
  return types.filter((type) =>
    end.length === 0 ? type === start : type.startsWith(start) && type.endsWith(end.join('*')),
  );
}
