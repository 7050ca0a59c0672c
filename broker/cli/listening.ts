// The certificates of the running broker and of its authority: read at the start and at SIGHUP, checked once a day. A
// reload applies completely or not at all: after one bad file everything stays as it was.
import { createSystemEntropy } from '../../src/adapters/system.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { enrolmentLimits } from '../../src/core/wire/enrolment.ts';
import type { Cancel, Clock, Log } from '../../src/ports.ts';
import { loadCertificateAuthority, readPassphrase } from '../adapters/keys/certificate-authority.ts';
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

const dayMs = 24 * 3600_000;
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

function readAuthority({ enrolment }: BrokerConfig): CertificateAuthority | null {
  const { caCertFile, caKeyFile, caPassphraseFile, certDays } = enrolment;
  if (caCertFile === undefined || caKeyFile === undefined) return null;
  const passphrase = caPassphraseFile === undefined ? null : readPassphrase(caPassphraseFile);
  const files = { certFile: caCertFile, keyFile: caKeyFile, days: certDays, passphrase };
  return loadCertificateAuthority(files, createSystemEntropy());
}

/** Reads all files that the configuration names. @throws AppError `config`. */
function readTls(config: BrokerConfig): TlsState {
  const terms: CertificateTerm[] = [];
  const read = (name: ListenerName, tls: TlsConfig | MutualTlsConfig): TlsMaterial | null => {
    const { certFile, keyFile } = tls;
    if (certFile === undefined || keyFile === undefined || !isOn(config, name)) return null;
    const clientCaFile = 'clientCaFile' in tls ? tls.clientCaFile : undefined;
    const found = readTlsFiles({ setting: `${name}.tls`, certFile, keyFile, clientCaFile });
    terms.push(...found.terms);
    return found.material;
  };
  const { http, mqtt, ws, admin, enrolment } = config;
  const material = {
    http: read('http', http.tls),
    mqtt: read('mqtt', mqtt.tls),
    ws: read('ws', ws.tls),
    admin: read('admin', admin.tls),
  };
  const { caCertFile, mqttCaFile } = enrolment;
  if (caCertFile !== undefined) terms.push(...readAuthorities('enrolment.caCertFile', caCertFile).terms);
  const trusted = mqttCaFile === undefined ? null : readCertificates('enrolment.mqttCaFile', mqttCaFile);
  terms.push(...(trusted?.terms ?? []));
  if (trusted !== null && trusted.pem.length > enrolmentLimits.pem) {
    throw new AppError(
      'config',
      `enrolment.mqttCaFile ${mqttCaFile} is longer than ${enrolmentLimits.pem} characters`,
    );
  }
  return { ...material, authority: readAuthority(config), vehicleCa: trusted?.pem ?? null, terms };
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

/** @throws AppError `config` naming the first certificate that is not good at this moment. */
function needCurrent(terms: readonly CertificateTerm[], nowMs: number): void {
  for (const term of terms) {
    const fault = faultOfTerm(term, nowMs);
    if (fault !== null) throw new AppError('config', `${term.setting} ${term.file}: ${term.name} ${fault}`);
  }
}

/** Reads all files, and logs now and every day what is about to expire. @throws AppError `config`. */
export function openTls(
  config: BrokerConfig,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): TlsKeeper {
  let current = readTls(config);
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
      try {
        const next = readTls(config);
        needCurrent(next.terms, clock.utcMs());
        apply(next);
        current = next;
        log.info('certificates_reloaded', { certificates: next.terms.length });
        logCurrent();
      } catch (thrown) {
        const hint = thrown instanceof AppError ? thrown.hint : undefined;
        log.error('certificate_reload_refused', { reason: messageOf(thrown), hint });
      }
    },
    close: () => void task.close(),
  };
}
