// The door between the broker and whatever speaks MQTT with the devices. Types only.
import type { DeviceAddress, DownlinkVerb, UplinkVerb } from '../src/core/topics.ts';
import type { Clock, Log } from '../src/ports.ts';
import type { RateLimit } from './core/rate.ts';
import type { DeviceRef } from './store/devices.ts';

export interface MqttLimits {
  readonly connections: number;
  /** Publishes of one connection in flight. */
  readonly inFlightEach: number;
  /** Publishes in flight over all connections. */
  readonly inFlightAll: number;
  /** New connections of one address. Generous: many vehicles share the address of their mobile network. */
  readonly connects: RateLimit;
  /** Failed logins of one address; beyond it every login from there waits two seconds. */
  readonly failures: RateLimit;
}

export interface MqttServerOptions {
  readonly port: number;
  readonly host: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<MqttLimits>;
  /** The device when name and secret are right, else null. A rejection answers "server unavailable". */
  readonly authenticate: (device: DeviceAddress, secret: Uint8Array) => Promise<DeviceRef | null>;
  /** Resolves when the payload may be acknowledged. A rejection ends the connection without PUBACK. */
  readonly onUplink: (device: DeviceRef, message: Uplink) => Promise<void>;
  /** The connection of a device ended and no newer one took its place. */
  readonly onOffline: (device: DeviceRef) => void;
  /** True while new connections should be turned away with "server unavailable". */
  readonly isOverloaded: () => boolean;
}

export interface Downlink {
  readonly verb: DownlinkVerb;
  readonly payload: Uint8Array;
  readonly qos: 0 | 1;
}

export interface Uplink {
  readonly verb: UplinkVerb;
  readonly payload: Uint8Array;
}

export interface MqttServer {
  readonly port: number;
  /** False when the device is not connected or has not subscribed to the topic. */
  publish(device: DeviceAddress, message: Downlink): Promise<boolean>;
  /** What `authenticate` gave for the device's present connection; null when it has none. */
  connected(device: DeviceAddress): DeviceRef | null;
  /** Ends the device's connection. */
  kick(device: DeviceAddress, reason: string): void;
  connectionCount(): number;
  /** What `authenticate` gave for every present connection. */
  connectedDevices(): readonly DeviceRef[];
  /** Stops listening, stops reading, answers what is stored, then closes. */
  close(): Promise<void>;
}

/** Starts to listen. Rejects with AppError `port_in_use` or `config`. */
export type OpenMqttServer = (options: MqttServerOptions) => Promise<MqttServer>;
