// Requests of one connection, handled one after the other in the order that they came in (RFC 9112 section 9.3.2: what is not
// safe is never handled beside another request of its connection). The next one begins when the answer to the one before it is
// made; its body is read meanwhile, so that it counts although the client leaves. Other connections do not wait.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hasLeft, onLeft } from './fastify-ending.ts';

/** Requests of one connection that are taken up and not answered; the connection is not read while there are so many. */
export const pipelinedMost = 16;

export interface ConnectionOrder {
  /** Null when no earlier request of the connection was unanswered as it came; else resolves when all of them are answered. */
  turn(request: FastifyRequest): Promise<void> | null;
}

/** A request of a connection, in its order. */
interface QueuedRequest {
  readonly line: Line;
  /** No earlier request was unanswered as it came. */
  readonly isFirst: boolean;
  isAnswered: boolean;
  /** Set while the request waits for its turn. */
  begin: (() => void) | null;
}

interface Line {
  readonly socket: Socket;
  /** Oldest first; the first one is being handled, or is about to be. */
  readonly queue: QueuedRequest[];
  isPaused: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null: it has not come to the order. */
    queued: QueuedRequest | null;
  }
}

/** Adds the hooks; to be called after the endings, and before a hook that does something. */
export function addConnectionOrder(app: FastifyInstance): ConnectionOrder {
  const lines = new WeakMap<Socket, Line>();
  app.decorateRequest('queued', null);
  const lineOf = (socket: Socket): Line => {
    const known = lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { socket, queue: [], isPaused: false };
    lines.set(socket, line);
    return line;
  };
  const end = (queued: QueuedRequest): void => {
    queued.isAnswered = true;
    const { line } = queued;
    while (line.queue[0]?.isAnswered === true) line.queue.shift();
    line.queue[0]?.begin?.();
    if (!line.isPaused || line.queue.length >= pipelinedMost) return;
    line.isPaused = false;
    line.socket.resume();
  };
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const line = lineOf(socket);
    const queued: QueuedRequest = {
      line,
      isFirst: line.queue.length === 0,
      isAnswered: false,
      begin: null,
    };
    request.queued = queued;
    line.queue.push(queued);
    if (line.queue.length >= pipelinedMost && !line.isPaused) {
      line.isPaused = true;
      socket.pause();
    }
    if (hasLeft({ request, reply })) end(queued);
    done();
  });
  // An answer that breaks off before it is made ends here.
  onLeft(app, ({ request: { queued } }) => {
    if (queued !== null) end(queued);
  });
  app.addHook('onSend', (request, _reply, _payload, done) => {
    // What the request did is done; a long answer may still be on its way.
    if (request.queued !== null) end(request.queued);
    done();
  });
  return {
    turn({ queued }) {
      if (queued === null || queued.isFirst) return null;
      // Its token may have been looked up before the earlier request was answered.
      if (queued.line.queue[0] === queued) return Promise.resolve();
      return new Promise<void>((resolve) => {
        queued.begin = resolve;
      });
    },
  };
}
