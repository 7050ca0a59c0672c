// Discovery messages as Home Assistant reads them: its template language makes of what is not known `None`, which is unknown there, and
// never an off, a closed door or a 0.
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  type FeedDevice,
  shownInputNames,
  stateRecord,
} from '../../broker/features/feed/core/feed-format.ts';
import { discoveryOf } from '../../broker/features/feed/core/home-assistant.ts';
import { requires } from '../support/machine/requires.ts';

const { missing, python } = requires({ python: ['jinja2'], debian: ['python3-jinja2'] });
const reader = new URL('../support/mqtt/home-assistant.py', import.meta.url).pathname;
const place = { accountID: 'acme', prefix: 'fleetward', discoveryPrefix: 'homeassistant' };

const unknown: FeedDevice = {
  deviceID: 'van-1',
  name: '',
  model: '',
  version: '',
  isOnline: false,
  heartbeatMs: 0,
  position: null,
  fuelLevel: null,
  odometer: null,
  batteryVolts: null,
  inputs: Object.fromEntries(shownInputNames.map((name) => [name, null])) as FeedDevice['inputs'],
  openAlarms: 0,
};
const known: FeedDevice = {
  ...unknown,
  isOnline: true,
  position: { ms: 1000, latitude: 43.7, longitude: -79.4, speed: 0, heading: 0, geozoneID: '', address: '' },
  fuelLevel: 0.256,
  odometer: 0,
  batteryVolts: 12.4,
  inputs: { ...unknown.inputs, ignition: true, cabinDoor: false, motion: false },
  openAlarms: 2,
};

interface Rendered {
  readonly values: Readonly<Record<string, string>>;
  readonly availability: readonly string[];
}

function render(device: FeedDevice, state: object = stateRecord(device)): Rendered {
  const input = JSON.stringify({ config: discoveryOf(place, device), state });
  const { stdout, stderr, status } = spawnSync(python ?? '', [reader], { input, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as Rendered;
}

describe.skipIf(missing !== null)(`a discovered vehicle${missing === null ? '' : ` [${missing}]`}`, () => {
  it('is unavailable, and all of it but its alarms unknown, before it has said anything', () => {
    const { values, availability } = render(unknown);
    expect(availability).toEqual(['offline']);
    const { position, alarm, ...others } = values;
    expect(position).toBe('{}');
    expect(alarm).toBe('OFF');
    expect(new Set(Object.values(others))).toEqual(new Set(['None']));
  });

  it('has its place, and a 0 or off only where it said so', () => {
    const { values, availability } = render(known);
    expect(availability).toEqual(['online']);
    expect(values).toMatchObject({
      ignition: 'ON',
      cabinDoor: 'OFF',
      motion: 'OFF',
      cargoDoor: 'None',
      panic: 'None',
      speed: '0',
      odometer: '0',
      fuel: '25.6',
      battery: '12.4',
      alarm: 'ON',
    });
    expect(JSON.parse(values['position'] ?? '')).toMatchObject({ latitude: 43.7, longitude: -79.4 });
  });

  it('has nothing off in a message of a service that does not know a member yet', () => {
    const { values } = render(unknown, { online: true, inputs: {}, openAlarms: null });
    expect(Object.values(values).filter((value) => value === 'OFF' || value === '0')).toEqual([]);
  });
});
