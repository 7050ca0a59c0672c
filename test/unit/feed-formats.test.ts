// What feeds publish, as text: topics of any name, and discovery messages as Home Assistant publishes their form.
import fc from 'fast-check';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import {
  type FeedDevice,
  type Publication,
  type StoredEvent,
  shownInputNames,
  topicLevel,
} from '../../broker/features/feed/core/feed-format.ts';
import { discoveryOf, homeAssistantFormat } from '../../broker/features/feed/core/home-assistant.ts';
import { jsonFormat } from '../../broker/features/feed/core/json-format.ts';
import { thingsBoardFormat } from '../../broker/features/feed/core/thingsboard.ts';

const place = { accountID: 'acme', prefix: 'fleetward', discoveryPrefix: 'homeassistant' };
const stored: StoredEvent = {
  eventNo: 7,
  deviceID: 'van-1',
  boot: 'b',
  seq: 3,
  timestampMs: 1_763_683_200_000,
  receivedMs: 1_763_683_201_000,
  timeQuality: 'gnss',
  statusCode: 61_472,
  latitude: null,
  longitude: null,
  altitude: null,
  speed: null,
  heading: null,
  odometer: null,
  fuelLevel: null,
  inputs: null,
  outputs: null,
  geozoneID: '',
  commandID: 'c-1',
  commandState: 'confirmed',
  attributes: null,
};
const deviceOf = (deviceID: string, name = ''): FeedDevice => ({
  deviceID,
  name,
  model: '',
  version: '1.2.3',
  isOnline: true,
  heartbeatMs: 1,
  position: null,
  fuelLevel: null,
  odometer: null,
  batteryVolts: null,
  inputs: Object.fromEntries(shownInputNames.map((input) => [input, null])) as FeedDevice['inputs'],
  openAlarms: 0,
});
const names = fc.string({ unit: 'binary', maxLength: 40 });
const formats = {
  json: jsonFormat(place),
  homeassistant: homeAssistantFormat(place),
  thingsboard: thingsBoardFormat,
};
const allOf = (deviceID: string, name: string): readonly Publication[] =>
  Object.values(formats).flatMap((format) => [
    ...(format.online === null ? [] : [format.online]),
    ...(format.offline === null ? [] : [format.offline]),
    format.event({ ...stored, deviceID }),
    ...[format.config(deviceOf(deviceID, name)) ?? []].flat(),
    ...format.state(deviceOf(deviceID, name)),
    ...format.removed(deviceID),
  ]);

describe('a topic', () => {
  it('is one that may be published to, whatever names users give, and of two names never the same', () => {
    fc.assert(
      fc.property(names, names, (one, other) => {
        for (const { topic } of allOf(one, other)) {
          expect(topic).toMatch(/^[^$+#\p{Cc}]+$/u);
          expect(topic.split('/').every((level) => level !== '' && !level.startsWith('$'))).toBe(true);
        }
        const event = formats.json.event({ ...stored, deviceID: one }).topic;
        expect(event.split('/')).toHaveLength(4);
        if (one.toWellFormed() !== other.toWellFormed()) expect(topicLevel(one)).not.toBe(topicLevel(other));
        const config = formats.homeassistant.config(deviceOf(one))?.topic ?? '';
        expect(config).toMatch(/^homeassistant\/device\/[A-Za-z0-9_-]+\/[A-Za-z0-9_-]*\/config$/);
      }),
    );
  });
});

describe('a publication', () => {
  it('of no format names a topic for commands', () => {
    fc.assert(
      fc.property(names, names, (deviceID, name) => {
        const keysOf = (value: unknown): readonly string[] =>
          typeof value === 'object' && value !== null
            ? Object.entries(value).flatMap(([key, member]) => [key, ...keysOf(member)])
            : [];
        for (const { payload } of allOf(deviceID, name)) {
          if (!payload.startsWith('{')) continue;
          expect(
            keysOf(JSON.parse(payload)).filter((key) => /command_|cmd_|payload_(press|lock|on)/.test(key)),
          ).toEqual([]);
        }
      }),
    );
  });

  it('of an event says null for what is not known, and which event it is', () => {
    expect(JSON.parse(formats.json.event(stored).payload)).toMatchObject({
      eventID: 'b:3',
      eventNo: 7,
      latitude: null,
      speed: null,
      fuelLevel: null,
      isPositionValid: false,
    });
    expect(JSON.parse(formats.thingsboard.event(stored).payload)).toEqual({
      'van-1': [
        {
          ts: 1_763_683_200_000,
          values: {
            statusCode: 61_472,
            commandID: 'c-1',
            commandState: 'confirmed',
            eventID: 'b:3',
            eventNo: 7,
          },
        },
      ],
    });
  });
});

// The published form: home-assistant.io/integrations/mqtt, device discovery payload, and the pages of the four platforms.
const template = Type.String({ pattern: '^\\{\\{ .+ \\}\\}$' });
const topic = Type.String({ pattern: '^[^+#\\u0000]{1,200}$' });
const exact = { additionalProperties: false } as const;
const entity = { unique_id: Type.String({ minLength: 1 }), name: Type.Union([Type.String(), Type.Null()]) };
const read = { ...entity, state_topic: topic, value_template: template };
const tracker = Type.Object(
  {
    ...entity,
    platform: Type.Literal('device_tracker'),
    source_type: Type.Enum(['gps', 'router', 'bluetooth', 'bluetooth_le']),
    json_attributes_topic: topic,
    json_attributes_template: template,
  },
  exact,
);
const binary = Type.Object(
  {
    ...read,
    platform: Type.Literal('binary_sensor'),
    device_class: Type.Enum(['door', 'moving', 'plug', 'power', 'problem', 'safety', 'tamper']),
  },
  exact,
);
const sensor = Type.Object(
  {
    ...read,
    platform: Type.Literal('sensor'),
    device_class: Type.Optional(Type.Enum(['speed', 'voltage', 'distance'])),
    unit_of_measurement: Type.Enum(['km/h', 'V', 'km', '%']),
    state_class: Type.Enum(['measurement', 'total', 'total_increasing']),
    icon: Type.Optional(Type.String({ pattern: '^mdi:[a-z-]+$' })),
  },
  exact,
);
const discovery = Type.Object(
  {
    device: Type.Object(
      {
        identifiers: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
        name: Type.String({ minLength: 1 }),
        manufacturer: Type.String(),
        serial_number: Type.String(),
        model: Type.Optional(Type.String()),
        sw_version: Type.Optional(Type.String()),
      },
      exact,
    ),
    origin: Type.Object({ name: Type.String({ minLength: 1 }) }, exact),
    availability_mode: Type.Enum(['all', 'any', 'latest']),
    availability: Type.Array(Type.Object({ topic, value_template: Type.Optional(template) }, exact)),
    qos: Type.Enum([0, 1, 2]),
    components: Type.Record(Type.String({ pattern: '^[A-Za-z]+$' }), Type.Union([tracker, binary, sensor])),
  },
  exact,
);

describe('a discovery message', () => {
  it('has the form that Home Assistant publishes, and entities that differ between vehicles and accounts', () => {
    const ids = new Map<string, string>();
    for (const accountID of ['acme', 'acme_', 'a'])
      for (const deviceID of ['van-1', 'van_1', 'van', '_-_', 'ü/+#']) {
        const message = discoveryOf({ ...place, accountID }, deviceOf(deviceID));
        expect([...Value.Errors(discovery, message)]).toEqual([]);
        for (const one of Object.values((message as { components: object }).components)) {
          const { unique_id: id } = one as { unique_id: string };
          expect(ids.get(id) ?? '').toBe('');
          ids.set(id, `${accountID}/${deviceID}`);
        }
      }
  });
});
