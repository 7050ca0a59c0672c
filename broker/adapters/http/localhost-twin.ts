// `localhost` is two addresses, 127.0.0.1 and ::1, and clients try either first. An HTTP server listens on one; this takes
// connections on the other and gives them to the same server, so that there is one certificate, one set of limits and one
// end. It must never answer by itself.
import type { Server as HttpServer } from 'node:http';
import { createServer } from 'node:net';

export const localhost = { first: '127.0.0.1', second: '::1' } as const;

/** This machine has no IPv6. */
const absent: readonly string[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

/**
 * Listens on the second address of `localhost`, on the port that the server has on the first.
 * @returns how to stop; null where the machine has no such address.
 * @throws Error of Node, as when another program has the port there.
 */
export function openTwin(server: HttpServer, port: number): Promise<(() => void) | null> {
  // Servers of Node take connections that others accepted (documented for http, and the same code in tls).
  const twin = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.emit('connection', socket);
  });
  twin.maxConnections = server.maxConnections;
  return new Promise((resolve, reject) => {
    twin.once('error', (thrown: NodeJS.ErrnoException) => {
      if (absent.includes(thrown.code ?? '')) resolve(null);
      else reject(thrown);
    });
    twin.listen({ host: localhost.second, port }, () => {
      // An error later, as no more file handles, ends nothing: the first address goes on.
      twin.on('error', () => undefined);
      resolve(() => void twin.close());
    });
  });
}
