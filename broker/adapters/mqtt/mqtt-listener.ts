// One port for MQTT: TCP, TLS over it, and WebSocket over either. Every connection passes the same gate before a byte of it is read, and begins in
// its turn. The result is a stream and the facts about its peer. No connection that has not reached MQTT within its time may stay open.
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, TLSSocket, type Server as TlsServer } from 'node:tls';
import { messageOf } from '../../../src/core/errors.ts';
import type { Clock, Log } from '../../../src/ports.ts';
import type { CertificateFacts } from '../../core/accounts/client-certificate.ts';
import { type TlsListening, type TlsMaterial } from '../../ports/tls.ts';
import { peerCertificate, serverOptions } from '../keys/tls-options.ts';
import { listenOn } from '../listen.ts';
import {
  createHandshakeQueue,
  type HandshakeLimits,
  type HandshakeQueue,
  handshakeLimits,
} from './handshake-queue.ts';
import { answerPlainHttp, createUpgrader } from './mqtt-websocket.ts';
import { createPacedClose } from './paced-close.ts';

/** The other end of a connection. */
export interface Peer {
  readonly address: string;
  /** `mtls`: TLS with a verified client certificate. */
  readonly security: 'plain' | 'tls' | 'mtls';
  readonly certificate: CertificateFacts | null;
  readonly certificateSuffices: boolean;
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsListening | null;
  /** Null: plain MQTT. Otherwise WebSocket, for non-browser clients and pages of these origins. */
  readonly origins: readonly string[] | null;
  /** Table of the configuration, for messages. */
  readonly setting: 'mqtt' | 'ws';
  readonly clock: Clock;
  readonly log: Log;
  /** Limits of the handshake queue; absent: the tested defaults. */
  readonly arrivals?: HandshakeLimits;
  /** False refuses the connection. */
  readonly admit: (socket: Socket) => boolean;
  /** An accepted connection is turned away: it has waited for too long, or too many wait. */
  readonly onCrowd: () => void;
  readonly accept: (stream: Duplex, peer: Peer) => void;
}

export interface Listener {
  readonly port: number;
  /** Applies to new connections; does nothing without TLS. @throws Error when OpenSSL refuses it. */
  renew(material: TlsMaterial): void;
  waiting(): number;
  /** Stops listening and ends connections that have not reached MQTT; resolves when every connection is closed. */
  close(): Promise<void>;
}

const ignored = (): void => undefined;

/** Facts about the peer, or the fault that refuses it. */
function peerOf(socket: Socket, tls: TlsListening | null): Peer | { readonly fault: string } {
  const address = socket.remoteAddress ?? '';
  const security = tls === null ? 'plain' : 'tls';
  if (tls === null || tls.clientCert === 'none' || !(socket instanceof TLSSocket)) {
    return { address, security, certificate: null, certificateSuffices: false };
  }
  const certificate = peerCertificate(socket);
  // `authorized` alone proves nothing: a resumed session without any certificate counts as authorized.
  if (certificate === null) {
    if (tls.clientCert === 'required') return { fault: 'no certificate' };
    return { address, security, certificate: null, certificateSuffices: false };
  }
  if (!socket.authorized) return { fault: messageOf(socket.authorizationError) };
  return { address, security: 'mtls', certificate, certificateSuffices: tls.certificateSuffices };
}

/** The inner server: accepts raw sockets, and new certificates. */
interface Inner {
  take(socket: Socket): void;
  renew(material: TlsMaterial): void;
}

const innerOf = (server: Server | HttpServer, tls: TlsListening | null): Inner => ({
  // Servers of Node accept connections that others accepted (documented for http, and the same code in tls).
  take: (socket) => void server.emit('connection', socket),
  renew(material) {
    if (tls !== null) (server as TlsServer).setSecureContext(serverOptions({ ...tls, material }));
  },
});

interface Wiring {
  readonly options: Listening;
  /** A connection has reached MQTT. */
  readonly arrive: (stream: Duplex, socket: Socket) => void;
  /** Its TLS handshake is done. */
  readonly secured: (socket: Socket) => void;
}

function failHandshake({ options: { log, setting }, secured }: Wiring, error: Error, socket: Socket): void {
  secured(socket);
  const fault = socket instanceof TLSSocket && socket.authorizationError ? socket.authorizationError : error;
  const reason = messageOf(fault).slice(0, 200);
  log.info('tls_handshake_failed', { listener: setting, address: socket.remoteAddress ?? '', reason });
  socket.destroy();
}

function createTcpInner(wiring: Wiring): Inner {
  const { tls, clock } = wiring.options;
  const pacedClose = createPacedClose(clock);
  const arrive = (socket: Socket): void => {
    const before = socket.listenerCount('end');
    wiring.arrive(socket, socket);
    pacedClose(socket, before);
  };
  if (tls === null) return { take: arrive, renew: () => undefined };
  const server = createTlsServer(serverOptions(tls), arrive);
  server.on('tlsClientError', (error, socket) => failHandshake(wiring, error, socket));
  return innerOf(server, tls);
}

function createWebSocketInner(wiring: Wiring, origins: readonly string[]): Inner {
  const { options, arrive, secured } = wiring;
  const { tls, log } = options;
  const server =
    tls === null ? createHttpServer(answerPlainHttp) : createHttpsServer(serverOptions(tls), answerPlainHttp);
  const upgrade = createUpgrader(origins, log);
  server.on('secureConnection', secured);
  server.on('tlsClientError', (error: Error, socket: Socket) => failHandshake(wiring, error, socket));
  server.on('clientError', (_error: Error, socket: Duplex) => void socket.destroy());
  server.on('upgrade', (request: IncomingMessage, _socket: Duplex, head: Buffer) => {
    upgrade(request, head, (stream) => arrive(stream, request.socket));
  });
  return innerOf(server, tls);
}

/** Number of vehicles that may wait to be accepted when all come back at once. */
const backlog = 2048;

/** Starts to listen. @throws AppError `port_in_use` or `config`. */
export async function openListener(options: Listening): Promise<Listener> {
  const { tls, origins, log, clock, admit, onCrowd, accept, setting } = options;
  const arrive = (stream: Duplex, socket: Socket): void => {
    const peer = peerOf(socket, tls);
    if ('fault' in peer) {
      log.info('certificate_refused', {
        listener: setting,
        address: socket.remoteAddress ?? '',
        reason: peer.fault,
      });
      return void stream.destroy();
    }
    arrivals.arrived(socket);
    accept(stream, peer);
  };
  const wiring: Wiring = { options, arrive, secured: (socket) => arrivals.handshakeEnded(socket) };
  const inner = origins === null ? createTcpInner(wiring) : createWebSocketInner(wiring, origins);
  const arrivals: HandshakeQueue = createHandshakeQueue({
    clock,
    log,
    limits: options.arrivals ?? handshakeLimits,
    isTls: tls !== null,
    take: (socket) => inner.take(socket),
    onRefused: onCrowd,
  });
  const server = createServer((socket) => {
    // A connection reset must not end the process before there is a listener for it.
    socket.on('error', ignored);
    if (!admit(socket)) return void socket.destroy();
    socket.setNoDelay(true);
    arrivals.expect(socket);
  });
  const port = await listenOn(server, options, backlog);
  server.on('error', (thrown) => log.error('mqtt_listener_failed', { reason: messageOf(thrown) }));
  return {
    port,
    renew: inner.renew,
    waiting: () => arrivals.waiting(),
    close() {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      arrivals.endAll();
      return stopped;
    },
  };
}
