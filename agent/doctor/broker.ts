// Checks of the connection to the broker, step by step: name, connection, TLS, session, signature, time. The session
// uses the device's own name, which would disconnect a running agent; so it is for a stopped one only. It requests
// the welcome alone: it receives no command and no configuration, and sends no event.
import { dayMs } from '../../src/core/durations.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { featureNames } from '../../src/core/events/event.ts';
import { hexId } from '../../src/core/ids.ts';
import { formatDeviceUser, formatTopic } from '../../src/core/wire/topics.ts';
import {
  decodeWelcome,
  encodeJsonMessage,
  type Hello,
  signedTypes,
  type Welcome,
} from '../../src/core/wire/wire.ts';
import type { MqttLink } from '../../src/ports.ts';
import type { AgentConfig } from '../config.ts';
import type { RemoteConfig } from '../config-origin.ts';
import { type Check, type Finding, fault, ok, skipped, warning } from './check.ts';
import type { CertificateFacts, DoctorPorts } from './ports.ts';
import type { Sightings } from './sightings.ts';

interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Host and port of `broker.url`. @throws AppError `config`. */
export function parseBrokerUrl(url: string): BrokerAddress {
  const match = /^mqtt(s?):\/\/(\[[0-9a-fA-F:.]+\]|[^:/@]+)(?::(\d{1,5}))?$/.exec(url);
  const [, s = '', host = '', port] = match ?? [];
  const isTls = s === 's';
  const number = port === undefined ? (isTls ? 8883 : 1883) : Number(port);
  if (match === null || number < 1 || number > 65_535)
    throw new AppError('config', `broker.url ${url} is not an address`, {
      hint: 'Example: mqtts://fleet.example.com:8883.',
    });
  return { host: host.replace(/^\[|\]$/g, ''), port: number, isTls };
}

export interface BrokerContext {
  readonly config: AgentConfig;
  readonly publicKey: string;
  readonly remote: RemoteConfig;
  readonly ports: DoctorPorts;
  /** Takes the time of the broker. */
  readonly sightings: Sightings;
}

const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(':');

function nameCheck({ host }: BrokerAddress, { network }: DoctorPorts): Check {
  return {
    id: 'broker-name',
    title: 'Name of the broker',
    mostS: 15,
    async run() {
      if (isAddress(host)) return [ok(`${host} is an address`)];
      try {
        return [ok(`${host} is ${(await network.resolve(host)).slice(0, 4).join(', ')}`)];
      } catch (thrown) {
        return [
          fault(
            `${host} has no address: ${messageOf(thrown)}`,
            'Check the spelling, the mobile link and its name server.',
          ),
        ];
      }
    },
  };
}

/** Whether the steps before found the way open; what comes after is not tried else. */
interface Way {
  isOpen: boolean;
}

const noWay = skipped('there is no connection to the broker');

function connectionCheck(
  { host, port }: BrokerAddress,
  { ports: { network } }: Pick<BrokerContext, 'ports'>,
  way: Way,
): Check {
  return {
    id: 'broker-connection',
    title: 'Connection to the broker',
    mostS: 20,
    async run() {
      try {
        const ms = Math.round(await network.connect(host, port));
        way.isOpen = true;
        return [ok(`${host} takes connections on port ${port} (${ms} ms)`)];
      } catch (thrown) {
        const todo = /refused/i.test(messageOf(thrown))
          ? 'The machine is there and nothing listens: check the port, and that the broker runs.'
          : 'Check the mobile link, the plan of the card (APN) and firewalls on the way.';
        return [fault(`no connection to ${host}:${port}: ${messageOf(thrown)}`, todo)];
      }
    },
  };
}

/** Explanations of TLS error codes. */
const tlsWords: Readonly<Record<string, readonly [words: string, todo: string]>> = {
  CERT_HAS_EXPIRED: [
    'its certificate has expired',
    'Renew it at the broker. If this machine’s clock is wrong, set that first.',
  ],
  CERT_NOT_YET_VALID: [
    'its certificate is not valid yet',
    'The clock of this machine is behind: set it (timedatectl).',
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    'its certificate is signed by itself',
    'Give the certificate of its authority in broker.caFile.',
  ],
  SELF_SIGNED_CERT_IN_CHAIN: [
    'its authority is not known here',
    'Give the certificate of that authority in broker.caFile.',
  ],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    'its authority is not known here',
    'Give the certificate of that authority in broker.caFile.',
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    'it does not send its whole chain',
    'Let the broker send the intermediate certificates too, or give its authority in broker.caFile.',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'its certificate is for another name',
    'Write the name of the certificate in broker.url.',
  ],
};

const soonDays = 14;

const formatDay = (utcMs: number): string => new Date(utcMs).toISOString().slice(0, 10);

function certificateWords({ subject, issuer, names, toMs }: CertificateFacts): string {
  return `${subject} (${names}), signed by ${issuer}, until ${formatDay(toMs)}`;
}

function tlsCheck({ host, port }: BrokerAddress, { config, ports }: BrokerContext, way: Way): Check {
  return {
    id: 'broker-tls',
    title: 'TLS of the broker',
    mostS: 20,
    async run() {
      if (!way.isOpen) return [noWay];
      const { ca, client } = config.broker;
      const {
        protocol,
        chain,
        fault: reason,
      } = await ports.network.tls({ host, port }, { ...(ca === undefined ? {} : { ca }), ...client });
      const [own] = chain;
      const shown = own === undefined ? 'no certificate' : certificateWords(own);
      if (reason !== null) {
        const [words, todo] = tlsWords[reason] ?? [reason, 'Check broker.caFile and the name in broker.url.'];
        return [fault(`${words}: ${shown}`, todo)];
      }
      const ends = chain.map(({ toMs }) => toMs);
      const leftDays = Math.floor((Math.min(...ends) - ports.clock.utcMs()) / dayMs);
      const words = `${protocol}; ${shown}`;
      return [
        ends.length > 0 && leftDays < soonDays
          ? warning(`${words}; the chain ends in ${leftDays} days`, 'Renew it at the broker before then.')
          : ok(words),
      ];
    },
  };
}

/** True values: the broker takes them for those of the vehicle. */
function helloOf({ config, remote }: BrokerContext, boot: string, nonce: string): Hello {
  return {
    boot,
    nonce,
    agentVersion: config.agentVersion,
    features: featureNames.filter((name) => config.profile.relays[name] !== undefined),
    sensors: [...Object.keys(config.profile.inputs), ...Object.keys(config.profile.analogs)],
    configVersion: remote.version,
    ...(remote.sha256 === null ? {} : { configSha256: remote.sha256 }),
    // The broker keeps the highest that it knows.
    commandCounter: 0,
    timeQuality: 'none',
  };
}

type Greeting =
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'silent' }
  | { readonly kind: 'forged' }
  | {
      readonly kind: 'welcome';
      readonly welcome: Welcome;
      readonly askedMs: number;
      readonly cameMs: number;
    };

const greetMs = 15_000;

/** Connects, greets, and waits for the answer. */
function greet(context: BrokerContext): Promise<Greeting> {
  const { config, ports, publicKey } = context;
  const { clock, entropy } = ports;
  const { accountID, deviceID, broker } = config;
  const device = { accountID, deviceID };
  const topic = (verb: 'hello' | 'welcome' | 'presence'): string => formatTopic(device, verb);
  const boot = `doctor-${hexId(entropy.bytes(6))}`;
  const nonce = hexId(entropy.bytes(8));
  const verifier = ports.createVerifier(publicKey);
  const offline = { topic: topic('presence'), payload: new TextEncoder().encode('offline'), qos: 1 } as const;
  return new Promise((resolve) => {
    let askedMs = clock.monoMs();
    const end = (greeting: Greeting): void => {
      cancel();
      void link.publish(offline);
      void link.close();
      resolve(greeting);
    };
    const cancel = clock.after(greetMs, () => end({ kind: 'silent' }));
    const say = async (): Promise<void> => {
      await link.subscribe([topic('welcome')]);
      askedMs = clock.monoMs();
      void link.publish({
        topic: topic('hello'),
        payload: encodeJsonMessage(helloOf(context, boot, nonce)),
        qos: 1,
      });
    };
    const link: MqttLink = ports.openMqttLink(
      {
        url: broker.url,
        clientId: formatDeviceUser(device),
        username: formatDeviceUser(device),
        password: broker.secret,
        keepaliveS: 30,
        connectTimeoutMs: greetMs,
        will: offline,
        ...(broker.ca === undefined ? {} : { ca: broker.ca }),
        ...broker.client,
      },
      {
        onUp: () =>
          void say().catch((thrown: unknown) => end({ kind: 'refused', reason: messageOf(thrown) })),
        onDown: (reason) => {
          cancel();
          resolve({ kind: 'refused', reason });
        },
        onMessage: ({ payload }, acknowledge) => {
          acknowledge();
          const body = verifier.verify(new TextDecoder().decode(payload), signedTypes.welcome);
          const welcome = body === null ? null : decodeWelcome(body);
          if (welcome === null) return end({ kind: 'forged' });
          if (welcome.nonce !== nonce || welcome.boot !== boot) return;
          end({ kind: 'welcome', welcome, askedMs, cameMs: clock.monoMs() });
        },
      },
    );
  });
}

function greetingFindings(
  greeting: Greeting,
  { config, remote, ports, sightings }: BrokerContext,
): readonly Finding[] {
  const who = `${config.accountID}/${config.deviceID}`;
  switch (greeting.kind) {
    case 'refused':
      return /password|authori/i.test(greeting.reason)
        ? [
            fault(
              `the broker refuses ${who}: ${greeting.reason}`,
              'Check device.account and device.id, or enrol again.',
            ),
          ]
        : [fault(`no session: ${greeting.reason}`, 'Is this the MQTT port of a Fleetward broker?')];
    case 'silent':
      return [fault(`the broker does not answer the hello of ${who}`, 'Look at the log of the broker.')];
    case 'forged':
      return [
        fault(
          'the welcome is not signed with the key in broker.publicKey',
          'It is another broker, or its key was changed: ask its operator, and enrol again.',
        ),
      ];
    case 'welcome': {
      const { welcome, askedMs, cameMs } = greeting;
      sightings.brokerAheadMs = welcome.serverTimeMs + (cameMs - askedMs) / 2 - ports.clock.utcMs();
      const config_ =
        remote.version === welcome.configVersion
          ? ''
          : `; configuration ${welcome.configVersion} will come (here: ${remote.version})`;
      return [ok(`${who} is known, and the welcome has the right signature${config_}`)];
    }
  }
}

function sessionCheck(context: BrokerContext, way: Way): Check {
  return {
    id: 'broker-session',
    title: 'Session with the broker',
    mostS: 40,
    run: async () => (way.isOpen ? greetingFindings(await greet(context), context) : [noWay]),
  };
}

/** In the order in which one needs the other; TLS only where the address asks for it. */
export function brokerChecks(context: BrokerContext): readonly Check[] {
  const { ports } = context;
  const address = parseBrokerUrl(context.config.broker.url);
  const way: Way = { isOpen: false };
  return [
    nameCheck(address, ports),
    connectionCheck(address, context, way),
    ...(address.isTls ? [tlsCheck(address, context, way)] : []),
    sessionCheck(context, way),
  ];
}
