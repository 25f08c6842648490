import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A span that a server process exported. */
export interface Span {
  service: string;
  traceId: string;
  spanId: string;
  /** The id of the parent span, or an empty string if the span has no parent. */
  parentSpanId: string;
  name: string;
  /** The OTLP span kind: 2 for a server, 3 for a client. */
  kind: number;
  attributes: Record<string, string | number>;
  failed: boolean;
}

/** A trace collector that receives OTLP over HTTP as JSON. */
export interface Collector {
  /** The environment variables that make a process export its traces to the collector with a short delay. */
  env: Record<string, string>;
  spans: Span[];
  /** Returns the bodies of all received exports as text. */
  text(): string;
  close(): Promise<void>;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: (Pick<Span, 'traceId' | 'spanId' | 'name' | 'kind'> & {
        parentSpanId?: string;
        attributes: Attribute[];
        status: { code: number };
      })[];
    }[];
  }[];
}

/**
 * Starts a trace collector.
 * @param responds false if the collector must never respond to exports
 */
export async function startCollector({ responds = true } = {}): Promise<Collector> {
  const spans: Span[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    bodies.push(body);
    spans.push(...parseSpans(JSON.parse(body)));
    if (responds) response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
    spans,
    text: () => bodies.join('\n'),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function parseSpans({ resourceSpans }: ExportRequest): Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ parentSpanId = '', attributes, status, ...span }) => ({
        ...span,
        parentSpanId,
        service: String(toRecord(resource.attributes)['service.name']),
        attributes: toRecord(attributes),
        failed: status.code === 2,
      })),
  );
}

function toRecord(attributes: Attribute[]): Record<string, string | number> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']));
}
