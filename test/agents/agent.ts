import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer';

/** What a call was answered: its text, as a model reads it. */
export interface Said {
  text: string;
  isError: boolean;
}

/** What a task cost. */
export interface Cost {
  calls: number;
  /** Tokens of the calls' names and arguments, and of their answers; the list of tools comes once to each conversation. */
  tokens: number;
  toolTokens: number;
}

/** Who works on a task: it knows the tools that its key may use, and the text that they answer. */
export interface Agent {
  tools: string[];
  cost: Cost;
  call(tool: string, args?: Record<string, unknown>): Promise<Said>;
  close(): Promise<void>;
}

/** @param url of `/mcp` or `/mcp/readonly` */
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
      const said = await client.callTool({ name, arguments: args }).then(
        ({ content, isError = false }) => ({
          text: content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'),
          isError,
        }),
        ({ message }: Error) => ({ text: message, isError: true }),
      );
      cost.calls += 1;
      cost.tokens += countTokens(name + JSON.stringify(args)) + countTokens(said.text);
      return said;
    },
    close: () => client.close(),
  };
}

/** The rows of a list, by their columns: the names stand in its first line, a row in each that follows. */
export function rowsIn({ text }: Said): Record<string, unknown>[] {
  const [columns = [], ...rows] = text
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line): unknown[] => JSON.parse(line));
  return rows.map((row) => Object.fromEntries(row.map((value, at) => [String(columns[at]), value])));
}

/** The ticket numbers of a list. */
export function numbersIn(said: Said): string[] {
  return rowsIn(said).map(({ ticketNumber }) => String(ticketNumber));
}

/** The one id of a row in which this stands. */
export function idOfRow(said: Said, words: string): unknown {
  return rowsIn(said).find((row) => JSON.stringify(Object.values(row)).includes(words))?.id;
}

/** How many rows a list says that there are in all. */
export function totalIn({ text }: Said): number {
  return Number(/totalCount (\d+)/.exec(text)?.[1]);
}
