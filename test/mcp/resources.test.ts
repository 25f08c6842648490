import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { createWorkspace } from '../support/workspace.ts';

/* Tests the MCP resources, which contain the documentation. */
let api: Api;
let client: Client;

beforeAll(async () => {
  api = await startApi();
  const { key } = await createWorkspace(api);
  const origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  client = new Client({ name: 'reader', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }));
});
afterAll(async () => {
  await client.close();
  await api.close();
});

async function read(uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  expect(contents).toHaveLength(1);
  return (contents[0] as { text: string }).text;
}

it('serves MCP resources with the same text as the pages of the site', async () => {
  const { resources } = await client.listResources();
  for (const { uri } of resources) {
    const text = await read(uri);
    expect(text, uri).toBe((await api.call({ method: 'GET', path: new URL(uri).pathname })).text);
    expect(countTokens(text), uri).toBeLessThan(20_000);
  }
  // Each path in llms.txt is also the path of an MCP resource.
  const guides = (await read('itsm:///llms.txt')).match(/\/docs\/guides\/[\w-]+\.md/g) ?? [];
  expect(guides.length).toBeGreaterThan(10);
  const named = guides.map((path) => new URL(path, 'itsm:///llms.txt').href);
  expect(resources.map(({ uri }) => uri)).toEqual(['itsm:///llms.txt', ...named]);
});

it('returns an error for an unknown MCP resource', async () => {
  await expect(read('itsm:///../../package.json')).rejects.toThrow('Unknown resource. Call resources/list');
});
