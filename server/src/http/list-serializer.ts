import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** For how long JSON is made before others have their turn. Milliseconds. */
const sliceMs = 2;

/** The envelope of a list (spec §2). */
interface List {
  success: true;
  data: unknown[];
}

/**
 * Makes the JSON of lists item by item, and has everybody else served after every slice: a hundred tickets of 64 KB at
 * once would hold up the whole process for 30 ms, and for as long again in the next answer
 * (docs/decisions/rate-and-concurrency-limits.md).
 */
export function addListSerializer(app: FastifyInstance): void {
  let turn = Promise.resolve();
  // One slice between two looks at what has arrived, however many answers are being made.
  const nextTurn = () => {
    turn = turn.then(() => setImmediate());
    return turn;
  };

  app.addHook('preSerialization', (_request, reply, payload, done) => {
    if (!isList(payload)) return done(null, payload);
    reply.serializer((json) => json);
    serialize(payload, nextTurn).then((json) => done(null, json), done);
  });
}

function isList(payload: unknown): payload is List {
  return typeof payload === 'object' && payload !== null && 'data' in payload && Array.isArray(payload.data);
}

/** Resolves to text where one slice was enough, and to bytes else: text of megabytes would be encoded at once. */
async function serialize(list: List, nextTurn: () => Promise<void>): Promise<string | Buffer> {
  const envelope = JSON.stringify({ ...list, data: [] });
  const start = envelope.indexOf('[') + 1;
  const made: Buffer[] = [];
  let text = envelope.slice(0, start);
  let since = performance.now();
  for (const [i, item] of list.data.entries()) {
    text += (i === 0 ? '' : ',') + JSON.stringify(item);
    if (performance.now() - since < sliceMs) continue;
    made.push(Buffer.from(text));
    text = '';
    await nextTurn();
    since = performance.now();
  }
  text += envelope.slice(start);
  return made.length === 0 ? text : Buffer.concat([...made, Buffer.from(text)]);
}
