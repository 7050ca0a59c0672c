// The port between the broker and the MQTT server or cluster that the devices connect to. Types only.
import type { DeviceAddress, DownlinkVerb, UplinkVerb } from '../../src/core/wire/topics.ts';
import type { Cancel, Clock, Log } from '../../src/ports.ts';
import type { CertificateFacts } from '../core/accounts/client-certificate.ts';
import type { Completion } from '../core/completion.ts';
import type { DeviceRef } from '../core/device-key.ts';
import type { RateLimit } from '../core/scheduling/rate.ts';
import type { TlsListening, TlsMaterial } from './tls.ts';

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

/** Credentials of a client: a secret, a verified certificate, or both. */
export interface Proof {
  readonly secret: Uint8Array | null;
  readonly certificate: CertificateFacts | null;
}

/**
 * Counters of connections. `refused_*`: refused, by reason. `stalled`: the client did not read its acknowledgements, so nothing
 * more was read from it; `unread`: too much was buffered for it, so it was closed.
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

/** Slows devices that send too much, by keeping their publishes unanswered. */
export interface PublishPacer {
  /** True: what the device publishes has to wait. */
  isHeld(device: DeviceRef): boolean;
  /** True for what must not wait behind the device's own flood, as an alarm: a few at once, then one in a while. */
  mayOvertake(device: DeviceRef, message: Uplink): boolean;
  /** Calls once when the device may publish one message; in turns of accounts and devices. */
  wait(device: DeviceRef, goOn: () => void): Cancel;
}

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
   * Takes a payload and completes once, at any time, when it is known whether it may be acknowledged. A failure ends the
   * connection without PUBACK.
   */
  readonly onUplink: (device: DeviceRef, message: Uplink, completion: Completion) => void;
  /** Absent: publishes never wait for a limit of their device. Only a server that has the connections asks it. */
  readonly pacer?: PublishPacer | undefined;
  /** Keeps a payload that `onUplink` refuses again and again although the store works. For a server that cannot bounce it. */
  readonly onUnprocessable?: (device: DeviceRef, message: Unprocessable) => Promise<void>;
  /** A connection of the device, which has logged in, was refused or ended for what it sent; must not throw. */
  readonly onRefused?: (device: DeviceRef, reason: string) => void;
  /** The connection of a device ended and no newer one took its place. */
  readonly onOffline: (device: DeviceRef) => void;
  /** Two units seem to have the identity of this device; called at each of their connections; must not throw. */
  readonly onCloneSuspected?: (device: DeviceRef) => void;
  /** True while new connections should be refused with "server unavailable". */
  readonly isOverloaded: () => boolean;
  /** Called for every connection that was accepted or refused; must not throw. */
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
   * With several processes: the turn of the process that received it; a later process has a higher one. A hello or presence
   * counts only while nothing of a later turn is recorded of the device.
   */
  readonly turn?: number;
}

/** A payload that cannot be processed although the store works: kept in quarantine, then acknowledged. */
export interface Unprocessable {
  readonly verb: UplinkVerb;
  readonly payload: Uint8Array;
  readonly reason: string;
}

/**
 * With a cluster in front no process holds the connections: `connected` is null and `connectedDevices` empty, and presence is
 * recorded in the database.
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
  /** Why vehicles cannot be reached now; null or absent: they can. */
  fault?(): string | null;
  /** Stops listening and reading, acknowledges what is stored, then closes. */
  close(): Promise<void>;
}

/** Starts to listen. Rejects with AppError `port_in_use` or `config`. */
export type OpenMqttServer = (options: MqttServerOptions) => Promise<MqttServer>;
