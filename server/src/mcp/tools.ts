import { type AgentTool, type Endpoint, idempotencyKeyHeader, type Scope } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import type { Tool as ToolDefinition } from '@modelcontextprotocol/server';
import { type InputSchema, inputSchemaOf, shapeOf } from './input-schema.ts';

/** An MCP tool: an endpoint of the API that agents can call. */
export interface Tool extends AgentTool {
  route: Endpoint;
  scope: Scope | 'any';
  /** Whether the tool only reads data. */
  isRead: boolean;
  /** The tool's entry in the response to `tools/list`. */
  definition: ToolDefinition;
}

/** The name of the argument that contains the idempotency key. */
export const idempotencyArgument = 'idempotencyKey';

/** The name of the argument that contains the offset from which truncated texts continue. */
export const textFromArgument = 'textFrom';

/** All MCP tools: the endpoints of the contract that have `agent` metadata (docs/decisions/mcp-server.md). */
export const tools: readonly Tool[] = Object.values(contract)
  .flatMap((routes) => Object.values(routes as Record<string, Endpoint>))
  .flatMap((route) => {
    const { agent, scope } = route.metadata;
    if (agent === undefined || scope === null) return [];
    return [{ ...agent, route, scope, isRead: route.method === 'GET', definition: definitionOf(route, agent) }];
  });

function definitionOf(route: Endpoint, { tool, when }: AgentTool): ToolDefinition {
  const schema = inputSchemaOf(route);
  return {
    name: tool,
    description: `${route.summary}. ${when}`,
    inputSchema: { ...schema, properties: { ...schema.properties, ...ownArguments(route) } } as never,
    annotations: annotationsOf(route),
  };
}

/** Returns the arguments that only the MCP tool has: the idempotency key for a write, or the text offset for a read. */
function ownArguments(route: Endpoint): Record<string, InputSchema> {
  if (idempotencyKeyHeader in shapeOfHeaders(route)) {
    return {
      [idempotencyArgument]: {
        type: 'string',
        description: 'A unique value. Send it again when you retry',
      },
    };
  }
  return route.method === 'GET' && Object.keys(shapeOf(route.pathParams)).length > 0
    ? { [textFromArgument]: { type: 'integer' } }
    : {};
}

/** Returns the schemas of an endpoint's request headers, by header name. */
export function shapeOfHeaders(route: Endpoint): Record<string, unknown> {
  return (route.headers ?? {}) as Record<string, unknown>;
}

/**
 * Derives the MCP annotations from the HTTP method. GET is read-only, POST is not destructive, and all other methods
 * are destructive and idempotent.
 */
function annotationsOf({ method }: Endpoint): ToolDefinition['annotations'] {
  if (method === 'GET') return { readOnlyHint: true };
  return { readOnlyHint: false, destructiveHint: method !== 'POST', idempotentHint: method !== 'POST' };
}
