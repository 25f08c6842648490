import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';

export interface McpOptions {
  key: string;
  path?: string;
  mode?: VersionNegotiationMode;
}

/** Connects the MCP client of the SDK to a server. @param origin the URL of the server */
export async function connectMcp(origin: string, { key, path = '/mcp', mode = 'auto' }: McpOptions): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(path, origin), { requestInit }));
  return client;
}

/** Calls a tool. Returns the text that a model reads. */
export async function callTool(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const [first] = content as { type: string; text: string }[];
  return { text: first?.text ?? '', isError };
}
