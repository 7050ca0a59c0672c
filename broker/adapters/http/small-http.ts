// A listener for machines beside the interface for users: short questions, small answers, few connections. A request has so
// long, and a fault in one ends neither the connection of another nor the process.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { messageOf } from '../../../src/core/errors.ts';
import type { Log } from '../../../src/ports.ts';
import { type TlsMaterial } from '../../ports/tls.ts';
import { serverOptions } from '../keys/tls-options.ts';
import { type ListenAddress, listenOn } from '../listen.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SmallHttpOptions {
  /** What it is, for the log. */
  readonly name: string;
  readonly log: Log;
  readonly tls: TlsMaterial | null;
  readonly connectionsMost: number;
  readonly keepAliveMs: number;
  /** What is answered to a request; it must read the body or let it go. A rejection is logged and answered with `faulty`. */
  readonly serve: (request: IncomingMessage) => Promise<Answer>;
  readonly faulty: Answer;
}

export interface SmallHttp {
  readonly port: number;
  /** Ends every connection. */
  close(): Promise<void>;
}

const requestMs = 10_000;
const limits = { requestTimeout: requestMs, headersTimeout: requestMs, maxHeaderSize: 8192 } as const;

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/** Starts to listen. @throws AppError `port_in_use` or `config`. */
export async function openSmallHttp(options: SmallHttpOptions, address: ListenAddress): Promise<SmallHttp> {
  const { name, log, tls, connectionsMost, keepAliveMs: keepAliveTimeout, serve, faulty } = options;
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const answered = serve(request).then((answer) => send(response, answer));
    answered.catch((thrown: unknown) => {
      log.error('request_failed', { listener: name, reason: messageOf(thrown) });
      if (response.headersSent) response.destroy();
      else send(response, faulty);
    });
  };
  const server =
    tls === null
      ? createServer({ ...limits, keepAliveTimeout }, listener)
      : createTlsServer(
          { ...serverOptions({ material: tls, clientCert: 'none' }), ...limits, keepAliveTimeout },
          listener,
        );
  server.maxConnections = connectionsMost;
  // Who takes nothing of an answer is dropped.
  server.setTimeout(requestMs * 10);
  const port = await listenOn(server, address);
  server.on('error', (thrown) => log.error('listener_failed', { listener: name, reason: messageOf(thrown) }));
  return {
    port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
