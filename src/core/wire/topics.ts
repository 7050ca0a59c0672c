// Topics of wire protocol version 1: `fleet/v1/{accountID}/{deviceID}/{verb}`. A device may publish and subscribe to exactly these strings with its
// ids, nothing else; there are no patterns to escape from. One short topic names no device; it is for servers that hold the connection.
import { isId } from '../ids.ts';

export const topicRoot = 'fleet/v1';

export const uplinkVerbs = ['hello', 'events', 'presence'] as const;
export const downlinkVerbs = ['welcome', 'ack', 'commands', 'config'] as const;
export type UplinkVerb = (typeof uplinkVerbs)[number];
export type DownlinkVerb = (typeof downlinkVerbs)[number];

/**
 * Topic of events without ids: those of the device that has logged in on the connection. Used only where the welcome on the same connection offers it.
 * A server that passes messages on without their connection must neither offer nor accept it.
 */
export const shortEventsTopic = 'e';

export interface DeviceAddress {
  readonly accountID: string;
  readonly deviceID: string;
}

export function formatTopic(device: DeviceAddress, verb: UplinkVerb | DownlinkVerb | 'connection'): string {
  return `${topicRoot}/${device.accountID}/${device.deviceID}/${verb}`;
}

/** MQTT user name and client id of a device. */
export function formatDeviceUser(device: DeviceAddress): string {
  return `${device.accountID}/${device.deviceID}`;
}

/** The ids in a user name `{accountID}/{deviceID}`; null: it has another form. */
export function parseDeviceUser(username: string): DeviceAddress | null {
  const [accountID, deviceID, ...rest] = username.split('/');
  if (accountID === undefined || deviceID === undefined || rest.length > 0) return null;
  return isId(accountID) && isId(deviceID) ? { accountID, deviceID } : null;
}

/** The verb of an uplink topic of exactly this device; null: any other topic. */
export function parseUplink(topic: string, device: DeviceAddress): UplinkVerb | null {
  return uplinkVerbs.find((verb) => formatTopic(device, verb) === topic) ?? null;
}

/** The verb of a downlink topic of exactly this device; null: any other topic. */
export function parseDownlink(topic: string, device: DeviceAddress): DownlinkVerb | null {
  return downlinkVerbs.find((verb) => formatTopic(device, verb) === topic) ?? null;
}
