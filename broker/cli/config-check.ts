// What the service would fail on at its start, found without starting it: every file that the settings name is opened, every
// address is bound for a moment. `config check` reports it; `start` asks for it before it makes a key or a database.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import { isPostgresUrl } from '../../src/core/database-url.ts';
import { AppError, codeOf, messageOf } from '../../src/core/errors.ts';
import { loadVapidKey } from '../adapters/delivery/vapid.ts';
import { openFeedFolder } from '../adapters/feed-folder.ts';
import { loadAdminTokenHash } from '../adapters/keys/admin-token-file.ts';
import { readSecretLine } from '../adapters/keys/secret-file.ts';
import { loadSigningKey } from '../adapters/keys/signing-key-file.ts';
import { type ListenAddress, listenOn } from '../adapters/listen.ts';
import { openTraccarServer } from '../adapters/traccar-server.ts';
import type { BrokerConfig } from '../config/broker-config.ts';
import { notesOf } from '../config/listener-config.ts';
import { readClusterIngress } from './cluster.ts';
import { hasAdmin, inspectTls } from './listening.ts';
import { openStaticFiles } from './static-files.ts';

export interface ConfigReport {
  /** Each ends a start. */
  readonly faults: readonly AppError[];
  /** What is valid and probably a mistake. */
  readonly notes: readonly string[];
}

type Check = () => unknown;

/** @throws AppError `config` when a file that is missing could not be made there, or one that is there not be changed. */
function needWritable(setting: string, file: string): void {
  const path = existsSync(file) ? file : dirname(resolve(file));
  try {
    if (path !== file && !statSync(path).isDirectory()) throw new Error(`${path} is no folder`);
    // SQLite makes two more files beside it.
    for (const one of [path, dirname(resolve(file))]) accessSync(one, constants.R_OK | constants.W_OK);
  } catch (thrown) {
    const { username } = userInfo();
    const ways: Readonly<Record<string, string>> = {
      EACCES: `The user ${username} must be able to write to it and to its folder: chown ${username} ${dirname(resolve(file))}`,
      EROFS: `The file system is read-only for the service. For a path outside of /var/lib/fleetward-broker, add
  ReadWritePaths=${dirname(resolve(file))} to the unit: systemctl edit fleetward-broker`,
      ENOENT: `Make the folder ${dirname(resolve(file))} for the user ${username}, or correct the setting.`,
    };
    throw new AppError('config', `${setting} ${file}: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: ways[codeOf(thrown)] ?? 'Correct the setting.',
    });
  }
}

/** A key file is read when it is there, and made at the first start when it is not. */
function checkKey(setting: string, file: string, load: (file: string) => unknown): void {
  if (existsSync(file)) load(file);
  else needWritable(setting, file);
}

/** Every address that the service listens on, port 0 left out. */
function addressesOf(config: BrokerConfig): readonly ListenAddress[] {
  const { http, admin, mqtt, ws, metrics, cluster } = config;
  const isCluster = config.ingress !== undefined;
  const found: readonly (Omit<ListenAddress, 'port'> & { readonly port: number | undefined })[] = [
    { setting: 'http', ...http },
    { setting: 'admin', host: admin.host, port: hasAdmin(config) ? admin.port : undefined },
    { setting: 'mqtt', host: mqtt.host, port: isCluster ? undefined : mqtt.port },
    { setting: 'ws', host: ws.host, port: isCluster ? undefined : ws.port },
    { setting: 'metrics', host: metrics.host, port: metrics.port },
    { setting: 'cluster-auth', host: cluster.authHost, port: isCluster ? cluster.authPort : undefined },
  ];
  return found.flatMap(({ setting, host, port }) =>
    port === undefined || port === 0 ? [] : [{ setting, host, port }],
  );
}

const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** @throws AppError `config` for an address that this user may not have, or that two listeners would share; `port_in_use`. */
async function needFree(address: ListenAddress, before: readonly ListenAddress[]): Promise<void> {
  const { setting = 'http', host, port } = address;
  const twin = before.find(
    (one) => one.port === port && (one.host === host || isAny(one.host) || isAny(host)),
  );
  if (twin !== undefined) {
    throw new AppError('config', `${twin.setting}.port and ${setting}.port are both ${port}`, {
      hint: `Choose another port with --${setting}-port.`,
    });
  }
  const server = createServer();
  try {
    await listenOn(server, address);
  } finally {
    server.close();
  }
}

/**
 * Binds every address for a moment.
 * @throws AppError `config` for one that this user may not have, or that two listeners would share; `port_in_use`.
 */
export async function needPorts(config: BrokerConfig): Promise<void> {
  const addresses = addressesOf(config);
  for (const [at, address] of addresses.entries()) await needFree(address, addresses.slice(0, at));
}

const toFault = (thrown: unknown): AppError =>
  thrown instanceof AppError ? thrown : new AppError('internal', messageOf(thrown), { cause: thrown });

/** Of what a start reads after it has made something; each throws what that would throw. */
function laterChecks(config: BrokerConfig): readonly Check[] {
  const { admin, metrics, notify } = config;
  const { passwordFile } = notify.smtp;
  const tokens = [
    ['admin.tokenFile', admin.tokenFile],
    ['admin.viewTokenFile', admin.viewTokenFile],
    ['metrics.tokenFile', metrics.port === undefined ? undefined : metrics.tokenFile],
  ] as const;
  return [
    ...tokens.map(
      ([setting, file]) =>
        () =>
          file === undefined || loadAdminTokenHash(setting, file),
    ),
    () => openTraccarServer(config.traccar),
    () => openFeedFolder(config.feeds),
    () => passwordFile === '' || readSecretLine('notify.smtp.passwordFile', passwordFile),
    () => checkKey('signingKeyFile', config.signingKeyFile, loadSigningKey),
    () => checkKey('vapidKeyFile', config.vapidKeyFile, loadVapidKey),
    () => isPostgresUrl(config.database) || needWritable('database', config.database),
  ];
}

async function faultsOf(checks: readonly Check[]): Promise<readonly AppError[]> {
  const faults: AppError[] = [];
  for (const check of checks) {
    try {
      await check();
    } catch (thrown) {
      faults.push(toFault(thrown));
    }
  }
  return faults;
}

/** Opens what a start reads only after it has made something. @throws AppError `config`. */
export async function needLaterFiles(config: BrokerConfig): Promise<void> {
  needNoFault(await faultsOf(laterChecks(config)));
}

/** Opens every file and binds every address; changes nothing. The user that runs it must be the service's. */
export async function inspectConfig(config: BrokerConfig, nowMs: number): Promise<ConfigReport> {
  const { issuer, clientSecretFile } = config.oidc;
  const tls = inspectTls(config, nowMs);
  const files = await faultsOf([
    () => readClusterIngress(config),
    () =>
      issuer === '' || clientSecretFile === '' || readSecretLine('oidc.clientSecretFile', clientSecretFile),
    () => openStaticFiles(config),
    ...laterChecks(config),
  ]);
  const addresses = addressesOf(config);
  const refused = await faultsOf(
    addresses.map((address, at) => () => needFree(address, addresses.slice(0, at))),
  );
  return {
    // An address that is taken belongs to the running service, or to a program that a start names.
    faults: [...tls.faults.map(toFault), ...files, ...refused.filter(({ code }) => code !== 'port_in_use')],
    notes: [...notesOf(config), ...tls.notes],
  };
}

/** Every fault with what to do about it, in one error. @throws AppError `config`. */
export function needNoFault(faults: readonly AppError[]): void {
  const [first] = faults;
  if (first === undefined) return;
  if (faults.length === 1) throw first;
  const texts = faults.map(({ message, hint }) => (hint === undefined ? message : `${message}\n  ${hint}`));
  throw new AppError('config', texts.join('\n'), {
    details: faults.map(({ message }) => ({ pointer: '', message })),
    hint: `${faults.length} faults; a start would end with the first.`,
  });
}
