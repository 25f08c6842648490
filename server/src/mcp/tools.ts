import { type AgentTool, contract, type Endpoint, idempotencyKeyHeader, type Scope } from '@itsm-api/contract';
import type { Tool as ToolDefinition } from '@modelcontextprotocol/server';
import { type InputSchema, inputSchemaOf, shapeOf } from './input-schema.ts';

/** An endpoint that agents may call. */
export interface Tool extends AgentTool {
  route: Endpoint;
  scope: Scope | 'any';
  /** Whether it changes nothing. */
  isRead: boolean;
  /** As `tools/list` has it. */
  definition: ToolDefinition;
}

/** The argument that names a write, so that it may be repeated. */
export const idempotencyArgument = 'idempotencyKey';

/** The argument that says where texts go on that were cut. */
export const textFromArgument = 'textFrom';

/** Every endpoint of the contract that carries `agent` (docs/decisions/mcp-server.md). */
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

/** What a tool takes beside the contract's: a header of the endpoint, and what has a longer answer told in parts. */
function ownArguments(route: Endpoint): Record<string, InputSchema> {
  if (idempotencyKeyHeader in shapeOfHeaders(route)) {
    return {
      [idempotencyArgument]: {
        type: 'string',
        description: 'A unique value of your choice. Send it again when you retry',
      },
    };
  }
  return route.method === 'GET' && Object.keys(shapeOf(route.pathParams)).length > 0
    ? { [textFromArgument]: { type: 'integer' } }
    : {};
}

/** The headers that an endpoint takes, by name. */
export function shapeOfHeaders(route: Endpoint): Record<string, unknown> {
  return (route.headers ?? {}) as Record<string, unknown>;
}

/** By the method: what reads changes nothing, what creates takes nothing away, and what updates may be repeated. */
function annotationsOf({ method }: Endpoint): ToolDefinition['annotations'] {
  if (method === 'GET') return { readOnlyHint: true };
  return { readOnlyHint: false, destructiveHint: method !== 'POST', idempotentHint: method !== 'POST' };
}
