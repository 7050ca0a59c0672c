// Ports of the doctor's checks: machine, network and serial ports. Types only: `cli/commands.ts` joins the adapters.
import type { Clock, Entropy, OpenByteLink, OpenMqttLink, Verifier } from '../../src/ports.ts';

/** A path as it is on this machine. */
export interface PathFacts {
  readonly kind: 'file' | 'folder' | 'device' | 'other';
  /** The permission bits, such as 0o600. */
  readonly mode: number;
  readonly owner: string;
  readonly group: string;
  /** The device behind a link; the path itself otherwise. */
  readonly realPath: string;
}

export interface Holder {
  readonly pid: number;
  /** The name of the process; '' when it cannot be seen. */
  readonly name: string;
  /** It keeps others from opening the device. */
  readonly hasLock: boolean;
}

/** The user for whom permissions are checked: as root the user of the service, else the present user. */
export interface Person {
  readonly name: string;
  readonly groups: readonly string[];
  readonly isRoot: boolean;
}

export interface Machine {
  /**
   * Null when there is none.
   * @throws AppError when access is denied.
   */
  look(path: string): PathFacts | null;
  /** Processes that have the device open, as far as this user can see them, this one and the other end of a pseudo-terminal left out. */
  holdersOf(realPath: string): readonly Holder[];
  /** ModemManager runs, and no rule of udev keeps it off this device; false where that is unknown. */
  isProbedByModemManager(realPath: string): boolean;
  agentUser(): Person;
  /** Bytes of the file system of a folder. */
  space(folder: string): { readonly freeBytes: number; readonly totalBytes: number };
  /** Writes, syncs and removes a small file there; gives the milliseconds of the sync. @throws AppError `storage`. */
  probeSync(folder: string): number;
  /** UTC ms of the battery-backed clock; null when there is none. */
  hardwareClockMs(): number | null;
  /** By the service manager's time client; null when unknown. */
  isTimeSynchronised(): boolean | null;
}

export interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  readonly names: string;
  /** UTC ms. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface TlsFacts {
  readonly protocol: string;
  /** The server's own first, as far as they were sent. */
  readonly chain: readonly CertificateFacts[];
  /** Why it is not trusted, as a code of OpenSSL or Node; null when it is. */
  readonly fault: string | null;
}

/** Each rejects with an AppError `unavailable` with the reason. */
export interface NetworkProbe {
  resolve(host: string): Promise<readonly string[]>;
  /** Gives the milliseconds until the connection was there. */
  connect(host: string, port: number): Promise<number>;
  tls(
    target: { readonly host: string; readonly port: number },
    trust: { readonly ca?: string; readonly cert?: string; readonly key?: string },
  ): Promise<TlsFacts>;
}

export interface OutboxFacts {
  /** Events that wait, over all classes. */
  readonly events: number;
  readonly integrity: string;
  /** The vehicle's record of evidence as JSON; null when there is none. */
  readonly evidence: string | null;
}

export interface DoctorPorts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly openByteLink: OpenByteLink;
  readonly openMqttLink: OpenMqttLink;
  createVerifier(publicKey: string): Verifier;
  readonly machine: Machine;
  readonly network: NetworkProbe;
  /** Reads the database of the outbox without changing it. @throws AppError. */
  inspectOutbox(path: string): OutboxFacts;
}
