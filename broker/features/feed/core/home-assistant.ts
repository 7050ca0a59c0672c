// Plain JSON with the discovery of Home Assistant (device-based, since 2024.12): each vehicle is a device with a place on the map, its
// doors, ignition, battery and alarms. Every entity reads; none has a command. What is not known is `unknown` there, and everything is
// `unavailable` while the feed or the vehicle is not connected: never off.
import {
  type FeedDevice,
  type FeedFormat,
  type FeedPlace,
  shownInputNames,
  shownInputs,
} from './feed-format.ts';
import { jsonFormat, topicsOf } from './json-format.ts';

/** Home Assistant allows letters, digits, `_` and `-` in a discovery topic. Two names never become one. */
const nodeOf = (name: string): string =>
  name === ''
    ? '_'
    : name.toWellFormed().replace(/[^A-Za-z0-9-]/gu, (one) => `_${(one.codePointAt(0) ?? 0).toString(16)}_`);

const inputTexts: Readonly<Record<keyof typeof shownInputs, string>> = {
  ignition: 'Ignition',
  motion: 'Motion',
  cabinDoor: 'Cabin door',
  cargoDoor: 'Cargo door',
  externalPower: 'External power',
  tamper: 'Tamper',
  panic: 'Panic button',
};

/** `None` is Home Assistant's payload for unknown. A member that is absent is unknown too. */
const onOff = (path: string): string => `{{ {true: 'ON', false: 'OFF'}.get(${path}, 'None') }}`;
/** An empty text would leave the former value. */
const number = (path: string): string =>
  `{{ 'None' if ${path} is none or ${path} is undefined else ${path} }}`;

/** Sensors with a number. */
const sensors = {
  speed: {
    name: 'Speed',
    device_class: 'speed',
    unit_of_measurement: 'km/h',
    state_class: 'measurement',
    value_template: number('(value_json.position or {}).speed'),
  },
  fuel: {
    name: 'Fuel',
    unit_of_measurement: '%',
    state_class: 'measurement',
    icon: 'mdi:gas-station',
    value_template:
      "{{ 'None' if value_json.fuelLevel is none or value_json.fuelLevel is undefined else (value_json.fuelLevel * 100) | round(1) }}",
  },
  battery: {
    name: 'Battery',
    device_class: 'voltage',
    unit_of_measurement: 'V',
    state_class: 'measurement',
    value_template: number('value_json.batteryVolts'),
  },
  odometer: {
    name: 'Odometer',
    device_class: 'distance',
    unit_of_measurement: 'km',
    state_class: 'total_increasing',
    value_template: number('value_json.odometer'),
  },
} as const;

/** The discovery message of a device. */
export function discoveryOf(place: FeedPlace, device: FeedDevice): object {
  const { deviceID, name, model, version } = device;
  const topics = topicsOf(place);
  const id = `fleetward_${nodeOf(place.accountID)}_-_${nodeOf(deviceID)}`;
  const state = topics.state(deviceID);
  const entity = (platform: string, key: string) => ({
    platform,
    unique_id: `${id}_${key}`,
    state_topic: state,
  });
  const inputs = shownInputNames.map((input) => [
    input,
    {
      ...entity('binary_sensor', input),
      name: inputTexts[input],
      device_class: shownInputs[input],
      value_template: onOff(`value_json.inputs.${input}`),
    },
  ]);
  const values = Object.entries(sensors).map(([key, sensor]) => [
    key,
    { ...entity('sensor', key), ...sensor },
  ]);
  return {
    device: {
      identifiers: [id],
      name: name === '' ? deviceID : name,
      manufacturer: 'Fleetward',
      serial_number: deviceID,
      ...(model === '' ? {} : { model }),
      ...(version === '' ? {} : { sw_version: version }),
    },
    origin: { name: 'Fleetward' },
    availability_mode: 'all',
    availability: [
      { topic: topics.status },
      { topic: state, value_template: "{{ 'online' if value_json.online else 'offline' }}" },
    ],
    qos: 1,
    components: {
      position: {
        platform: 'device_tracker',
        unique_id: `${id}_position`,
        name: null,
        source_type: 'gps',
        json_attributes_topic: state,
        json_attributes_template: '{{ (value_json.position or {}) | tojson }}',
      },
      ...Object.fromEntries(inputs),
      ...Object.fromEntries(values),
      alarm: {
        ...entity('binary_sensor', 'alarm'),
        name: 'Alarm',
        device_class: 'problem',
        value_template:
          "{{ 'None' if value_json.openAlarms is not number else ('ON' if value_json.openAlarms > 0 else 'OFF') }}",
      },
    },
  };
}

export function homeAssistantFormat(place: FeedPlace): FeedFormat {
  const json = jsonFormat(place);
  const configTopic = (deviceID: string): string =>
    `${place.discoveryPrefix}/device/${nodeOf(place.accountID)}/${nodeOf(deviceID)}/config`;
  return {
    ...json,
    config: (device) => ({
      topic: configTopic(device.deviceID),
      payload: JSON.stringify(discoveryOf(place, device)),
      isRetained: true,
    }),
    removed: (deviceID) => [
      { topic: configTopic(deviceID), payload: '', isRetained: true },
      ...json.removed(deviceID),
    ],
  };
}
