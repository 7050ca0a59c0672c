// Permissions of a vehicle in a RabbitMQ cluster, and its topics there: MQTT's `/` is AMQP's `.`, and ids have no dots.
// Every decision compares whole strings with the vehicle's own names; everything else is denied. Pure, and without the
// database.
import {
  type DeviceAddress,
  type DownlinkVerb,
  downlinkVerbs,
  formatDeviceUser,
  formatTopic,
  parseDeviceUser,
  parseDownlink,
  parseUplink,
  type UplinkVerb,
  uplinkVerbs,
} from '../../../src/core/wire/topics.ts';

/** The exchange that RabbitMQ's MQTT plugin publishes to and binds the queues of subscribers to. */
export const topicExchange = 'amq.topic';

/** Routing key of one topic of a device. */
export function formatRoutingKey(device: DeviceAddress, verb: UplinkVerb | DownlinkVerb): string {
  return formatTopic(device, verb).replaceAll('/', '.');
}

/** Binding pattern for one verb of every device. */
export function bindingOf(verb: UplinkVerb): string {
  return `fleet.v1.*.*.${verb}`;
}

export interface ClusterUplink {
  readonly device: DeviceAddress;
  readonly verb: UplinkVerb;
}

/** Whose uplink topic a routing key is; null when it is none. */
export function parseUplinkKey(key: string): ClusterUplink | null {
  const [, , accountID = '', deviceID = ''] = key.split('.');
  const device = parseDeviceUser(`${accountID}/${deviceID}`);
  if (device === null) return null;
  const verb = parseUplink(key.replaceAll('.', '/'), device);
  return verb === null ? null : { device, verb };
}

/** A question of RabbitMQ's HTTP authorisation backend, as its form says it; unknown members are not looked at. */
export type Question = Readonly<Record<string, string>>;

/** The device named by a client, if user name and client id agree. Null when it is no vehicle. */
export function deviceOf({ username, client_id: clientID }: Question): DeviceAddress | null {
  const device = parseDeviceUser(username ?? '');
  // A free client id would let one vehicle end the session of another.
  return device !== null && clientID === username ? device : null;
}

/** Names of the queues that the MQTT plugin makes for a subscriber (documented in its "How it works"). */
function subscriptionQueues(device: DeviceAddress): readonly string[] {
  const user = formatDeviceUser(device);
  return [`mqtt-subscription-${user}qos0`, `mqtt-subscription-${user}qos1`];
}

/** The vehicle's own subscription queues, wholly; publishing to and subscribing at the exchange of topics; nothing else. */
export function mayUseResource({ username, resource, name = '', permission = '' }: Question): boolean {
  const device = parseDeviceUser(username ?? '');
  if (device === null) return false;
  if (resource === 'queue')
    return subscriptionQueues(device).includes(name) && ['configure', 'write', 'read'].includes(permission);
  return resource === 'exchange' && name === topicExchange && ['write', 'read'].includes(permission);
}

/** A vehicle writes its own uplink topics and reads its own downlink topics, to the letter: no wildcard is one of them. */
export function mayUseTopic({ username, name, permission, routing_key: key = '' }: Question): boolean {
  const device = parseDeviceUser(username ?? '');
  if (device === null || name !== topicExchange) return false;
  const topic = key.replaceAll('.', '/');
  if (key.includes('/')) return false;
  if (permission === 'write') return parseUplink(topic, device) !== null;
  return permission === 'read' && parseDownlink(topic, device) !== null;
}

/** Every routing key that a vehicle may use, for tests and for people. */
export function keysOf(device: DeviceAddress): {
  readonly write: readonly string[];
  readonly read: readonly string[];
} {
  return {
    write: uplinkVerbs.map((verb) => formatRoutingKey(device, verb)),
    read: downlinkVerbs.map((verb) => formatRoutingKey(device, verb)),
  };
}
