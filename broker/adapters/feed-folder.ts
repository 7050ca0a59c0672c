// Feeds from the files of a folder: `<feed>.toml` each. Who may write there is the operator, so a feed may go to a private address.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { loadConfig } from '../../src/config.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { OpenMqttLink } from '../../src/ports.ts';
import { isLoopback } from '../config/listener-config.ts';
import { type FeedTarget, feedFormats } from '../ports/feed-targets.ts';
import { readSecretLine } from './keys/secret-file.ts';

const feedsMost = 20;
const keepaliveS = 30;
const connectTimeoutMs = 20_000;

const text = (description: string) => Type.String({ default: '', maxLength: 500, description });
const levels = (standard: string, description: string) =>
  Type.String({ default: standard, pattern: '^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,7}$', description });

const feedSchema = Type.Object({
  account: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Account whose events are fed' }),
  url: Type.String({
    maxLength: 500,
    description: 'Address of the MQTT broker, as mqtts://mqtt.example.com',
  }),
  format: Type.Enum([...feedFormats], { description: 'Messages that it gets' }),
  user: text('User at the MQTT broker; of ThingsBoard the access token of the gateway'),
  passwordFile: text('File with the password in its first line, mode 0600'),
  caFile: text("Certificate authority of the MQTT broker (PEM); without it the system's list"),
  certFile: text('Client certificate (PEM), for a broker that requires one'),
  keyFile: text('Its private key (PEM), mode 0600'),
  prefix: levels('fleetward', 'First levels of the topics'),
  discoveryPrefix: levels('homeassistant', 'Discovery prefix of Home Assistant'),
  history: Type.Boolean({ default: false, description: 'Begin with the oldest stored event' }),
  eventsPerS: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 1000,
    description: 'Most events a second',
  }),
  insecure: Type.Boolean({ default: false, description: 'Allow mqtt:// without TLS to another machine' }),
});

const fault = (path: string, what: string, hint: string): AppError =>
  new AppError('config', `${path}: ${what}`, { hint });

function hostIn(path: string, { url, insecure }: Static<typeof feedSchema>): string {
  const { protocol, hostname, host, username, password } = URL.canParse(url)
    ? new URL(url)
    : { protocol: '', hostname: '', host: '', username: '', password: '' };
  if (!['mqtt:', 'mqtts:'].includes(protocol) || hostname === '' || username !== '' || password !== '')
    throw fault(
      path,
      'url is no address of an MQTT broker',
      'Write it as mqtts://mqtt.example.com:8883; user and password have settings of their own.',
    );
  if (protocol === 'mqtt:' && !insecure && !isLoopback(hostname))
    throw fault(
      path,
      'url would send positions and the password without TLS',
      'Use mqtts://, or set insecure = true in a network that you trust.',
    );
  return host;
}

function readPem(path: string, setting: string, file: string): { readonly pem?: string } {
  if (file === '') return {};
  try {
    if (setting === 'keyFile') readSecretLine(`${path}: ${setting}`, file);
    return { pem: readFileSync(file, 'utf8') };
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw fault(path, `${setting} ${file}: ${messageOf(thrown)}`, 'Correct the setting.');
  }
}

function readFeed(folder: string, name: string, openLink: OpenMqttLink): FeedTarget {
  const path = join(folder, name);
  if (!/^[a-z0-9][a-z0-9-]{0,39}\.toml$/.test(name))
    throw fault(path, 'is no name of a feed', 'Use 1 to 40 small letters, digits and dashes before .toml.');
  const file = { path, text: readFileSync(path, 'utf8') };
  const { value } = loadConfig({ schema: feedSchema, file, env: {}, flags: null });
  const { account, format, prefix, discoveryPrefix, history, eventsPerS, url, user, passwordFile } = value;
  const host = hostIn(path, value);
  const password = passwordFile === '' ? '' : readSecretLine(`${path}: passwordFile`, passwordFile);
  const ca = readPem(path, 'caFile', value.caFile).pem;
  const cert = readPem(path, 'certFile', value.certFile).pem;
  const key = readPem(path, 'keyFile', value.keyFile).pem;
  if ((cert === undefined) !== (key === undefined))
    throw fault(path, 'certFile and keyFile need each other', 'Set both, or neither.');
  const login = {
    url,
    username: user,
    password,
    keepaliveS,
    connectTimeoutMs,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  };
  return {
    feedID: name.slice(0, -'.toml'.length),
    accountID: account,
    format,
    prefix,
    discoveryPrefix,
    history,
    eventsPerS,
    host,
    open: (clientId, will, handlers) =>
      openLink({ ...login, clientId, ...(will === null ? {} : { will }) }, handlers),
  };
}

/** @param folder undefined: there are no feeds. @throws AppError `config` for a file or secret that cannot be used. */
export async function openFeedFolder(folder: string | undefined): Promise<readonly FeedTarget[]> {
  if (folder === undefined) return [];
  const { openMqttLink } = await import('../../src/adapters/mqtt-link.ts');
  try {
    const names = readdirSync(folder)
      .filter((name) => name.endsWith('.toml'))
      .sort();
    if (names.length > feedsMost)
      throw fault(folder, `holds ${names.length} feeds`, `At most ${feedsMost} are served.`);
    return names.map((name) => readFeed(folder, name, openMqttLink));
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw fault(`feeds ${folder}`, messageOf(thrown), 'Name a folder with a file for each feed: home.toml.');
  }
}
