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
  /** Throws if a call uses something that the tool definitions don't describe. */
  checkDescribed(tool: string, args: Record<string, unknown>): void;
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
    checkDescribed(name, args) {
      const definition = tools.find((tool) => tool.name === name);
      if (definition === undefined) throw new Error(`No tool is called ${name}.`);
      checkValue(name, args, definition.inputSchema as Schema);
    },
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

/** The part of a JSON Schema that tool definitions use. */
interface Schema {
  type?: string;
  description?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

/**
 * Checks a value against its schema. A text that replaces an id can be a name, a ticket number or an email address only
 * if the description says so, and a text can be a date only if the description says so.
 */
function checkValue(path: string, value: unknown, schema: Schema, description = schema.description ?? ''): void {
  const { enum: values, anyOf, items, properties } = schema;
  const reject = (why: string): never => {
    throw new Error(`${path}: ${JSON.stringify(value)} ${why} (${description})`);
  };
  if (anyOf !== undefined) {
    const choice = anyOf.find((each) => hasType(value, each)) ?? reject('has no described type');
    const isFreeText = typeof value === 'string' && choice.enum === undefined && anyOf[0]?.type === 'integer';
    const form = /^[A-Z]{3}-\d+$/.test(String(value)) ? 'number' : String(value).includes('@') ? 'email' : 'name';
    if (isFreeText && !new RegExp(form).test(description)) reject(`is a ${form}, which isn't described`);
    checkValue(path, value, choice, description);
    return;
  }
  if (!hasType(value, schema)) reject('has another type');
  if (values !== undefined && !values.includes(value)) reject('is not one of the values');
  if (/^\d{4}-\d\d-\d\d$/.test(String(value)) && !/date/.test(description)) reject("is a date, which isn't described");
  if (items !== undefined) {
    for (const each of value as unknown[]) checkValue(path, each, items, items.description ?? description);
  }
  if (properties === undefined) return;
  for (const name of schema.required ?? []) if (!Object.hasOwn(value as object, name)) reject(`lacks ${name}`);
  for (const [name, each] of Object.entries(value as object)) {
    if (properties[name] === undefined) reject(`has no field ${name}`);
    checkValue(`${path}.${name}`, each, properties[name] as Schema);
  }
}

function hasType(value: unknown, { type, enum: values }: Schema): boolean {
  if (values !== undefined) return values.includes(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  return typeof value === type;
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

/** Parses the JSON objects in the result of `search_names`, or in the error for a name. */
export function objectsIn(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
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
