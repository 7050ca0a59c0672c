// Joins a bridge to its RabbitMQ cluster: reads the files that the settings name, and puts the adapters together with the
// statements that several bridges share.
import { AppError } from '../../src/core/errors.ts';
import type { Clock, Database, Entropy, Log } from '../../src/ports.ts';
import { createClusterServer } from '../adapters/cluster/rabbitmq.ts';
import { createManagement, type Management } from '../adapters/cluster/rabbitmq-management.ts';
import { readSecretLine } from '../adapters/keys/secret-file.ts';
import { readCertificates, readTlsFiles } from '../adapters/keys/tls-files.ts';
import { watchClusterManagement } from '../cluster/cluster-management.ts';
import { createClusterPresence } from '../cluster/cluster-presence.ts';
import { watchClusterRevocations } from '../cluster/cluster-revocations.ts';
import type { BrokerConfig } from '../config/broker-config.ts';
import { clusterAddress } from '../config/cluster-config.ts';
import type { OpenMqttServer } from '../ports/mqtt-server.ts';
import { createGroupCommit } from '../scheduling/group-commit.ts';
import { findDeviceRef, isTurnOver, nextClusterTurn, recordClusterLogin } from '../store/cluster.ts';
import { hashSecret } from '../store/devices/device-secret.ts';

interface ClusterPorts {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
}

const pathSecretLeast = 16;

function readPathSecretHash(file: string | undefined): string | null {
  if (file === undefined) return null;
  const pathSecret = readSecretLine('cluster.authWordFile', file);
  if (pathSecret.length >= pathSecretLeast && /^[A-Za-z0-9_-]+$/.test(pathSecret))
    return hashSecret(pathSecret);
  throw new AppError(
    'config',
    `cluster.authWordFile ${file}: not ${pathSecretLeast} or more of A-Z a-z 0-9 _ -`,
  );
}

function readMaterial({ cluster }: BrokerConfig) {
  const { caFile, certFile, keyFile, authCertFile, authKeyFile } = cluster;
  const ca = caFile === undefined ? null : readCertificates('cluster.caFile', caFile).pem;
  const own =
    certFile === undefined || keyFile === undefined
      ? null
      : readTlsFiles({ setting: 'cluster', certFile, keyFile }).material;
  const auth =
    authCertFile === undefined || authKeyFile === undefined
      ? null
      : readTlsFiles({ setting: 'cluster.auth', certFile: authCertFile, keyFile: authKeyFile }).material;
  return { ca, client: own === null ? null : { cert: own.cert, key: own.key }, auth };
}

/** Background work that needs the cluster. */
function watchers(ports: ClusterPorts, management: Management) {
  const presence = createClusterPresence({ ...ports, isConnected: management.isConnected });
  return {
    presence,
    start() {
      const stop = watchClusterRevocations({
        ...ports,
        disconnect: management.disconnect,
        onEnded: presence.ask,
      });
      const stopProbing = watchClusterManagement({ ...ports, probe: management.probe });
      return () => {
        stop();
        stopProbing();
        void presence.close();
      };
    },
  };
}

/**
 * What takes the place of the MQTT server when `ingress` is set; null without it. Reads every file at once.
 * @throws AppError `config` when one cannot be used.
 */
export function readClusterIngress(config: BrokerConfig): ((ports: ClusterPorts) => OpenMqttServer) | null {
  const address = clusterAddress(config.ingress);
  if (address === null) return null;
  const { cluster } = config;
  const { ca, client, auth } = readMaterial(config);
  const management = createManagement({
    urls: cluster.managementUrls,
    user: cluster.managementUser,
    password: readSecretLine('cluster.managementPasswordFile', cluster.managementPasswordFile ?? ''),
    ca,
  });
  const password = readSecretLine('cluster.passwordFile', cluster.passwordFile ?? '');
  const pathSecretHash = readPathSecretHash(cluster.authWordFile);
  const listening = { host: cluster.authHost, port: cluster.authPort, setting: 'cluster-auth' } as const;
  return (ports) => async (options) => {
    const { db, clock, entropy, log } = ports;
    const { presence, start } = watchers(ports, management);
    // A whole fleet logs in at once after an outage: as few commits as possible.
    const logins = createGroupCommit({ db, clock, log });
    return createClusterServer(options, {
      address,
      password,
      tls: { ca, client },
      entropy,
      prefetch: cluster.prefetch,
      management,
      auth: { ...listening, pathSecretHash, tls: auth },
      find: (device) => findDeviceRef(db, device),
      nextTurn: () => nextClusterTurn(db, 'sessions'),
      isTurnOver: ({ deviceNo }, turn) => isTurnOver(db, deviceNo, turn),
      async recordLogin(device, secretHash) {
        await logins.write([recordClusterLogin({ device, secretHash, atMs: Math.round(clock.utcMs()) })]);
      },
      onGone: ({ deviceNo }) => presence.ask(deviceNo),
      watch: start,
    });
  };
}
