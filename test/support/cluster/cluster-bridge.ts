// Bridges behind a RabbitMQ cluster as an operator runs them: the built program with its files, all on one database and one
// signing key, and in front of their listeners for the cluster's questions what a load balancer does.
import { chmodSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { waitUntil } from '../machine/wait-until.ts';
import { type LogLine, type Program, runProgram, startProgram } from '../programs/fleet-processes.ts';
import { bridgeUser, managementUser, type RabbitBench } from './rabbitmq.ts';

export interface BridgeSetup {
  readonly folder: string;
  readonly database: string;
  readonly rabbit: RabbitBench;
  /** Port at which the cluster asks; a free one unless given. */
  readonly authPort?: number;
  /** Another build than that of the checkout; ends with a slash. */
  readonly build?: string;
  /** Another key than the other bridges have. */
  readonly signingKeyFile?: string;
  /** Settings beside those of every bridge. */
  readonly flags?: readonly string[];
}

export interface Bridge {
  readonly program: Program;
  readonly httpPort: number;
  readonly authPort: number;
}

export const adminPassword = 'correct horse battery staple';

function writeSecret(file: string, line: string): string {
  writeFileSync(file, `${line}\n`);
  chmodSync(file, 0o600);
  return file;
}

/** The settings of every bridge. */
export function bridgeFlags(setup: BridgeSetup): readonly string[] {
  const { folder, database, rabbit, authPort = 0 } = setup;
  const { nodes, tls } = rabbit;
  const hosts = nodes.map(({ amqps }) => `localhost:${amqps}`).join(',');
  const management = nodes.map((node) => `https://localhost:${node.managementTls}`).join(',');
  return [
    ['--database', database],
    ['--signing-key-file', setup.signingKeyFile ?? join(folder, 'signing-key.pem')],
    ['--vapid-key-file', join(folder, 'vapid-key.pem')],
    ['--ingress', `amqps://${bridgeUser.name}@${hosts}/fleet`],
    ['--http-port', '0'],
    ['--cluster-auth-port', String(authPort)],
    ['--cluster-password-file', writeSecret(join(folder, 'bridge-password'), bridgeUser.password)],
    ['--cluster-ca-file', tls.caFile],
    ['--cluster-cert-file', tls.certFile],
    ['--cluster-key-file', tls.keyFile],
    ['--cluster-management-urls', management],
    ['--cluster-management-user', managementUser.name],
    [
      '--cluster-management-password-file',
      writeSecret(join(folder, 'management-password'), managementUser.password),
    ],
  ].flat();
}

/** Starts a bridge and waits until it serves. */
export async function startBridge(setup: BridgeSetup): Promise<Bridge> {
  const { build } = setup;
  const node = { flags: [], env: {}, ...(build === undefined ? {} : { build }) };
  const program = startProgram('broker', ['start', ...bridgeFlags(setup), ...(setup.flags ?? [])], node);
  const ready = (): LogLine | undefined => program.lines.find((line) => line.msg === 'broker_ready');
  const line = await waitUntil('the bridge', () => ready() ?? program.exitCode() !== null).catch(
    (thrown: unknown) => {
      program.signal('SIGKILL');
      throw thrown;
    },
  );
  if (line === true) throw new Error(`the bridge did not start: ${program.complaints()}`);
  return { program, httpPort: Number(line['httpPort']), authPort: Number(line['clusterAuthPort']) };
}

/** An account with an administrator. */
export function createAccount({ database, folder }: BridgeSetup): void {
  const key = ['--signing-key-file', join(folder, 'signing-key.pem')];
  runProgram(
    'broker',
    ['account', 'create', 'demo', '--admin', 'admin', '--password-file', '-', '--database', database, ...key],
    adminPassword,
  );
}

export interface Balancer {
  close(): Promise<void>;
}

/** Hands each connection to the first of these ports that takes it, as a load balancer does. */
export async function startBalancer(port: number, targets: () => readonly number[]): Promise<Balancer> {
  const open = new Set<{ destroy(): void }>();
  const server: Server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
    const tryNext = (left: readonly number[]): void => {
      const [next, ...rest] = left;
      if (next === undefined) return void socket.destroy();
      const onward = connect({ host: '127.0.0.1', port: next });
      onward.once('connect', () => {
        socket.pipe(onward).pipe(socket);
        socket.once('close', () => onward.destroy());
        onward.once('close', () => socket.destroy());
        onward.on('error', () => socket.destroy());
      });
      onward.once('error', () => {
        if (onward.connecting || onward.bytesWritten === 0) tryNext(rest);
      });
    };
    tryNext(targets());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
