// The settings of everything that listens: where, with which certificate, and who must show one. Safe by default: on this
// machine only, and a listener without TLS on another address must be allowed explicitly.
import { type Static, Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';
import { clientCertPolicies } from '../core/accounts/client-certificate.ts';
import { defaultRequestRates } from '../core/scheduling/request-rates.ts';

const port = (standard: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: standard, description });
const host = (description: string) => Type.String({ minLength: 1, default: '127.0.0.1', description });
const file = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));
const allowPlain = (what: string) =>
  Type.Boolean({
    default: false,
    description: `Allow ${what} without TLS on an address other than loopback, for example behind a TLS proxy`,
  });

const serverTls = {
  certFile: file(
    'Certificate of this listener (PEM), then those between it and its authority; with it there is TLS only',
  ),
  keyFile: file('Private key of that certificate (PEM), mode 0600'),
};

const tls = Type.Object(serverTls);
const mutualTls = Type.Object({
  ...serverTls,
  clientCaFile: file('Authorities (PEM) that sign certificates of devices'),
  clientCert: Type.Enum([...clientCertPolicies], {
    default: 'none',
    description: 'Whether a device shows a certificate with the common name {accountID}/{deviceID}',
  }),
  clientSecret: Type.Enum(['required', 'optional'], {
    default: 'required',
    description: 'Whether a device with such a certificate needs its secret as well',
  }),
});

export type TlsConfig = Static<typeof tls>;
export type MutualTlsConfig = Static<typeof mutualTls>;

export const listenerSchemas = {
  http: Type.Object({
    port: port(8080, 'Port of the HTTP/JSON service; 0 takes a free one'),
    host: host('Address of the HTTP/JSON service'),
    // Fastify's own check of an address would end the program without naming the setting.
    trustedProxies: Type.Array(Type.String({ pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$' }), {
      default: [],
      description: 'Addresses of reverse proxies whose X-Forwarded-For is trusted, with commas between them',
    }),
    // What is no origin is refused below, with what to write instead.
    origins: Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
      default: [],
      description:
        'Origins of web pages that may read answers (https://console.example.com), with commas between them; no other page may',
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
    allowPlain: allowPlain('the HTTP/JSON service'),
    tls,
  }),
  mqtt: Type.Object({
    port: port(1883, 'Port of the MQTT server (8883 is customary with TLS); 0 takes a free one'),
    host: host('Address of the MQTT server'),
    allowPlain: allowPlain('MQTT'),
    tls: mutualTls,
  }),
  ws: Type.Object({
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65_535,
        description: 'Port of MQTT over WebSocket, at the path /mqtt; without it there is no such listener',
      }),
    ),
    host: host('Address of MQTT over WebSocket'),
    origins: Type.Array(Type.String({ pattern: '^https?://[a-z0-9.-]{1,253}(:[0-9]{1,5})?$' }), {
      default: [],
      description:
        'Origins of web pages that may connect, with commas between them; no page may unless listed',
    }),
    allowPlain: allowPlain('MQTT over WebSocket'),
    tls: mutualTls,
  }),
  admin: Type.Object({
    port: port(8081, 'Port of the listener for the operator of the service; 0 takes a free one'),
    host: host('Address of that listener'),
    tokenFile: file(
      'File with its token, made by `admin-token`; without it and `viewTokenFile` there is no such listener',
    ),
    viewTokenFile: file(
      'File with a token that reads the state of the service and nothing else, made by `admin-token`; for the page of the operator',
    ),
    names: Type.Array(Type.String({ pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$' }), {
      default: [],
      description:
        'Host names in small letters by which that listener may be asked without TLS, with commas between them; addresses and localhost always may',
    }),
    backupHours: Type.Integer({
      minimum: 1,
      maximum: 8760,
      default: 26,
      description: 'Hours after which the page of the operator calls the last backup late',
    }),
    allowPlain: allowPlain("the operator's listener"),
    tls,
  }),
} as const;

const listeners = Type.Object(listenerSchemas);
export type ListenersConfig = Static<typeof listeners>;
export type ListenerName = keyof ListenersConfig;

/** What travels over each of them. */
const burdens: Readonly<Record<ListenerName, string>> = {
  http: 'tokens and passwords',
  mqtt: 'device secrets and positions',
  ws: 'device secrets and positions',
  admin: "the operator's token",
};

/** True for an address that only programs of this machine reach. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127(\.\d{1,3}){3}$/.test(address);
}

export interface PlainListener {
  readonly name: ListenerName;
  readonly host: string;
  /** What can be read on the network. */
  readonly burden: string;
}

/** Listeners without TLS on an address other than loopback. */
export function plainListeners(config: ListenersConfig): readonly PlainListener[] {
  const names = Object.keys(listenerSchemas) as ListenerName[];
  return names
    .filter((name) => !isLoopback(config[name].host) && config[name].tls.certFile === undefined)
    .map((name) => ({ name, host: config[name].host, burden: burdens[name] }));
}

/** Warnings about valid settings that are probably a mistake. */
export function notesOf(config: ListenersConfig): readonly string[] {
  const { tls: material, trustedProxies } = config.http;
  if (material.certFile !== undefined || trustedProxies.length > 0) return [];
  return [
    'http.trustedProxies is empty: behind a proxy all clients count as one source, whose limits on logins and connections they share',
  ];
}

function checkPlain(config: ListenersConfig, isAllowed: boolean): void {
  const open = plainListeners(config).find(({ name }) => !isAllowed && !config[name].allowPlain);
  if (open === undefined) return;
  const { name, host: address, burden } = open;
  throw new AppError(
    'config',
    `--${name}-host ${address} would send ${burden} over the network without TLS`,
    {
      hint: `Give it a certificate (--${name}-tls-cert-file, --${name}-tls-key-file), or put a TLS proxy in front and listen on
  127.0.0.1, or accept the risk with --${name}-allow-plain (--insecure-listen for all listeners).`,
    },
  );
}

function checkPair(name: ListenerName, { certFile, keyFile }: TlsConfig): void {
  if ((certFile === undefined) === (keyFile === undefined)) return;
  throw new AppError('config', `${name}.tls.certFile and ${name}.tls.keyFile belong together`, {
    hint: 'Give both to speak TLS, or none.',
  });
}

function checkMutual(
  name: 'mqtt' | 'ws',
  { certFile, clientCaFile, clientCert, clientSecret }: MutualTlsConfig,
): void {
  const at = `${name}.tls`;
  const fail = (message: string, hint: string): never => {
    throw new AppError('config', message, { hint });
  };
  if (clientCert === 'none' && clientCaFile !== undefined) {
    fail(
      `${at}.clientCaFile is set, but ${at}.clientCert is none`,
      `Set ${at}.clientCert to optional or required.`,
    );
  }
  if (clientCert === 'none' && clientSecret === 'optional') {
    fail(
      `${at}.clientSecret is optional, but ${at}.clientCert is none`,
      `Set ${at}.clientSecret to required, or ${at}.clientCert to optional or required.`,
    );
  }
  if (clientCert === 'none') return;
  if (certFile === undefined || clientCaFile === undefined) {
    fail(
      `${at}.clientCert is ${clientCert}, and ${at}.certFile or ${at}.clientCaFile is not set`,
      `Set both files, or set ${at}.clientCert to none.`,
    );
  }
}

/** The origin as a browser sends it (RFC 6454 section 6.2); null when the text names none. */
function originOf(text: string): string | null {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const { origin, host: authority } = new URL(text);
  return authority === '' || origin === 'null' ? null : origin;
}

/** Browsers compare origins to the letter: one that is written otherwise would be listed and never match. */
function checkOrigins(origins: readonly string[]): void {
  for (const text of origins) {
    const origin = originOf(text);
    const isAny = text.includes('*');
    if (origin === text && !isAny) continue;
    const message = `http.origins: ${JSON.stringify(text)} is no origin${isAny ? '; every page of the web is never allowed' : ''}`;
    const hint =
      origin === null || isAny
        ? 'List each origin in full, as https://console.example.com or http://localhost:5173.'
        : `Write ${origin}, as browsers send it.`;
    throw new AppError('config', message, { hint });
  }
}

/**
 * @throws AppError `config` when settings contradict each other, or a listener would be open without TLS and without
 * `allowPlain`.
 */
export function checkListeners(config: ListenersConfig & { readonly insecureListen: boolean }): void {
  checkPlain(config, config.insecureListen);
  checkOrigins(config.http.origins);
  for (const name of ['http', 'mqtt', 'ws', 'admin'] as const) checkPair(name, config[name].tls);
  for (const name of ['mqtt', 'ws'] as const) checkMutual(name, config[name].tls);
}
