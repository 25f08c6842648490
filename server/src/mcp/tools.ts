import { type AgentTool, type Endpoint, idempotencyKeyHeader, type Scope, UserQuery } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import type { Tool as ToolDefinition } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { type ArgumentPlace, findPlaces, type InputSchema, inputSchemaOf, shapeOf } from './input-schema.ts';
import { nameSources } from './name-lookup.ts';

/** An MCP tool: an endpoint of the API that agents can call, or the search for names. */
export interface Tool extends Omit<AgentTool, 'when'> {
  /** The endpoint. Undefined for the search for names. */
  route: Endpoint | undefined;
  /** The endpoint that the tool calls instead if the arguments contain a key. */
  detail?: Endpoint | undefined;
  /** Whether the MCP server offers the tool only in workspaces with an active request form. */
  needsForm?: boolean;
  /** The places of ids and timestamps in the arguments. */
  places: readonly ArgumentPlace[];
  /** Whether an API key with some scopes can use the tool. */
  isAllowed(scopes: ReadonlySet<Scope>): boolean;
  /** Whether the tool only reads data. */
  isRead: boolean;
  /** The tool's entry in the response to `tools/list`. */
  definition: ToolDefinition;
  /** The entry for API keys that can only propose, if they can propose what the tool does. */
  proposing?: ToolDefinition | undefined;
  /** Whether only API keys that can only propose need the tool. */
  needsProposing?: boolean;
}

/** The name of the argument that contains the idempotency key. */
export const idempotencyArgument = 'idempotencyKey';

/** The name of the argument that contains the offset from which truncated texts continue. */
export const textFromArgument = 'textFrom';

/** The name of the argument that contains the reason of a proposal. */
export const reasonArgument = 'reason';

/** The name of the argument that contains the ETag of a resource. */
export const etagArgument = 'ifMatch';

/** The kinds of resources that the tool `search_names` finds. */
export const searchedKinds = ['user', 'team', 'category', 'project'] as const;

/** The arguments of the tool `search_names`. */
export const NameQuery = z.strictObject({ kind: z.enum(searchedKinds).optional(), q: UserQuery.shape.q });

const nameSearch: Tool = {
  tool: 'search_names',
  route: undefined,
  places: [],
  isRead: true,
  isAllowed: (scopes) => searchedKinds.some((kind) => scopes.has(nameSources[kind].scope)),
  definition: {
    name: 'search_names',
    description:
      'Finds users, teams, ticket categories and projects by name. Other tools accept a unique name instead of an id.',
    inputSchema: {
      type: 'object',
      properties: {
        kind: { type: 'string', enum: [...searchedKinds] },
        q: { type: 'string', description: 'Words of the name. Without q, lists all' },
      },
    },
    annotations: { readOnlyHint: true },
  },
};

const forms: Record<string, Endpoint> = contract.requestForms;
const proposals: Record<string, Endpoint> = contract.proposals;

/** The endpoints of one row that belong to the tool of a list, so that the tools need fewer tokens. */
const details = new Map([[forms.list, forms.get]]);

/**
 * All MCP tools: the endpoints of the contract that have `agent` metadata, and the search for names
 * (docs/decisions/mcp-server.md).
 */
export const tools: readonly Tool[] = [
  ...Object.values(contract)
    .flatMap((routes) => Object.values(routes as Record<string, Endpoint>))
    .flatMap((route) => {
      const { agent, scope } = route.metadata;
      if (agent === undefined || scope === null) return [];
      const isAllowed: Tool['isAllowed'] = (scopes) => scope === 'any' || scopes.has(scope);
      const places = findPlaces(route);
      const ofForms = { needsForm: route === forms.list || route === forms.submit, detail: details.get(route) };
      const definition = definitionOf(route, agent);
      const proposing = route.metadata.proposable === undefined ? undefined : toProposing(definition);
      const entries = { definition, proposing, needsProposing: route === proposals.list };
      return [{ ...agent, ...ofForms, ...entries, route, places, isAllowed, isRead: route.method === 'GET' }];
    }),
  nameSearch,
];

function definitionOf(route: Endpoint, { tool, when, needsEtag }: AgentTool): ToolDefinition {
  const { properties, required = [], ...schema } = inputSchemaOf(route);
  const all = needsEtag ? [...required, etagArgument] : required;
  return {
    name: tool,
    description: `${route.summary}. ${when}`,
    inputSchema: {
      ...schema,
      properties: {
        ...properties,
        ...(details.has(route) && { key: { type: 'string' }, [textFromArgument]: { type: 'integer' } }),
        ...ownArguments(route),
        ...(needsEtag && { [etagArgument]: { type: 'string', description: 'The etag that you read' } }),
      },
      ...(all.length > 0 && { required: all }),
    } as never,
    annotations: annotationsOf(route),
  };
}

/** Returns the entry of a write tool for API keys that can only propose. */
function toProposing({ inputSchema, description, ...definition }: ToolDefinition): ToolDefinition {
  const { properties, required = [] } = inputSchema;
  return {
    ...definition,
    description: `Proposes, and a person decides: ${description}`,
    inputSchema: {
      ...inputSchema,
      properties: { ...properties, ...ownArguments(contract.proposals.create), [reasonArgument]: { type: 'string' } },
      required: [...required, reasonArgument],
    },
    annotations: { readOnlyHint: false, destructiveHint: false },
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
