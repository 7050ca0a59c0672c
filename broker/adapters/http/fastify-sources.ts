// What the host looks at before anything else of a request, and how it ends a connection that is not worth reading on: for what
// the connection is kept, which proxies are trusted for its source, and how much of a refused body may still come.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../../src/core/errors.ts';
import type { Clock, Log } from '../../../src/ports.ts';
import type { Exchange } from './fastify-compress.ts';
import { httpLimits } from './fastify-faults.ts';

/** Answered also when there is no connection left for anything else. */
export const healthPaths: readonly string[] = ['/livez', '/readyz'];

/** Path of a request, cut to what is worth showing. */
export const pathOf = (request: FastifyRequest): string => (request.url.split('?', 1)[0] ?? '').slice(0, 512);

/**
 * Addresses of a list without the ports that some proxies add (Azure Application Gateway, IIS), which would make every connection another
 * source.
 */
const withoutPorts = (list: string): string =>
  list
    .split(',')
    .map((entry) => {
      const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(entry.trim());
      return bracketed?.[1] ?? entry.trim().replace(/^(\d+\.\d+\.\d+\.\d+):\d*$/, '$1');
    })
    .join(', ');

interface Sources {
  readonly clock: Clock;
  readonly log: Log;
  readonly isTrusted: (address: string) => boolean;
  readonly isReserved: (socket: Socket) => boolean;
}

/** What a connection is kept for, and which proxies are trusted for its source. */
export function addSourceChecks(app: FastifyInstance, { clock, log, isTrusted, isReserved }: Sources): void {
  let hasWarned = false;
  const warn = (source: string): void => {
    hasWarned = true;
    log.warn('http_proxy_not_trusted', {
      source,
      hint: 'Its X-Forwarded-For is ignored, so all behind it count as one source. If it is your proxy, name it in http.trustedProxies.',
    });
  };
  app.addHook('onRequest', (request, reply, done) => {
    const { socket, headers: sent } = request.raw;
    const peer = socket.remoteAddress ?? '';
    const forwarded = sent['x-forwarded-for'];
    if (forwarded !== undefined && !isTrusted(peer) && !hasWarned) warn(peer);
    if (forwarded !== undefined) sent['x-forwarded-for'] = withoutPorts(String(forwarded));
    // An operation that reads takes no body: one that comes all the same is not read on.
    if (request.method === 'GET' || request.method === 'HEAD') endBehindLongBody({ request, reply }, clock);
    if (!isReserved(socket)) return done();
    void reply.header('connection', 'close');
    if (healthPaths.includes(pathOf(request))) return done();
    throw new AppError('unavailable', 'Too many connections are open', {
      hint: 'Keep connections and use them again.',
      retryAfterS: 5,
    });
  });
}

/** False when more of the body may come than is worth reading for nothing. */
function isBodyShort({ raw, headers }: FastifyRequest): boolean {
  if (raw.complete) return true;
  if (headers['transfer-encoding'] !== undefined) return false;
  return Number(headers['content-length'] ?? 0) <= httpLimits.unreadBytes;
}

/**
 * Ends the connection behind the answer, without reading the rest of the body, when more of it may come than is worth reading. A
 * close with unread bytes would take the answer away from a client that still sends, so the end waits for a moment.
 */
export function endBehindLongBody({ request, reply }: Exchange, clock: Clock): void {
  if (isBodyShort(request)) return;
  const { raw } = request;
  // Node reads an unread request to its end; a request that was read in part is not.
  raw.read(0);
  raw.socket.destroySoon = () => {
    raw.socket.end();
    clock.after(httpLimits.lingerMs, () => void raw.socket.destroy());
  };
  void reply.header('connection', 'close');
}
