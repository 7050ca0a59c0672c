// Whether a listener of this program still takes connections and looks at them: comes, says nothing, and waits to be let
// go. It proves what a flag cannot: that the loop behind the listener runs. It must never wait without an end.
import { connect } from 'node:net';

/** Where a listener is reached from its own machine. */
export interface ProbedPort {
  readonly host: string;
  readonly port: number;
}

/** An address that stands for all of them is reached at the machine's own. */
function ownAddress(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** True when the connection was taken and, after our end of it was closed, closed from the other side within `limitMs`. */
export function probePort({ host, port }: ProbedPort, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: ownAddress(host), port });
    let isTaken = false;
    const finish = (isAlive: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isAlive);
    };
    const timer = setTimeout(() => finish(false), limitMs);
    socket.once('connect', () => {
      isTaken = true;
      socket.end();
    });
    socket.on('data', () => undefined);
    socket.once('end', () => finish(true));
    // Reset is an answer too, as from a listener that turns away.
    socket.once('error', () => finish(isTaken));
    socket.once('close', () => finish(isTaken));
  });
}
