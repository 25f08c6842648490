import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** The maximum number of concurrent requests on one connection. */
const maxConcurrentRequests = 64;

/** The pipelined requests on one connection. */
interface Pipeline {
  pending: number;
  /** The functions that start the waiting requests, in the order of arrival. */
  waiting: (() => void)[];
}

/**
 * Limits the number of concurrent requests on a connection (docs/decisions/api-conventions.md). Requests beyond the
 * limit wait until an earlier response ends. While requests wait, the server doesn't read from the connection.
 */
export function limitPipelining(handler: RequestListener): RequestListener {
  const pipelines = new WeakMap<Socket, Pipeline>();

  function getPipeline(socket: Socket): Pipeline {
    const pipeline: Pipeline = pipelines.get(socket) ?? { pending: 0, waiting: [] };
    if (!pipelines.has(socket)) {
      pipelines.set(socket, pipeline);
      // Node.js resumes a socket to read a body and after it sends a response. If requests are waiting, this listener
      // pauses the socket again.
      socket.on('resume', () => pipeline.waiting.length > 0 && socket.pause());
    }
    return pipeline;
  }

  return (request, response) => {
    const { socket } = request;
    const pipeline = getPipeline(socket);
    const start = () => {
      pipeline.pending += 1;
      response.once('close', () => {
        pipeline.pending -= 1;
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
    if (pipeline.pending < maxConcurrentRequests) {
      start();
    } else {
      pipeline.waiting.push(start);
      socket.pause();
    }
  };
}
