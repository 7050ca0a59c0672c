// Listens on a port, or says in plain text why it cannot. One place for every listener of the broker.
import type { Server } from 'node:net';
import { AppError, codeOf, messageOf } from '../../src/core/errors.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** Table of the configuration that the address stands in. */
  readonly setting?: 'http' | 'admin' | 'metrics' | 'cluster-auth' | 'mqtt' | 'ws' | undefined;
}

const protocols: Partial<Record<string, string>> = { mqtt: 'MQTT', ws: 'WebSocket' };

/** Why a port could not be had: AppError `port_in_use` or `config`. */
export function listenError(thrown: unknown, { host, port, setting = 'http' }: ListenAddress): AppError {
  const protocol = protocols[setting] ?? 'HTTP';
  const code = codeOf(thrown);
  if (code === 'EADDRINUSE') {
    return new AppError('port_in_use', `${protocol} port ${port} on ${host} is taken by another program`, {
      cause: thrown,
      hint: `Stop that program, or choose another port with --${setting}-port.`,
    });
  }
  const hint =
    code === 'EACCES'
      ? `Ports below 1024 need a right; choose another with --${setting}-port.`
      : `Give an address of this machine with --${setting}-host.`;
  const message = `cannot listen for ${protocol} on ${host} port ${port}: ${messageOf(thrown)}`;
  return new AppError('config', message, { cause: thrown, hint });
}

/**
 * Binds the server and gives its port. The caller handles faults after that.
 * @param backlog connections that may wait to be accepted; by default Node's own number.
 * @throws AppError `port_in_use` or `config`.
 */
export function listenOn(server: Server, address: ListenAddress, backlog?: number): Promise<number> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    const refused = (thrown: Error): void => reject(listenError(thrown, address));
    server.once('error', refused);
    server.listen({ host, port, ...(backlog === undefined ? {} : { backlog }) }, () => {
      server.removeListener('error', refused);
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
    });
  });
}
