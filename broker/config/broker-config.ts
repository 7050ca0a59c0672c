// The broker's settings and the rules between them; those of everything that listens are in listener-config.ts. It must
// never let a setting pass that would only fail, or be ignored, later.

import { type Static, Type } from 'typebox';
import { type Config, type ConfigFile, loadConfig } from '../../src/config.ts';
import { keyFilePrefix } from '../../src/core/database-url.ts';
import { advisoriesSchema, checkAdvisories } from './advisories-config.ts';
import { checkCluster, clusterSchema, ingressSchema } from './cluster-config.ts';
import { checkEnrolment, enrolmentSchema } from './enrolment-config.ts';
import { checkIngest, ingestSchema } from './ingest-config.ts';
import { checkListeners, isLoopback, listenerSchemas } from './listener-config.ts';
import { checkMapStyle, mapStyleSchema } from './map-style-config.ts';
import { checkMetrics, metricsSchema } from './metrics-config.ts';
import { checkNotify, notifySchema } from './notify-config.ts';
import { checkOidc, oidcSchema } from './oidc-config.ts';
import { checkPractice, practiceSchema } from './practice-config.ts';
import { checkTraccar, traccarSchema } from './traccar-config.ts';

export const brokerSchema = Type.Object({
  ...listenerSchemas,
  ingress: ingressSchema,
  cluster: clusterSchema,
  ingest: ingestSchema,
  firmware: Type.Object({
    hosts: Type.Array(
      Type.String({
        pattern: '^[a-z0-9.-]{1,253}(:[0-9]{1,5})?$',
        description: 'host (https at port 443) or host:port, in lower case, without a scheme',
      }),
      {
        default: [],
        description:
          'Hosts that firmware for vehicles may lie at, with commas between them; it is never fetched from here',
      },
    ),
  }),
  database: Type.String({
    minLength: 1,
    default: './fleetward.db',
    description: 'SQLite file, or postgres://user@host/database',
  }),
  signingKeyFile: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Private key (PEM) that signs commands; <database>.signing-key.pem unless given, ./fleetward.signing-key.pem with PostgreSQL',
    }),
  ),
  console: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Folder of the built web console, served at /console/; the one of the release unless given',
    }),
  ),
  maps: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Folder of map files (*.pmtiles), served at /maps/ to users; without it there are none',
    }),
  ),
  mapStyle: mapStyleSchema,
  metrics: metricsSchema,
  notify: notifySchema,
  oidc: oidcSchema,
  enrolment: enrolmentSchema,
  practice: practiceSchema,
  advisories: advisoriesSchema,
  traccar: traccarSchema,
  feeds: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Folder with a file for each feed of events into an MQTT broker (home.toml); without it there are none',
    }),
  ),
  vapidKeyFile: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Private key (PEM) of Web Push; <database>.vapid-key.pem unless given, ./fleetward.vapid-key.pem with PostgreSQL',
    }),
  ),
  insecureListen: Type.Boolean({
    default: false,
    description: 'Allow every listener without TLS on an address other than loopback',
  }),
  logLevel: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
    description: 'Least severity that is logged',
  }),
});

export type BrokerConfig = Static<typeof brokerSchema> & {
  readonly signingKeyFile: string;
  readonly vapidKeyFile: string;
};

export interface BrokerConfigSources {
  readonly file: ConfigFile | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Record<string, unknown>>;
}

/** @throws AppError `usage` or `config`. */
export function loadBrokerConfig(sources: BrokerConfigSources): Config<BrokerConfig> {
  const { value, origins } = loadConfig({ schema: brokerSchema, ...sources });
  checkListeners(value);
  checkMetrics(value.metrics, !isLoopback(value.metrics.host), value.insecureListen);
  checkMapStyle(value.mapStyle);
  checkNotify(value.notify);
  checkOidc(value.oidc);
  checkEnrolment(value.enrolment);
  checkCluster(value, isLoopback);
  checkPractice(value);
  checkAdvisories(value.advisories);
  checkTraccar(value.traccar);
  checkIngest(value.ingest);
  const signingKeyFile = value.signingKeyFile ?? `${keyFilePrefix(value.database)}.signing-key.pem`;
  const vapidKeyFile = value.vapidKeyFile ?? `${keyFilePrefix(value.database)}.vapid-key.pem`;
  const standard = { kind: 'default', name: 'default' } as const;
  return {
    value: Object.freeze({ ...value, signingKeyFile, vapidKeyFile }),
    origins: { signingKeyFile: standard, vapidKeyFile: standard, ...origins },
  };
}
