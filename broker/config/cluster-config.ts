// The settings of a bridge behind a RabbitMQ cluster and the rules between them: with `ingress` this process speaks no MQTT
// itself. Nothing of them is a secret; those stand in files.
import { type Static, Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';
import { type ClusterAddress, parseClusterUrl } from '../core/cluster/cluster-url.ts';

const file = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

export const ingressSchema = Type.Optional(
  Type.String({
    minLength: 1,
    description:
      'RabbitMQ cluster that vehicles connect to: amqps://user@host:port,host:port/vhost; without it this process speaks MQTT itself',
  }),
);

export const clusterSchema = Type.Object({
  passwordFile: file("File whose first line is the bridge's password at the cluster, mode 0600"),
  caFile: file('Authorities (PEM) to trust for the cluster; those of the system unless given'),
  certFile: file('Certificate (PEM) that the bridge shows to the cluster'),
  keyFile: file('Private key of that certificate (PEM), mode 0600'),
  prefetch: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 2000,
    description: 'Payloads that are taken from the cluster and not stored yet; about two commits',
  }),
  managementUrls: Type.Array(Type.String({ pattern: '^https?://[A-Za-z0-9.:\\[\\]-]{1,260}/?$' }), {
    default: [],
    maxItems: 16,
    description: 'Management interface of the nodes, tried one after the other, with commas between them',
  }),
  managementUser: Type.String({
    minLength: 1,
    default: 'fleetward-management',
    description: 'User that may end connections there',
  }),
  managementPasswordFile: file("File whose first line is that user's password, mode 0600"),
  authPort: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 8083,
    description: 'Port of the listener that the cluster asks about each login; 0 takes a free one',
  }),
  authHost: Type.String({ minLength: 1, default: '127.0.0.1', description: 'Address of that listener' }),
  authWordFile: file(
    'File whose first line is the secret word that its paths must contain (/auth/WORD/user), mode 0600; needed on other addresses than loopback',
  ),
  authCertFile: file('Certificate (PEM) of that listener'),
  authKeyFile: file('Private key of that certificate (PEM), mode 0600'),
  allowPlain: Type.Boolean({
    default: false,
    description: 'Allow to speak with the cluster without TLS on other addresses than loopback',
  }),
});

export type ClusterConfig = Static<typeof clusterSchema>;

interface Checked {
  readonly ingress?: string | undefined;
  readonly cluster: ClusterConfig;
  readonly insecureListen: boolean;
  readonly ws: { readonly port?: number | undefined };
}

const fail = (message: string, hint: string): never => {
  throw new AppError('config', message, { hint });
};

/** The address of the cluster; null without one. @throws AppError `config`. */
export function clusterAddress(ingress: string | undefined): ClusterAddress | null {
  if (ingress === undefined) return null;
  const parsed = parseClusterUrl(ingress);
  if (parsed.ok) return parsed.address;
  return fail(`ingress: ${parsed.reason}`, 'For example: amqps://fleetward-bridge@mq1,mq2,mq3/fleet');
}

function checkPlain(config: Checked, address: ClusterAddress, isLoopback: (host: string) => boolean): void {
  const { cluster, insecureListen } = config;
  if (cluster.allowPlain || insecureListen) return;
  const hint = 'Speak TLS there, or accept the risk with --cluster-allow-plain.';
  const open = address.hosts.find(({ host }) => !isLoopback(host));
  if (!address.isTls && open !== undefined)
    fail(`ingress would send positions and a password to ${open.host} without TLS`, `${hint} (amqps://)`);
  const plain = cluster.managementUrls.find(
    (url) => url.startsWith('http:') && !isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, '')),
  );
  if (plain !== undefined) fail(`cluster.managementUrls would send a password to ${plain} without TLS`, hint);
  if (!isLoopback(cluster.authHost) && cluster.authCertFile === undefined)
    fail(`cluster.authHost ${cluster.authHost} would let device secrets over the network without TLS`, hint);
}

/** @throws AppError `config` when they do not go together, or something would be sent in the open or be ignored. */
export function checkCluster(config: Checked, isLoopback: (host: string) => boolean): void {
  const { cluster, ws } = config;
  const address = clusterAddress(config.ingress);
  if (address === null) return;
  const { passwordFile, certFile, keyFile, authCertFile, authKeyFile } = cluster;
  if (passwordFile === undefined)
    fail('ingress is given without cluster.passwordFile', 'The first line of that file is the password.');
  if (cluster.managementUrls.length === 0 || cluster.managementPasswordFile === undefined)
    fail(
      'ingress is given without cluster.managementUrls and cluster.managementPasswordFile',
      'Without them the connection of a vehicle whose secret was revoked could not be ended.',
    );
  if ((certFile === undefined) !== (keyFile === undefined))
    fail('cluster.certFile and cluster.keyFile belong together', 'Give both, or none.');
  if ((authCertFile === undefined) !== (authKeyFile === undefined))
    fail('cluster.authCertFile and cluster.authKeyFile belong together', 'Give both, or none.');
  if (!isLoopback(cluster.authHost) && cluster.authWordFile === undefined)
    fail(
      `cluster.authHost ${cluster.authHost} would reveal to any client which secrets are right`,
      'Give it a word with cluster.authWordFile, and put it into the paths in rabbitmq.conf.',
    );
  if (ws.port !== undefined)
    fail('ws.port is given, and with ingress this process speaks no MQTT', 'Remove one of them.');
  checkPlain(config, address, isLoopback);
}
