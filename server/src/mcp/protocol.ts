// A `get_ticket` call takes 2.3 ms of CPU time. With the HTTP layer of the MCP library, it would take 3.1 ms.

import {
  classifyInboundRequest,
  createMcpHandler,
  type InboundClassificationOutcome,
  isJsonContentType,
  isLegacyRequest,
  type JSONRPCMessage,
  PerRequestHTTPServerTransport,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';

/*
 * MCP over HTTP, based on the MCP library. This implementation is stateless: it creates an MCP server object for each
 * message, which takes 13 µs.
 */

/** The supported revisions of MCP, newest first. */
const newestRevisions = ['2026-07-28'];
const legacyRevisions = ['2025-11-25', '2025-06-18'];

/** The HTTP response to an MCP message. */
export interface ProtocolResponse {
  status: number;
  /** The JSON body. Empty if the response has no body. */
  text: string;
}

/** Processes an MCP message. @param serverOf creates the MCP server that supports the given revisions */
export async function processMessage(
  request: FastifyRequest,
  serverOf: (revisions: string[]) => Server,
): Promise<ProtocolResponse> {
  const route = classifyInboundRequest({ httpMethod: 'POST', ...getStandardHeaders(request), body: request.body });
  if (isPlainCall(request, route)) return runCall(request, route, serverOf);
  const response = await respond(request, serverOf);
  return { status: response.status, text: await response.text() };
}

function getStandardHeaders({ headers }: FastifyRequest) {
  const [protocolVersionHeader, mcpMethodHeader, mcpNameHeader] = [
    'mcp-protocol-version',
    'mcp-method',
    'mcp-name',
  ].map((name) => headers[name] as string | undefined);
  return {
    ...(protocolVersionHeader !== undefined && { protocolVersionHeader }),
    ...(mcpMethodHeader !== undefined && { mcpMethodHeader }),
    ...(mcpNameHeader !== undefined && { mcpNameHeader }),
  };
}

/**
 * Returns true if a message is a tool call that meets all requirements of its MCP revision. The HTTP layer of the MCP
 * library processes all other messages and rejects invalid ones.
 */
function isPlainCall({ headers, body }: FastifyRequest, route: InboundClassificationOutcome): boolean {
  const { id, method, params } = (body ?? {}) as { id?: unknown; method?: unknown; params?: { name?: unknown } };
  const version = headers['mcp-protocol-version'];
  // Excludes messages without an id, because they get no response.
  if (id === undefined || method !== 'tools/call' || !isJsonContentType(headers['content-type'])) return false;
  if (route.kind === 'modern') {
    const isNamed = headers['mcp-method'] === method && headers['mcp-name'] === params?.name;
    return isNamed && version === route.classification.revision && newestRevisions.includes(version as string);
  }
  const isSupported = version === undefined || legacyRevisions.includes(version as string);
  return route.kind === 'legacy' && route.reason === 'no-claim' && isSupported;
}

/**
 * Passes a tool call directly to the MCP server. The HTTP layer of the MCP library would need more CPU time, because it
 * converts requests and streams.
 */
async function runCall(
  { body }: FastifyRequest,
  route: InboundClassificationOutcome,
  serverOf: (revisions: string[]) => Server,
): Promise<ProtocolResponse> {
  const isModern = route.kind === 'modern';
  const transport = new DirectTransport({ classification: isModern ? route.classification : { era: 'legacy' } });
  await serverOf(isModern ? newestRevisions : legacyRevisions).connect(transport);
  transport.onmessage?.(body as JSONRPCMessage, isModern ? { classification: route.classification } : {});
  return { status: 200, text: JSON.stringify(await transport.response.promise) };
}

/** An MCP transport for one tool call and its response, without HTTP. */
class DirectTransport extends PerRequestHTTPServerTransport {
  readonly response = Promise.withResolvers<JSONRPCMessage>();

  override async send(message: JSONRPCMessage): Promise<void> {
    this.response.resolve(message);
  }
}

/** Processes an MCP message with the HTTP layer of the MCP library. */
async function respond(request: FastifyRequest, serverOf: (revisions: string[]) => Server): Promise<Response> {
  const message = toWebRequest(request);
  const parsed = { parsedBody: request.body };
  if (!(await isLegacyRequest(message, request.body))) {
    // Allows no subscriptions, because the server sends no notifications. Clients use webhooks instead.
    const handler = createMcpHandler(() => serverOf(newestRevisions), { legacy: 'reject', maxSubscriptions: 0 });
    return handler.fetch(message, parsed);
  }
  const server = serverOf(legacyRevisions);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(message, parsed);
  } finally {
    await server.close();
  }
}

/**
 * Converts a request for the HTTP layer of the MCP library. Replaces `Accept`, because the library requires both media
 * types of MCP. This server always sends JSON, whatever the client accepts (RFC 9110 §12.5.1).
 */
function toWebRequest({ headers, url }: FastifyRequest): Request {
  const sent = { ...headers, accept: 'application/json, text/event-stream' };
  const sentHeaders = Object.entries(sent).filter(([, value]) => typeof value === 'string') as [string, string][];
  return new Request(new URL(url, 'http://localhost'), { method: 'POST', headers: sentHeaders });
}
