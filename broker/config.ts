// The broker's settings and the rules between them. Safe by default: it listens on this machine only, and a listener
// without TLS on another address must be asked for in words.
import { type Static, Type } from 'typebox';
import { type Config, type ConfigFile, loadConfig } from '../src/config.ts';
import { AppError } from '../src/core/errors.ts';
import { defaultRequestRates } from './api/admission.ts';
import { checkEnrolment, enrolmentSchema } from './enrolment-config.ts';
import { checkNotify, notifySchema } from './notify/notify-config.ts';

const port = (standard: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: standard, description });
const host = (description: string) => Type.String({ minLength: 1, default: '127.0.0.1', description });

export const brokerSchema = Type.Object({
  http: Type.Object({
    port: port(8080, 'Port of the HTTP/JSON service; 0 takes a free one'),
    host: host('Address of the HTTP/JSON service'),
    // Fastify's own check of an address would end the program without naming the setting.
    trustedProxies: Type.Array(Type.String({ pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$' }), {
      default: [],
      description: 'Addresses of reverse proxies whose X-Forwarded-For is believed, with commas between them',
    }),
    ratePerS: Type.Number({
      minimum: 0.1,
      maximum: 1_000_000,
      default: defaultRequestRates.token.perS,
      description: 'Requests a second that one token may go on to make',
    }),
    burst: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: defaultRequestRates.token.burst,
      description: 'Requests that one token may make at once',
    }),
  }),
  mqtt: Type.Object({
    port: port(1883, 'Port of the MQTT server; 0 takes a free one'),
    host: host('Address of the MQTT server'),
  }),
  admin: Type.Object({
    port: port(8081, 'Port of the listener for the operator of the service; 0 takes a free one'),
    host: host('Address of that listener'),
    tokenFile: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'File with its token, made by `admin-token`; without it there is no such listener',
      }),
    ),
  }),
  firmware: Type.Object({
    hosts: Type.Array(Type.String({ pattern: '^[a-z0-9.-]{1,253}(:[0-9]{1,5})?$' }), {
      default: [],
      description:
        'Hosts that firmware for vehicles may lie at, with commas between them; it is never fetched from here',
    }),
  }),
  database: Type.String({ minLength: 1, default: './fleetward.db', description: 'SQLite file' }),
  signingKeyFile: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Private key (PEM) that signs commands; <database>.signing-key.pem unless given',
    }),
  ),
  notify: notifySchema,
  enrolment: enrolmentSchema,
  vapidKeyFile: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Private key (PEM) of Web Push; <database>.vapid-key.pem unless given',
    }),
  ),
  insecureListen: Type.Boolean({
    default: false,
    description: 'Allow listening without TLS on an address other than loopback',
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

/** True for an address that only programs of this machine reach. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127(\.\d{1,3}){3}$/.test(address);
}

function checkListeners(config: Static<typeof brokerSchema>): void {
  if (config.insecureListen) return;
  const open = [
    { flag: '--http-host', address: config.http.host, what: 'tokens and passwords' },
    { flag: '--mqtt-host', address: config.mqtt.host, what: 'device secrets and positions' },
    { flag: '--admin-host', address: config.admin.host, what: "the operator's token" },
  ].find(({ address }) => !isLoopback(address));
  if (open === undefined) return;
  throw new AppError(
    'config',
    `${open.flag} ${open.address} would send ${open.what} over the network without TLS`,
    {
      hint: 'Put a TLS proxy in front and listen on 127.0.0.1, or add --insecure-listen to accept the risk.',
    },
  );
}

export interface BrokerConfigSources {
  readonly file: ConfigFile | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Record<string, unknown>>;
}

/** @throws AppError `usage` or `config`. */
export function loadBrokerConfig(sources: BrokerConfigSources): Config<BrokerConfig> {
  const { value, origins } = loadConfig({ schema: brokerSchema, ...sources });
  checkListeners(value);
  checkNotify(value.notify);
  checkEnrolment(value.enrolment);
  const signingKeyFile = value.signingKeyFile ?? `${value.database}.signing-key.pem`;
  const vapidKeyFile = value.vapidKeyFile ?? `${value.database}.vapid-key.pem`;
  const standard = { kind: 'default', name: 'default' } as const;
  return {
    value: Object.freeze({ ...value, signingKeyFile, vapidKeyFile }),
    origins: { signingKeyFile: standard, vapidKeyFile: standard, ...origins },
  };
}
