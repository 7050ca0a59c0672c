// What is recorded of every request: a line of the log, and its figures for the metrics.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../../src/ports.ts';
import { type Operation, servedPaths } from '../../api/base/operation.ts';
import { hasLeft, onLeft } from './fastify-ending.ts';
import { routeUrl } from './fastify-route.ts';
import { healthPaths } from './fastify-sources.ts';

export interface AnswerObserver {
  /** Called for every answer after its last byte; must not throw. `operation`: its id, or the path of what is none. */
  readonly onAnswered?: (answered: {
    readonly operation: string;
    readonly status: number;
    readonly durationMs: number;
  }) => void;
}

interface Observed extends AnswerObserver {
  readonly operations: readonly Operation[];
  readonly services: { readonly log: Log };
}

/** Of a request by the route that it took. */
const routeOf = (method: string, url: string): string => `${method === 'HEAD' ? 'GET' : method} ${url}`;

/** Structured, one line a request; the route instead of the path, and no query, because people paste tokens. */
export function addRequestLog(
  app: FastifyInstance,
  { operations, onAnswered, services: { log } }: Observed,
): void {
  const ids = new Map(
    operations.flatMap((one) =>
      servedPaths(one).map((path) => [routeOf(one.method, routeUrl(path)), one.id]),
    ),
  );
  const fieldsOf = (request: FastifyRequest, reply: FastifyReply) => {
    const { caller } = request;
    return {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? '(none)',
      durationMs: Math.round(reply.elapsedTime),
      source: request.ip,
      // Absent from the line without a caller.
      accountID: caller?.accountID,
      userID: caller?.userID,
      // Not that of a client which left.
      status: hasLeft({ request, reply }) ? undefined : reply.statusCode,
    };
  };
  onLeft(app, ({ request, reply }) => log.info('http_client_closed', fieldsOf(request, reply)));
  app.addHook('onResponse', (request, reply, done) => {
    if (hasLeft({ request, reply })) return done();
    const { url } = request.routeOptions;
    // The route of /docs is the same for all its files; what is no route at all has no name.
    const operation = url === undefined ? 'none' : (ids.get(routeOf(request.method, url)) ?? url);
    onAnswered?.({ operation, status: reply.statusCode, durationMs: reply.elapsedTime });
    // Health checks come every few seconds; one that fails is worth a line.
    const isRoutine = healthPaths.includes(url ?? '') && reply.statusCode < 400;
    log[isRoutine ? 'debug' : 'info']('http_request', fieldsOf(request, reply));
    done();
  });
}
