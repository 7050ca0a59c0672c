// Drivers in the whole vehicle: who is identified, when a driver no longer counts, and that none of it reaches a relay or a log.
import { describe, expect, it } from 'vitest';
import { describeConfig, toAgentConfig } from '../../agent/config.ts';
import { driverText } from '../../agent/core/driver/driver-status.ts';
import { statusOfVehicle } from '../../agent/core/status/status.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { overlaySettings, standardSettings } from '../../src/core/settings/settings.ts';
import { agentFileOf, givenOfMachine } from '../support/vehicle/agent-file.ts';
import { createVehicleRig, type RigOptions, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const ann = '62E3086CED';
const bob = 'A200000001B81C02';
const stranger = '0415148A19';
const reader = {
  kind: 'rfid',
  port: { path: '/dev/fleet-driver', baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 },
} as const;
const settings = { driver: { keys: `${ann} ${bob}`, clearS: 300 } };

const rigWith = (options: RigOptions = {}) =>
  createVehicleRig({ driverReader: reader, settings, ...options });

const hold = (rig: VehicleRig, id: string): void =>
  rig.dispatch({ kind: 'driverReader', input: { kind: 'key', id } });

/** Statuses of drivers with what they name, in order. */
const driversOf = ({ told }: VehicleRig) =>
  told
    .filter(({ statusCode }) => statusCode >= 4400 && statusCode <= 4402)
    .map(({ statusCode, attributes }) => [statusCode, attributes]);

const identified = statusCodes.DRIVER_IDENTIFIED.code;
const cleared = statusCodes.DRIVER_CLEARED.code;
const unknown = statusCodes.DRIVER_UNKNOWN.code;

describe('the driver of a vehicle', () => {
  it('is identified by an allowed key, once while the key rests, and by another key after it', async () => {
    const rig = await rigWith();
    rig.run(5);
    for (let n = 0; n < 100; n++) {
      hold(rig, ann);
      rig.run(0.1);
    }
    rig.run(5);
    hold(rig, bob);
    expect(driversOf(rig)).toEqual([
      [identified, { driverUniqueId: ann }],
      [identified, { driverUniqueId: bob, previousDriverUniqueId: ann }],
    ]);
  });

  it('stays while a second key is in the field with the first', async () => {
    const rig = await rigWith();
    rig.run(5);
    for (let n = 0; n < 100; n++) {
      hold(rig, n % 2 === 0 ? ann : bob);
      rig.run(0.1);
    }
    expect(driversOf(rig)).toEqual([[identified, { driverUniqueId: ann }]]);
  });

  it('is named by every event but positions and heartbeats', async () => {
    const rig = await rigWith();
    rig.run(5);
    hold(rig, ann);
    const from = rig.told.length;
    rig.board.setSignal('ignition', true);
    rig.drive(50);
    rig.run(120);
    const told = rig.told.slice(from);
    const named = told.filter(({ attributes }) => attributes?.['driverUniqueId'] === ann);
    const others = told.filter((event) => !named.includes(event)).map(({ statusCode }) => statusCode);
    expect(named.map(({ statusCode }) => statusCode)).toEqual(
      expect.arrayContaining([statusCodes.IGNITION_ON.code, statusCodes.MOTION_START.code]),
    );
    expect([...new Set(others)]).toEqual([statusCodes.LOCATION.code]);
  });

  it('no longer counts after the ignition was off for the set time, and never while it is on', async () => {
    const rig = await rigWith();
    rig.board.setSignal('ignition', true);
    rig.run(5);
    hold(rig, ann);
    rig.run(3600);
    expect(driversOf(rig)).toHaveLength(1);
    rig.board.setSignal('ignition', false);
    rig.run(299);
    expect(driversOf(rig)).toHaveLength(1);
    rig.run(3);
    expect(driversOf(rig).at(-1)).toEqual([cleared, { previousDriverUniqueId: ann, reason: 'ignition_off' }]);
    expect(rig.disk.memory.driver).toBeNull();
  });

  it('who is identified before the start has the set time to start', async () => {
    const rig = await rigWith();
    rig.run(1000);
    hold(rig, ann);
    rig.run(250);
    rig.board.setSignal('ignition', true);
    rig.run(600);
    expect(driversOf(rig)).toHaveLength(1);
  });

  it('is not cleared while the ignition is unknown', async () => {
    const rig = await rigWith();
    rig.run(5);
    hold(rig, ann);
    rig.quiet(true);
    rig.run(7200);
    expect(driversOf(rig)).toEqual([[identified, { driverUniqueId: ann }]]);
  });

  it('whose card stays in its holder is identified again when the ignition is switched on', async () => {
    const rig = await rigWith();
    rig.run(5);
    const rest = (seconds: number): void => {
      for (let passedS = 0; passedS < seconds; passedS += 0.5) {
        hold(rig, ann);
        rig.run(0.5);
      }
    };
    rest(400);
    expect(driversOf(rig).map(([code]) => code)).toEqual([identified, cleared]);
    rig.board.setSignal('ignition', true);
    rest(5);
    expect(driversOf(rig).map(([code]) => code)).toEqual([identified, cleared, identified]);
  });

  it('survives a restart of the agent', async () => {
    const rig = await rigWith();
    rig.board.setSignal('ignition', true);
    rig.run(5);
    hold(rig, ann);
    rig.kill();
    rig.start();
    rig.run(5);
    expect(rig.state().driver?.id).toBe(ann);
    expect(driversOf(rig)).toHaveLength(1);
  });

  it('no longer counts when the key is taken off the list', async () => {
    const rig = await rigWith();
    rig.run(5);
    hold(rig, ann);
    rig.kill();
    const later = await rigWith({ settings: { driver: { keys: bob, clearS: 300 } } });
    later.kill();
    later.disk.memory = rig.disk.memory;
    later.start();
    later.run(5);
    expect(driversOf(later)).toEqual([[cleared, { previousDriverUniqueId: ann, reason: 'not_allowed' }]]);
  });

  it('is anybody with a sound key where there is no list', async () => {
    const rig = await rigWith({ settings: {} });
    rig.run(5);
    hold(rig, stranger);
    expect(driversOf(rig)).toEqual([[identified, { driverUniqueId: stranger }]]);
  });
});

describe('an unknown key', () => {
  it('is reported once in ten minutes, and changes no driver', async () => {
    const rig = await rigWith();
    rig.run(5);
    hold(rig, ann);
    for (let n = 0; n < 6; n++) {
      rig.run(60);
      hold(rig, stranger);
    }
    rig.board.setSignal('ignition', true);
    rig.run(600);
    hold(rig, stranger);
    expect(driversOf(rig).filter(([code]) => code === unknown)).toEqual([
      [unknown, { keyUniqueId: stranger, driverUniqueId: ann }],
      [unknown, { keyUniqueId: stranger, suppressed: 5 }],
    ]);
  });

  it('fills no outbox, whatever is held to the reader', async () => {
    const rig = await rigWith();
    rig.run(5);
    for (let n = 0; n < 1000; n++) {
      hold(rig, `04${n.toString(16).padStart(8, '0').toUpperCase()}`);
      rig.run(3.5);
    }
    expect(driversOf(rig).length).toBeLessThanOrEqual(12 * 6);
  });
});

describe('a reader of keys', () => {
  const lost = {
    phase: 'waiting',
    fault: 'port',
    portFault: 'gone',
    keys: 3,
    rejected: 1,
    noise: 0,
  } as const;
  const open = { ...lost, phase: 'open', fault: null, portFault: null } as const;
  const failures = ({ told }: VehicleRig) =>
    told.filter(({ attributes }) => attributes?.['part'] === 'driverReader');

  it('that is lost for a minute is reported, at most once an hour, and the driver stays', async () => {
    const rig = await rigWith();
    rig.board.setSignal('ignition', true);
    rig.run(5);
    hold(rig, ann);
    for (let n = 0; n < 20; n++) {
      rig.dispatch({ kind: 'driverReader', input: { kind: 'reader', reading: lost } });
      rig.run(70);
      rig.dispatch({ kind: 'driverReader', input: { kind: 'reader', reading: open } });
      rig.run(10);
    }
    expect(failures(rig)).toHaveLength(1);
    expect(failures(rig)[0]?.attributes).toMatchObject({ reason: 'port', driverUniqueId: ann });
    expect(rig.state().driver?.id).toBe(ann);
  });

  it('that is back within a minute is not reported', async () => {
    const rig = await rigWith();
    rig.dispatch({ kind: 'driverReader', input: { kind: 'reader', reading: lost } });
    rig.run(50);
    rig.dispatch({ kind: 'driverReader', input: { kind: 'reader', reading: open } });
    rig.run(200);
    expect(failures(rig)).toEqual([]);
  });

  it('moves no relay and changes no evidence, whatever it reads', async () => {
    const plain = await createVehicleRig();
    const rig = await rigWith();
    for (const one of [plain, rig]) {
      one.run(20);
      if (one === rig) for (const id of [ann, stranger, bob]) hold(one, id);
      one.run(20);
    }
    expect(rig.changes).toEqual(plain.changes);
    expect(rig.state().evidence).toEqual(plain.state().evidence);
    expect(rig.state().commands).toEqual(plain.state().commands);
  });

  it('is shown with masked ids in status and log', async () => {
    const lines: string[] = [];
    const rig = await rigWith({ onLog: (event, fields) => lines.push(JSON.stringify([event, fields])) });
    rig.run(5);
    rig.dispatch({ kind: 'driverReader', input: { kind: 'reader', reading: open } });
    for (const id of [ann, stranger, bob]) {
      hold(rig, id);
      rig.run(5);
    }
    rig.run(400);
    const given = { nowMs: rig.nowMs(), paths: { board: '', gnss: '' }, config: rig.config() };
    hold(rig, bob);
    const { driver } = statusOfVehicle(rig.state(), given);
    if (driver === null) throw new Error('no driver in the status');
    expect(driverText(driver).words).toContain('key …B81C; 2 keys allowed');
    const shown = lines.join('\n') + JSON.stringify(driver) + driverText(driver).words;
    expect(shown).toContain('…6CED');
    for (const id of [ann, stranger, bob]) expect(shown).not.toContain(id);
  });
});

describe('the settings of drivers', () => {
  it('leave a vehicle without a reader as it is', async () => {
    expect(await toAgentConfig(agentFileOf(''), givenOfMachine)).not.toHaveProperty('driverReader');
    const rig = await createVehicleRig();
    hold(rig, ann);
    rig.run(5);
    expect(driversOf(rig)).toEqual([]);
    expect(rig.disk.memory).not.toHaveProperty('driver');
  });

  it('name a port of its own, and are described without a key', async () => {
    const file = agentFileOf(`[driverReader]\nport = "/dev/fleet-driver"\n[driver]\nkeys = "${ann}"`);
    const config = await toAgentConfig(file, givenOfMachine);
    expect(config.driverReader).toEqual(reader);
    expect(JSON.stringify(describeConfig(config))).toContain('rfid at /dev/fleet-driver, 9600 baud');
    expect(JSON.stringify(describeConfig(config))).not.toContain(ann);
    for (const more of [
      '[driverReader]\nport = "/dev/fleet-gnss"',
      '[bus]\nport = "/dev/x"\n[driverReader]\nport = "/dev/x"',
    ])
      await expect(toAgentConfig(agentFileOf(more), givenOfMachine)).rejects.toThrow('is');
  });

  it('name no key in the error of a wrong list', () => {
    const read = () => agentFileOf(`[driver]\nkeys = "${ann} ${bob} 12"`);
    expect(read).toThrow('driver.keys: found 32 characters');
    expect(read).not.toThrow(ann);
  });

  it.each(['62E3086CE', '62E3086CED62E3086CED', 'G2E3086CED', '62E3086CED;', ''])(
    'refuse the list %j',
    (keys) => {
      expect(overlaySettings(standardSettings, { driver: { keys } }).kind).toBe('faults');
    },
  );

  it('take 500 iButtons', () => {
    const keys = Array.from({ length: 500 }, (_, n) => n.toString(16).padStart(16, '0')).join(' ');
    expect(overlaySettings(standardSettings, { driver: { keys } }).kind).toBe('ok');
  });
});
