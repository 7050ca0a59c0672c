// When an answer has ended, as one signal that everything which an answer holds is tied to: its last byte was handed over, or
// its connection has closed. A response that waits behind another one on its connection (pipelining) has no socket and never
// closes by itself, so the socket of the request is watched too.
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Exchange } from './fastify-compress.ts';

type Reason = 'answered' | 'left';

interface Ending {
  /** Null: the answer has not ended. */
  reason: Reason | null;
  /** Made when it is asked for: most answers are given before anything waits for their end. */
  controller: AbortController | null;
}

type OnLeft = (exchange: Exchange) => void;

declare module 'fastify' {
  interface FastifyInstance {
    readonly onLeft: OnLeft[];
  }
  interface FastifyRequest {
    /** Null: the end of the answer is not watched. */
    ending: Ending | null;
  }
}

/** Answers that have not ended, by connection: one listener for all of them. */
const open = new WeakMap<Socket, Set<() => void>>();

function watched(socket: Socket): Set<() => void> {
  const known = open.get(socket);
  if (known !== undefined) return known;
  const ends = new Set<() => void>();
  open.set(socket, ends);
  socket.once('close', () => {
    for (const end of ends) end();
  });
  return ends;
}

/**
 * Adds the hook; to be called before any other hook is added, so that nothing is awaited before it. What is known of a request is
 * a member of it, here and elsewhere: the collector of young objects keeps an entry of a WeakMap, and the whole exchange with it.
 */
export function addEndings(app: FastifyInstance): void {
  app.decorate('onLeft', []);
  app.decorateRequest('ending', null);
  app.addHook('onRequest', (request, reply, done) => {
    const ending: Ending = { reason: null, controller: null };
    request.ending = ending;
    const { socket } = request.raw;
    const ends = watched(socket);
    const end = (): void => {
      ends.delete(end);
      if (ending.reason !== null) return;
      ending.reason = reply.raw.writableFinished ? 'answered' : 'left';
      ending.controller?.abort(ending.reason);
      if (ending.reason === 'left') for (const run of app.onLeft) run({ request, reply });
    };
    ends.add(end);
    // Behind 'finish' in any case. Not `once`, which would make a wrapper.
    reply.raw.on('close', end);
    if (socket.destroyed) end();
    done();
  });
}

function endingOf({ request }: Exchange): Ending {
  const { ending } = request;
  if (ending === null) throw new Error('the end of the answer is not watched');
  return ending;
}

/** True when the connection closed before the whole answer was handed over. */
export const hasLeft = ({ request }: Exchange): boolean => request.ending?.reason === 'left';

/** Adds what runs for each client that leaves before the whole answer was handed over. */
export function onLeft(app: FastifyInstance, run: OnLeft): void {
  app.onLeft.push(run);
}

/** The signal of an exchange: aborted once the answer has ended, however it did. */
export function endOf(exchange: Exchange): AbortSignal {
  const ending = endingOf(exchange);
  ending.controller ??= new AbortController();
  if (ending.reason !== null) ending.controller.abort(ending.reason);
  return ending.controller.signal;
}
