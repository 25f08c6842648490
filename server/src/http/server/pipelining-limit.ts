import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that are worked on before the answer to the first of them has gone out. */
const readAhead = 64;

/** The requests of one connection. */
interface Pipeline {
  unanswered: number;
  /** What starts those that came beyond the limit. */
  waiting: (() => void)[];
}

/**
 * Bounds what one connection may ask for at once (docs/decisions/api-conventions.md). Requests beyond it that
 * came in the same packet wait until answers have gone out, and nothing is read meanwhile.
 */
export function limitPipelining(handler: RequestListener): RequestListener {
  const pipelines = new WeakMap<Socket, Pipeline>();

  function pipelineOf(socket: Socket): Pipeline {
    const pipeline: Pipeline = pipelines.get(socket) ?? { unanswered: 0, waiting: [] };
    if (!pipelines.has(socket)) {
      pipelines.set(socket, pipeline);
      // Node reads on for a body, or when an answer has gone out.
      socket.on('resume', () => pipeline.waiting.length > 0 && socket.pause());
    }
    return pipeline;
  }

  return (request, response) => {
    const { socket } = request;
    const pipeline = pipelineOf(socket);
    const start = () => {
      pipeline.unanswered += 1;
      response.once('close', () => {
        pipeline.unanswered -= 1;
        startNext();
      });
      handler(request, response);
    };
    const startNext = () => {
      const next = pipeline.waiting.shift();
      if (next === undefined || socket.destroyed) return;
      if (pipeline.waiting.length === 0) socket.resume();
      next();
    };
    if (pipeline.unanswered < readAhead) {
      start();
    } else {
      pipeline.waiting.push(start);
      socket.pause();
    }
  };
}
