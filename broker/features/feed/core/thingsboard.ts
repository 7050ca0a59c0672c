// The gateway format of ThingsBoard (thingsboard.io/docs/reference/gateway-mqtt-api): telemetry and attributes of devices that it makes
// by itself. Its requests (`v1/gateway/rpc`) are not subscribed to. It keeps one value for a key, device and millisecond.
import { type FeedFormat, type Publication, type StoredEvent, stateRecord } from './feed-format.ts';

const publication = (topic: string, payload: object): Publication => ({
  topic: `v1/gateway/${topic}`,
  payload: JSON.stringify(payload),
  isRetained: false,
});

/** What is not known is left out. */
const known = (members: object): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== ''));

const valuesOf = (event: StoredEvent): object => ({
  ...known({
    statusCode: event.statusCode,
    latitude: event.latitude,
    longitude: event.longitude,
    altitude: event.altitude,
    speed: event.speed,
    heading: event.heading,
    odometer: event.odometer,
    fuelLevel: event.fuelLevel,
    geozoneID: event.geozoneID,
    commandID: event.commandID,
    commandState: event.commandState,
    ...event.attributes,
    ...event.inputs,
  }),
  eventID: `${event.boot}:${event.seq}`,
  eventNo: event.eventNo,
});

export const thingsBoardFormat: FeedFormat = {
  online: null,
  offline: null,
  event: (event) =>
    publication('telemetry', { [event.deviceID]: [{ ts: event.timestampMs, values: valuesOf(event) }] }),
  config: () => null,
  state: (device) => {
    const {
      position: _place,
      inputs: _inputs,
      ...attributes
    } = stateRecord(device) as Record<string, unknown>;
    return [
      publication(device.isOnline ? 'connect' : 'disconnect', { device: device.deviceID }),
      publication('attributes', { [device.deviceID]: known(attributes) }),
    ];
  },
  removed: (deviceID) => [publication('disconnect', { device: deviceID })],
};
