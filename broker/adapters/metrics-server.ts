// The listener of /metrics, apart from the interface for users: one path, small answers, few connections. Where it has a
// token, every request must bring it. It must never hold up the broker, nor tell a stranger anything.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Log } from '../../src/ports.ts';
import { tokenOf } from '../core/session.ts';
import { isSecret } from '../device-secret.ts';
import { type ListenAddress, listenError } from './fastify-faults.ts';
import type { MetricsText } from './prometheus.ts';

/** Scrapers of one broker; more are a mistake or an attack. */
const connectionsMost = 32;
const requestMs = 10_000;
const headerBytes = 8192;
/** Answers within so many ms of each other are one answer. */
const holdMs = 1000;

export interface MetricsServerOptions {
  readonly metrics: MetricsText;
  readonly clock: Clock;
  readonly log: Log;
  /** SHA-256 of the token that a request must bring; null: none is asked for. */
  readonly tokenHash: string | null;
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

function isAllowed(request: IncomingMessage, tokenHash: string | null): boolean {
  if (tokenHash === null) return true;
  const token = tokenOf(request.headers.authorization);
  if (token === null) return false;
  return isSecret(Buffer.from(token), tokenHash);
}

interface Refusal {
  readonly status: number;
  readonly words: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function refuse(request: IncomingMessage, tokenHash: string | null): Refusal | null {
  if ((request.url ?? '').split('?', 1)[0] !== '/metrics')
    return { status: 404, words: 'There is /metrics and nothing else.\n' };
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return { status: 405, words: 'GET it.\n', headers: { allow: 'GET, HEAD' } };
  if (isAllowed(request, tokenHash)) return null;
  const headers = { 'www-authenticate': 'Bearer realm="fleetward metrics"' };
  return { status: 401, words: 'The token is missing or wrong.\n', headers };
}

function answer(response: ServerResponse, { status, words, headers = {} }: Refusal): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(words),
    ...headers,
  });
  response.end(words);
}

/** Starts to listen. @throws AppError `port_in_use` or `config`. */
export async function openMetricsServer(
  { metrics, clock, log, tokenHash }: MetricsServerOptions,
  address: ListenAddress,
): Promise<MetricsServer> {
  let held: { readonly text: Promise<string>; readonly atMs: number } | null = null;
  const current = (): Promise<string> => {
    const nowMs = clock.monoMs();
    if (held === null || nowMs - held.atMs >= holdMs) held = { text: metrics.text(), atMs: nowMs };
    return held.text;
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refusal = refuse(request, tokenHash);
    if (refusal !== null) return answer(response, refusal);
    const headers = { 'content-type': metrics.contentType };
    answer(response, { status: 200, words: await current(), headers });
  };
  const limits = { requestTimeout: requestMs, headersTimeout: requestMs, maxHeaderSize: headerBytes };
  const server = createServer({ ...limits, keepAliveTimeout: 75_000 }, (request, response) => {
    request.resume();
    serve(request, response).catch((thrown: unknown) => {
      log.error('figures not shown', { reason: messageOf(thrown) });
      if (!response.headersSent)
        answer(response, { status: 500, words: 'The figures could not be shown.\n' });
      else response.destroy();
    });
  });
  server.maxConnections = connectionsMost;
  // Who takes nothing of an answer is dropped.
  server.setTimeout(requestMs * 10);
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', (thrown) => reject(listenError(thrown, address)));
    server.listen({ host: address.host, port: address.port }, () => {
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : address.port);
    });
  });
  server.on('error', (thrown) => log.error('metrics listener failed', { reason: messageOf(thrown) }));
  return {
    port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
