import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A span as it was sent. */
export interface Span {
  service: string;
  traceId: string;
  spanId: string;
  /** Empty where it has none. */
  parentSpanId: string;
  name: string;
  /** 2 for a server, 3 for a client. */
  kind: number;
  attributes: Record<string, string | number>;
  failed: boolean;
}

/** What takes traces in OTLP over HTTP as JSON. */
export interface Collector {
  /** What has a process send them here, soon. */
  env: Record<string, string>;
  spans: Span[];
  /** All that was sent, as it came. */
  text(): string;
  close(): Promise<void>;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}

interface Sent {
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

/** @param answers whether it ever answers */
export async function startCollector({ answers = true } = {}): Promise<Collector> {
  const spans: Span[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    bodies.push(body);
    spans.push(...spansIn(JSON.parse(body)));
    if (answers) response.setHeader('content-type', 'application/json').end('{}');
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

function spansIn({ resourceSpans }: Sent): Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ parentSpanId = '', attributes, status, ...span }) => ({
        ...span,
        parentSpanId,
        service: String(valuesOf(resource.attributes)['service.name']),
        attributes: valuesOf(attributes),
        failed: status.code === 2,
      })),
  );
}

function valuesOf(attributes: Attribute[]): Record<string, string | number> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']));
}
