import {
  createMcpHandler,
  isLegacyRequest,
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

/**
 * Processes an MCP message with the HTTP layer of the MCP library.
 * @param serverOf creates the MCP server that supports the given revisions
 */
export async function processMessage(
  request: FastifyRequest,
  serverOf: (revisions: string[]) => Server,
): Promise<ProtocolResponse> {
  const response = await respond(request, serverOf);
  return { status: response.status, text: await response.text() };
}

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
