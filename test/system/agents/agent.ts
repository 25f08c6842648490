import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer';

/** The result of a tool call. `text` is the text that a model reads. */
export interface ToolResult {
  text: string;
  isError: boolean;
}

/** The number of calls and tokens that a task needs. */
export interface Cost {
  calls: number;
  /** The number of tokens in the names, arguments and results of all tool calls. Excludes the tool list. */
  tokens: number;
  toolTokens: number;
}

/** A simulated agent. It sees only the results of its own calls, and the tools that its API key allows. */
export interface Agent {
  tools: string[];
  cost: Cost;
  call(tool: string, args?: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
}

/**
 * Connects a simulated agent to the MCP server.
 * @param url the URL of `/mcp` or `/mcp/readonly`
 */
export async function startAgent(url: string, key: string): Promise<Agent> {
  const client = new Client({ name: 'tasks', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const { tools } = await client.listTools();
  const cost: Cost = { calls: 0, tokens: 0, toolTokens: countTokens(JSON.stringify(tools)) };
  return {
    tools: tools.map(({ name }) => name),
    cost,
    async call(name, args = {}) {
      const result = await client.callTool({ name, arguments: args }).then(
        ({ content, isError = false }) => ({
          text: content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'),
          isError,
        }),
        ({ message }: Error) => ({ text: message, isError: true }),
      );
      cost.calls += 1;
      cost.tokens += countTokens(name + JSON.stringify(args)) + countTokens(result.text);
      return result;
    },
    close: () => client.close(),
  };
}

/**
 * Parses the result of an MCP list tool. The first line contains the column names, and each later line contains a row.
 */
export function rowsIn({ text }: ToolResult): Record<string, unknown>[] {
  const [columns = [], ...rows] = text
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line): unknown[] => JSON.parse(line));
  return rows.map((row) => Object.fromEntries(row.map((value, at) => [String(columns[at]), value])));
}

/** Returns the ticket numbers in the result of an MCP list tool. */
export function numbersIn(result: ToolResult): string[] {
  return rowsIn(result).map(({ ticketNumber }) => String(ticketNumber));
}

/** Returns the id in the first row with the given text. The row is part of the result of an MCP list tool. */
export function idOfRow(result: ToolResult, words: string): unknown {
  return rowsIn(result).find((row) => JSON.stringify(Object.values(row)).includes(words))?.id;
}

/** Returns the total row count from the result of an MCP list tool. */
export function totalIn({ text }: ToolResult): number {
  return Number(/totalCount (\d+)/.exec(text)?.[1]);
}
