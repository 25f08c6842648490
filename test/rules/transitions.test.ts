import { readFile } from 'node:fs/promises';
import { AssetStatus, assetTransitions, TicketStatus, ticketTransitions } from '@itsm-api/contract';
import { openApiDocument } from '@itsm-api/contract/openapi';
import { describe, expect, it } from 'vitest';

/** Tests the table of ticket status transitions. api/tickets-patch.test.ts tests every transition in the API. */
it('defines the ticket status transitions', () => {
  expect(ticketTransitions).toEqual({
    OPEN: ['IN_PROGRESS', 'PENDING', 'RESOLVED', 'CANCELLED'],
    IN_PROGRESS: ['PENDING', 'RESOLVED', 'CANCELLED'],
    PENDING: ['IN_PROGRESS', 'RESOLVED', 'CANCELLED'],
    RESOLVED: ['CLOSED', 'IN_PROGRESS'],
    CLOSED: [],
    CANCELLED: [],
  });
  expect(TicketStatus.options).toEqual(Object.keys(ticketTransitions));
});

describe('the documentation of status transitions', () => {
  const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  const open = TicketStatus.options.filter((from) => ticketTransitions[from].length > 0);

  it('lists every transition in the guide', async () => {
    const guide = await read('docs/guides/change-status.md');
    const rows = [...guide.matchAll(/^\| `?([A-Z_]+)\b[^|]*\|(.*)\|$/gm)];
    const described = rows.map(([, from, to = '']) => [from, new Set(to.match(/\b[A-Z_]{4,}\b/g))]);
    for (const from of open) expect(described).toContainEqual([from, new Set(ticketTransitions[from])]);
  });

  it('lists every transition in the OpenAPI document', () => {
    const { components, paths } = openApiDocument();
    const descriptions = [
      String(components.schemas.TicketStatus?.description),
      ...['/tickets/{id}', '/tickets/bulk'].map((path) => String(paths[path]?.patch?.description)),
    ];
    for (const from of open)
      for (const description of descriptions)
        expect(description).toContain(`${from} → ${ticketTransitions[from].join(', ')}`);
    expect(String(components.schemas.AssetStatus?.description)).toContain('except from DISPOSED');
    expect(AssetStatus.options.filter((from) => assetTransitions(from).length === 0)).toEqual(['DISPOSED']);
  });

  it('lists every transition in the hover text of the client', async () => {
    const types = await read('client/src/generated.ts');
    const [, ofType] = /\/\*\* (.*) \*\/\nexport type TicketStatus/.exec(types) ?? [];
    const methods = await read('client/src/generated-resources.ts');
    const [ofUpdate, ofUpdateMany] = [...methods.matchAll(/\/\*\*([^/]*?)\*\/\n {2}update(?:Many)?\(/g)].map(
      ([text]) => text,
    );
    for (const from of open) {
      const line = `${from} → ${ticketTransitions[from].join(', ')}`;
      for (const text of [ofType, ofUpdate, ofUpdateMany]) expect(text).toContain(line);
    }
  });
});
