// The door between the broker and whatever speaks MQTT with the devices. Types only.
import type { DeviceAddress, DownlinkVerb, UplinkVerb } from '../src/core/topics.ts';
import type { Clock, Log } from '../src/ports.ts';
import type { CertificateFacts, ClientCertPolicy } from './core/client-certificate.ts';
import type { RateLimit } from './core/rate.ts';
import type { UplinkAnswer } from './ingest/uplink-answer.ts';
import type { DeviceRef } from './store/devices.ts';

export interface MqttLimits {
  readonly connections: number;
  /** Publishes of one connection in flight. */
  readonly inFlightEach: number;
  /** Publishes in flight over all connections. */
  readonly inFlightAll: number;
  /** Bytes of their payloads; beyond it, as beyond their number, publishes wait, with what comes behind them. */
  readonly bytesAll: number;
  /** New connections of one address. Generous: many vehicles share the address of their mobile network. */
  readonly connects: RateLimit;
  /** Failed logins of one address; beyond it every login from there waits two seconds. */
  readonly failures: RateLimit;
}

/** What a TLS listener shows and trusts, as PEM; read and checked by who gives it. */
export interface TlsMaterial {
  /** Its certificate and the chain to its authority. */
  readonly cert: string;
  readonly key: string;
  /** Authorities that sign certificates of clients; null when none is asked for. */
  readonly clientCa: string | null;
}

export interface TlsListening {
  readonly material: TlsMaterial;
  readonly clientCert: ClientCertPolicy;
  /** A device with a certificate needs no secret besides. */
  readonly certificateSuffices: boolean;
}

/** MQTT over WebSocket (MQTT 3.1.1 chapter 6). */
export interface WebSocketListening {
  readonly host: string;
  readonly port: number;
  /** Origins of pages that may connect; what is no browser sends none. */
  readonly origins: readonly string[];
  readonly tls: TlsListening | null;
}

/** New material for the listeners that speak TLS. */
export interface TlsRenewal {
  readonly mqtt: TlsMaterial | null;
  readonly websocket: TlsMaterial | null;
}

/** What a client proves itself with: a secret, a verified certificate, or both. */
export interface Proof {
  readonly secret: Uint8Array | null;
  readonly certificate: CertificateFacts | null;
}

/**
 * What a server counts of connections, for whoever watches it. `refused_*`: turned away, by reason. `stalled`: it did not read
 * its acknowledgements, so nothing more was read from it; `unread`: too much waited for it, so it was ended.
 */
export type MqttCount =
  | 'accepted'
  | 'login_plain'
  | 'login_tls'
  | 'login_mtls'
  | 'refused_rate'
  | 'refused_full'
  | 'refused_crowd'
  | 'refused_identity'
  | 'refused_credentials'
  | 'refused_unavailable'
  | 'refused_packet'
  | 'publish_refused'
  | 'subscription_refused'
  | 'stalled'
  | 'unread'
  | 'takeover';

export interface MqttServerOptions {
  readonly port: number;
  readonly host: string;
  /** Null or absent: without TLS. */
  readonly tls?: TlsListening | null;
  /** Null or absent: no such listener. */
  readonly websocket?: WebSocketListening | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<MqttLimits>;
  /** The device when all that was given is right, at least one of both; else null. A rejection answers "server unavailable". */
  readonly authenticate: (device: DeviceAddress, proof: Proof) => Promise<DeviceRef | null>;
  /**
   * Takes a payload and answers once, at any time, when it is known whether it may be acknowledged. A refusal ends the
   * connection without PUBACK.
   */
  readonly onUplink: (device: DeviceRef, message: Uplink, answer: UplinkAnswer) => void;
  /** Keeps a payload that `onUplink` refuses again and again although the store works. For a server that cannot bounce it. */
  readonly onUnprocessable?: (device: DeviceRef, message: Unprocessable) => Promise<void>;
  /** The connection of a device ended and no newer one took its place. */
  readonly onOffline: (device: DeviceRef) => void;
  /** True while new connections should be turned away with "server unavailable". */
  readonly isOverloaded: () => boolean;
  /** Told of every connection that was taken or turned away; must not throw. */
  readonly count?: (what: MqttCount) => void;
}

export interface Downlink {
  readonly verb: DownlinkVerb;
  readonly payload: Uint8Array;
  readonly qos: 0 | 1;
}

export interface Uplink {
  readonly verb: UplinkVerb;
  readonly payload: Uint8Array;
  /**
   * With several processes: the turn of the one that took it, higher for who came later. What a hello or a presence says
   * counts only as long as nothing of a later turn has been said of the device.
   */
  readonly turn?: number;
}

/** Kept, and then acknowledged: it cannot be processed, and is no fault of the store. */
export interface Unprocessable {
  readonly verb: UplinkVerb;
  readonly payload: Uint8Array;
  readonly reason: string;
}

/**
 * With a cluster in front no process holds the connections: `connected` is null and `connectedDevices` empty for every
 * device, and who is online stands in the database.
 */
export interface MqttServer {
  readonly port: number;
  /** Null: there is no such listener. */
  readonly websocketPort: number | null;
  /** New connections get the new material; those that are open stay as they are. @throws Error when OpenSSL refuses it. */
  renewTls(renewal: TlsRenewal): void;
  /** False when the device is not connected or has not subscribed to the topic. */
  publish(device: DeviceAddress, message: Downlink): Promise<boolean>;
  /** False when the device is known not to be connected, or not to have subscribed to the topic. */
  listens(device: DeviceAddress, verb: DownlinkVerb): boolean;
  /** What `authenticate` gave for the device's present connection; null when it has none. */
  connected(device: DeviceAddress): DeviceRef | null;
  /** Ends the device's connection. */
  kick(device: DeviceAddress, reason: string): void;
  connectionCount(): number;
  /** Connections that wait for their turn to begin; absent: it takes none itself. */
  waitingCount?(): number;
  /** What `authenticate` gave for every present connection. */
  connectedDevices(): readonly DeviceRef[];
  /** Why nothing comes in from vehicles and goes out to them now; null or absent: nothing is wrong. */
  fault?(): string | null;
  /** Stops listening, stops reading, answers what is stored, then closes. */
  close(): Promise<void>;
}

/** Starts to listen. Rejects with AppError `port_in_use` or `config`. */
export type OpenMqttServer = (options: MqttServerOptions) => Promise<MqttServer>;
