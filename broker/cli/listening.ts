// The certificates of the running broker and of its authority: read at the start and at SIGHUP, checked once a day. A
// reload applies to each listener completely or not at all: one with a bad file keeps what it had, the others are renewed.

import { createSystemEntropy } from '../../src/adapters/system.ts';
import { dayMs } from '../../src/core/durations.ts';
import { AppError, hintFrom, messageOf } from '../../src/core/errors.ts';
import { enrolmentLimits } from '../../src/core/wire/enrolment.ts';
import type { Cancel, Clock, Log } from '../../src/ports.ts';
import { loadCertificateAuthority } from '../adapters/keys/certificate-authority.ts';
import { readSecretLine } from '../adapters/keys/secret-file.ts';
import {
  type CertificateTerm,
  faultOfTerm,
  readAuthorities,
  readCertificates,
  readTlsFiles,
} from '../adapters/keys/tls-files.ts';
import type { BrokerConfig } from '../config/broker-config.ts';
import {
  type ListenerName,
  type MutualTlsConfig,
  plainListeners,
  type TlsConfig,
} from '../config/listener-config.ts';
import type { CertificateAuthority } from '../devices/enrolment.ts';
import type { WebSocketListening } from '../ports/mqtt-server.ts';
import { type TlsListening, type TlsMaterial } from '../ports/tls.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';

/** From here on a certificate that is about to expire is logged every day. */
const warnMs = 30 * dayMs;

/** Everything that was read, by listener; null: without TLS. */
export interface TlsState {
  readonly http: TlsMaterial | null;
  readonly mqtt: TlsMaterial | null;
  readonly ws: TlsMaterial | null;
  readonly admin: TlsMaterial | null;
  /** Signs certificates of vehicles that enrol; null when none does. */
  readonly authority: CertificateAuthority | null;
  /** What enrolling vehicles are configured to trust (PEM). */
  readonly vehicleCa: string | null;
  readonly terms: readonly CertificateTerm[];
}

/** The listener of the operator exists only with a token. */
export const hasAdmin = ({ admin }: Pick<BrokerConfig, 'admin'>): boolean =>
  admin.tokenFile !== undefined || admin.viewTokenFile !== undefined;

const isOn = (config: BrokerConfig, name: ListenerName): boolean =>
  (name !== 'ws' || config.ws.port !== undefined) && (name !== 'admin' || hasAdmin(config));

/** The files of one listener; null: it has no TLS, or is off. @throws AppError `config`. */
function readListener(config: BrokerConfig, name: ListenerName) {
  const tls: TlsConfig | MutualTlsConfig = config[name].tls;
  const { certFile, keyFile } = tls;
  if (certFile === undefined || keyFile === undefined || !isOn(config, name)) return null;
  const clientCaFile = 'clientCaFile' in tls ? tls.clientCaFile : undefined;
  return readTlsFiles({ setting: `${name}.tls`, certFile, keyFile, clientCaFile });
}

function readAuthority({ enrolment }: BrokerConfig): CertificateAuthority | null {
  const { caCertFile, caKeyFile, caPassphraseFile, certDays } = enrolment;
  if (caCertFile === undefined || caKeyFile === undefined) return null;
  const passphrase =
    caPassphraseFile === undefined ? null : readSecretLine('enrolment.caPassphraseFile', caPassphraseFile);
  const files = { certFile: caCertFile, keyFile: caKeyFile, days: certDays, passphrase };
  return loadCertificateAuthority(files, createSystemEntropy());
}

/** The files that enrolling vehicles depend on. @throws AppError `config`. */
function readEnrolment(config: BrokerConfig) {
  const { caCertFile, mqttCaFile } = config.enrolment;
  const own = caCertFile === undefined ? null : readAuthorities('enrolment.caCertFile', caCertFile);
  const trusted = mqttCaFile === undefined ? null : readCertificates('enrolment.mqttCaFile', mqttCaFile);
  if (trusted !== null && trusted.pem.length > enrolmentLimits.pem) {
    throw new AppError(
      'config',
      `enrolment.mqttCaFile ${mqttCaFile} is longer than ${enrolmentLimits.pem} characters`,
    );
  }
  return {
    authority: readAuthority(config),
    vehicleCa: trusted?.pem ?? null,
    terms: [...(own?.terms ?? []), ...(trusted?.terms ?? [])],
  };
}

/** What is read together, and renewed together or not at all. */
const readers = {
  http: (config: BrokerConfig) => readListener(config, 'http'),
  mqtt: (config: BrokerConfig) => readListener(config, 'mqtt'),
  ws: (config: BrokerConfig) => readListener(config, 'ws'),
  admin: (config: BrokerConfig) => readListener(config, 'admin'),
  enrolment: readEnrolment,
} as const;
type PartName = keyof typeof readers;
type Parts = { readonly [Name in PartName]: ReturnType<(typeof readers)[Name]> };
const partNames = Object.keys(readers) as PartName[];

/**
 * Reads every part. One that cannot be read, or that `need` refuses, is what `atFault` gives for it.
 * @throws whatever `atFault` throws.
 */
function readParts(
  config: BrokerConfig,
  atFault: (name: PartName, thrown: unknown) => Parts[PartName],
  need: (part: Parts[PartName]) => void = () => undefined,
): Parts {
  const read = (name: PartName): Parts[PartName] => {
    try {
      const part = readers[name](config);
      need(part);
      return part;
    } catch (thrown) {
      return atFault(name, thrown);
    }
  };
  return Object.fromEntries(partNames.map((name) => [name, read(name)])) as unknown as Parts;
}

function stateOf({ http, mqtt, ws, admin, enrolment }: Parts): TlsState {
  return {
    http: http?.material ?? null,
    mqtt: mqtt?.material ?? null,
    ws: ws?.material ?? null,
    admin: admin?.material ?? null,
    authority: enrolment.authority,
    vehicleCa: enrolment.vehicleCa,
    terms: [http, mqtt, ws, admin, enrolment].flatMap((part) => part?.terms ?? []),
  };
}

const listeningOf = (material: TlsMaterial | null, tls: MutualTlsConfig): TlsListening | null =>
  material === null
    ? null
    : { material, clientCert: tls.clientCert, certificateSuffices: tls.clientSecret === 'optional' };

/** How MQTT listens. */
export function mqttListening({ mqtt, ws }: BrokerConfig, state: TlsState) {
  const { host, port, origins } = ws;
  const websocket: WebSocketListening | null =
    port === undefined ? null : { host, port, origins, tls: listeningOf(state.ws, ws.tls) };
  return { host: mqtt.host, port: mqtt.port, tls: listeningOf(state.mqtt, mqtt.tls), websocket };
}

/** Says what anybody on the way could read. */
export function warnOfPlain(config: BrokerConfig, log: Log): void {
  for (const { name, host, burden } of plainListeners(config)) {
    if (!isOn(config, name)) continue;
    log.warn('listener_without_tls', {
      listener: name,
      host,
      risk: `${burden} can be read on the way unless something in front speaks TLS`,
    });
  }
}

function logTerms(terms: readonly CertificateTerm[], nowMs: number, log: Log): void {
  for (const term of terms) {
    const { setting, file, name, untilMs } = term;
    const fault = faultOfTerm(term, nowMs);
    const daysLeft = Math.floor((untilMs - nowMs) / dayMs);
    // Not the end of the program: a restore must get through to the vehicles that are still connected.
    if (fault !== null) log.error('certificate_not_valid', { setting, file, name, reason: fault });
    else if (untilMs - nowMs < warnMs)
      log.warn('certificate_expires_soon', { setting, file, name, daysLeft });
  }
}

export interface TlsKeeper {
  /** What is in use. */
  current(): TlsState;
  /** Reads everything again and gives it to `apply`; says in the log what became of it. */
  reload(apply: (state: TlsState) => void): void;
  readonly close: Cancel;
}

/**
 * Reads a part for a running broker. The listener's own certificate must be good at this moment: it takes the place of one
 * that may be. An authority of a bundle may have expired, as at the start: it proves nothing any more, and the others do.
 * @throws AppError `config`.
 */
function needCurrent(part: Parts[PartName], nowMs: number): void {
  if (part === null || !('material' in part)) return;
  const [own] = part.terms;
  const fault = own === undefined ? null : faultOfTerm(own, nowMs);
  if (own === undefined || fault === null) return;
  throw new AppError('config', `${own.setting} ${own.file}: ${own.name} ${fault}`);
}

/** Reads all files, and logs now and every day what is about to expire. @throws AppError `config`. */
export function openTls(
  config: BrokerConfig,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): TlsKeeper {
  let parts = readParts(config, (_name, thrown) => {
    throw thrown;
  });
  let current = stateOf(parts);
  const logCurrent = (): void => logTerms(current.terms, clock.utcMs(), log);
  logCurrent();
  const run = async (): Promise<number> => {
    logCurrent();
    return dayMs;
  };
  const task = createPeriodicTask({ clock, firstMs: dayMs, run });
  return {
    current: () => current,
    reload(apply) {
      const refused = new Map<PartName, unknown>();
      const keep = (name: PartName, thrown: unknown): Parts[PartName] => {
        refused.set(name, thrown);
        return parts[name];
      };
      parts = readParts(config, keep, (part) => needCurrent(part, clock.utcMs()));
      current = stateOf(parts);
      apply(current);
      const renewed = partNames.filter((name) => !refused.has(name));
      log.info('certificates_reloaded', { certificates: current.terms.length, parts: renewed });
      const faults = [...refused.values()];
      const hint = faults.map(hintFrom).find((one) => one !== undefined);
      const reason = faults.map(messageOf).join('; ');
      if (refused.size > 0)
        log.error('certificate_reload_refused', { parts: [...refused.keys()], reason, hint });
      logCurrent();
    },
    close: () => void task.close(),
  };
}

/** What keeps the files of listeners and of enrolment from being used, and what of them has expired, as text. */
export function inspectTls(config: BrokerConfig, nowMs: number) {
  const faults: unknown[] = [];
  const none = (name: PartName, thrown: unknown): Parts[PartName] => {
    faults.push(thrown);
    return name === 'enrolment' ? { authority: null, vehicleCa: null, terms: [] } : null;
  };
  const { terms } = stateOf(readParts(config, none));
  const notes = terms.flatMap((term) => {
    const fault = faultOfTerm(term, nowMs);
    return fault === null ? [] : [`${term.setting} ${term.file}: ${term.name} ${fault}`];
  });
  return { faults, notes };
}
