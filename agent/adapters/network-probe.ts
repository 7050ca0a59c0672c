// Checks the connection to a server one layer at a time: name, TCP, TLS. It sends no byte beyond the handshake, and
// stops after ten seconds.
import { lookup } from 'node:dns/promises';
import { createConnection, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { CertificateFacts, NetworkProbe, TlsFacts } from '../doctor/ports.ts';

const timeoutMs = 10_000;
const chainMost = 6;

const unavailable = (thrown: unknown): AppError =>
  new AppError('unavailable', messageOf(thrown), { cause: thrown });

async function resolve(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (thrown) {
    throw unavailable(thrown);
  }
}

/** Resolves with `whenReady()` on the event, rejects on an error or timeout, and always closes the socket. */
function waitForEvent<T>(socket: Socket, event: 'connect' | 'secureConnect', whenReady: () => T): Promise<T> {
  return new Promise((done, refuse) => {
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)));
    socket.once('error', (thrown) => refuse(unavailable(thrown)));
    socket.once('close', () => refuse(new AppError('unavailable', 'the connection was closed')));
    socket.once(event, () => {
      done(whenReady());
      socket.destroy();
    });
  });
}

function connectTcp(host: string, port: number): Promise<number> {
  const startMs = performance.now();
  return waitForEvent(createConnection({ host, port }), 'connect', () => performance.now() - startMs);
}

/** The common name, else all of it: `CN=fleet.example.com`. */
function nameOf(fields: DetailedPeerCertificate['subject'] | undefined): string {
  const common = fields?.CN;
  return Array.isArray(common) ? common.join(', ') : (common ?? JSON.stringify(fields ?? {}));
}

function chainOf(socket: TLSSocket): readonly CertificateFacts[] {
  const chain: CertificateFacts[] = [];
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (next?.raw !== undefined && chain.length < chainMost) {
    chain.push({
      subject: nameOf(next.subject),
      issuer: nameOf(next.issuer),
      names: next.subjectaltname ?? 'no names',
      fromMs: Date.parse(next.valid_from),
      toMs: Date.parse(next.valid_to),
    });
    // A root names itself as its issuer.
    const issuer: DetailedPeerCertificate | undefined = next.issuerCertificate;
    next = issuer?.fingerprint256 === next.fingerprint256 ? undefined : issuer;
  }
  return chain;
}

function connectTls(
  { host, port }: { readonly host: string; readonly port: number },
  trust: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>,
): Promise<TlsFacts> {
  // The certificate is verified all the same, and the result reported; a failing handshake would not show the
  // certificate.
  const socket = connect({
    host,
    port,
    ...trust,
    rejectUnauthorized: false,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  return waitForEvent(socket, 'secureConnect', () => {
    // Node types it as an error; it is the code as text, or an error with one.
    const reason: unknown = socket.authorizationError;
    const code = typeof reason === 'object' && reason !== null && 'code' in reason ? reason.code : reason;
    return {
      protocol: socket.getProtocol() ?? 'TLS',
      chain: chainOf(socket),
      fault: socket.authorized ? null : typeof code === 'string' ? code : 'not trusted',
    };
  });
}

export function createNetworkProbe(): NetworkProbe {
  return { resolve, connect: connectTcp, tls: connectTls };
}
