import type { FastifyInstance } from 'fastify';
import { shareEventLoop } from '../shared/event-loop.ts';

/** The maximum time in milliseconds that the serializer runs before it yields to the event loop. */
const sliceMs = 2;

/** The response body of a list (spec §2). */
interface List {
  success: true;
  data: unknown[];
}

/**
 * Serializes lists item by item, and yields to the event loop every `sliceMs` milliseconds. Serializing 100 tickets of
 * 64 KB in one call would block the process for 30 ms (docs/decisions/rate-and-concurrency-limits.md).
 */
export function addListSerializer(app: FastifyInstance): void {
  const yieldToEventLoop = shareEventLoop();
  app.addHook('preSerialization', (_request, reply, payload, done) => {
    if (!isList(payload)) return done(null, payload);
    reply.serializer((json) => json);
    serialize(payload, yieldToEventLoop).then((json) => done(null, json), done);
  });
}

function isList(payload: unknown): payload is List {
  return typeof payload === 'object' && payload !== null && 'data' in payload && Array.isArray(payload.data);
}

/**
 * Resolves to a string if serialization takes at most `sliceMs`, otherwise to bytes. Fastify encodes a string in one
 * call, so a long string would block the process.
 */
async function serialize(list: List, yieldToEventLoop: () => Promise<void>): Promise<string | Buffer> {
  const envelope = JSON.stringify({ ...list, data: [] });
  const start = envelope.indexOf('[') + 1;
  const chunks: Buffer[] = [];
  let text = envelope.slice(0, start);
  let sliceStart = performance.now();
  for (const [i, item] of list.data.entries()) {
    text += (i === 0 ? '' : ',') + JSON.stringify(item);
    if (performance.now() - sliceStart < sliceMs) continue;
    chunks.push(Buffer.from(text));
    text = '';
    await yieldToEventLoop();
    sliceStart = performance.now();
  }
  text += envelope.slice(start);
  return chunks.length === 0 ? text : Buffer.concat([...chunks, Buffer.from(text)]);
}
