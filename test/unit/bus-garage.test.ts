// The vehicle bus as a witness in the whole vehicle: it is proven by a drive under the sky, and is then one key of a cut where no position
// shows the standstill.
import { describe, expect, it } from 'vitest';
import type { CanFrame } from '../../agent/core/bus/slcan-line.ts';
import { witnessesOf, witnessStatesOf } from '../../agent/core/evidence/testimony.ts';
import { ccvs1, ebc2, eec1, vep1 } from '../../simulator/hardware/j1939-frames.ts';
import { createTruckBus, truckBusConfig, truckFrames, vinFrames } from '../support/bus/truck-bus.ts';
import { createVehicleRig, type RigOptions, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const time = (rig: VehicleRig) => ({ atMs: rig.nowMs(), utcMs: null });
const states = (rig: VehicleRig) => witnessStatesOf(rig.state().evidence, time(rig));
const speed = (rig: VehicleRig) => witnessesOf(rig.state().evidence, time(rig)).bus_speed;
const isCut = (rig: VehicleRig): boolean => rig.said().includes('confirmed');

async function provenTruck(engine: 'combustion' | 'hybrid' = 'combustion', options: RigOptions = {}) {
  const rig = await createVehicleRig({ bus: { ...truckBusConfig, engine }, ...options });
  const bus = createTruckBus(rig);
  rig.run(10);
  bus.run(15).trip().park(40);
  return { rig, bus };
}

/** Of a truck that is parked, whatever this one does. */
const parkedFrames: typeof truckFrames = ({ atMs }) => truckFrames({ kmh: 0, rpm: 0, isBraked: true, atMs });

/** In its garage for two minutes: no position. */
async function garagedTruck(engine: 'combustion' | 'hybrid' = 'combustion') {
  const { rig, bus } = await provenTruck(engine);
  rig.sky(false);
  bus.run(120);
  return { rig, bus };
}

describe('a bus', () => {
  it('is proven by one drive under the sky, and its stop', async () => {
    const rig = await createVehicleRig({ bus: truckBusConfig });
    const bus = createTruckBus(rig);
    rig.run(10);
    bus.run(30);
    expect(states(rig)).toMatchObject({ bus_speed: 'unproven', bus_rpm: 'unproven' });
    bus.trip();
    bus.park(40);
    expect(states(rig)).toMatchObject({ bus_speed: 'proven', bus_rpm: 'proven', gnss: 'proven' });
    expect(rig.disk.memory.evidence?.bus).toEqual({ senders: '00', vin: null });
    expect(speed(rig)).toMatchObject({ claim: 'rest', causes: ['bus', 'terminal15'] });
  });

  it('is no witness where none is configured, and shows no engine at rest unless combustion is declared', async () => {
    const rig = await createVehicleRig();
    createTruckBus(rig).run(15).trip().park(40);
    expect(states(rig)).toMatchObject({ bus_speed: 'absent', bus_rpm: 'absent' });
    const hybrid = await provenTruck('hybrid');
    expect(states(hybrid.rig)).toMatchObject({ bus_speed: 'proven', bus_rpm: 'absent' });
  });

  it('is not proven by speeds that differ from the receiver', async () => {
    const rig = await createVehicleRig({ bus: truckBusConfig });
    createTruckBus(rig)
      .sends((state) => truckFrames({ ...state, kmh: state.kmh * 1.4 }))
      .run(15)
      .trip()
      .park(40);
    expect(states(rig).bus_speed).toBe('unproven');
  });

  it('is not proven by the ignition: without a position a drive shows nothing of its speed', async () => {
    const rig = await createVehicleRig({ bus: truckBusConfig });
    rig.sky(false);
    createTruckBus(rig).run(15).trip().park(40);
    expect(states(rig)).toMatchObject({ bus_speed: 'unproven', bus_rpm: 'unproven' });
  });

  it('is contradicted where it shows rest on a drive: the adapter is on another truck, or its sensor is dead', async () => {
    const { rig, bus } = await provenTruck();
    bus.sends(parkedFrames).trip();
    expect(states(rig)).toMatchObject({ bus_speed: 'contradicted', gnss: 'proven', ignition: 'proven' });
  });

  it('loses its credit with another vehicle identification number, and where a drive has other senders', async () => {
    const first = await provenTruck();
    const wheels = (state: { kmh: number }) => [ebc2(state.kmh)];
    first.bus.sends((state) => [...truckFrames(state), ...wheels(state)]).run(30);
    // A sender more at rest: not the bus that was proven.
    expect(states(first.rig).bus_speed).toBe('suspended');
    first.bus.key(true).brake(false).run(2);
    first.rig.drive(50);
    first.bus.run(15);
    expect(states(first.rig).bus_speed).toBe('unproven');

    const rig = await createVehicleRig({ bus: truckBusConfig });
    const vinned = (vin: string) => (state: Parameters<typeof truckFrames>[0]) =>
      state.atMs % 10_000 === 0 ? [...truckFrames(state), ...vinFrames(vin)] : truckFrames(state);
    const bus = createTruckBus(rig).sends(vinned('WDB9634031L738256'));
    bus.run(15).trip().park(40);
    expect(rig.disk.memory.evidence?.bus?.vin).toBe('WDB9634031L738256');
    expect(states(rig).bus_speed).toBe('proven');
    bus.sends(vinned('WDB9634031L738257')).run(21);
    expect(states(rig)).toMatchObject({ bus_speed: 'unproven', bus_rpm: 'unproven' });
  });

  it('keeps its credit over a restart, and claims nothing until it has settled anew', async () => {
    const { rig, bus } = await provenTruck();
    rig.kill();
    rig.start();
    bus.reopen().run(15);
    expect(states(rig).bus_speed).toBe('proven');
    expect(speed(rig).claim).toBeNull();
    bus.run(10);
    expect(speed(rig).claim).toBe('rest');
  });
});

describe('a truck in a garage without a position', () => {
  it('is cut by its bus and its motion input, nodes awake and parking brake set', async () => {
    const { rig, bus } = await garagedTruck();
    expect(speed(rig)).toMatchObject({ state: 'proven', claim: 'rest' });
    rig.command('enginecutoff', '1');
    bus.run(10);
    expect(isCut(rig)).toBe(true);
    expect(rig.changes).toMatchObject([{ relay: 0 }]);
  });

  it('waits where bus and ignition are all that speaks, as one fuse behind the key may feed both', async () => {
    const { rig, bus } = await provenTruck('combustion', { overrides: { inputs: { motion: false } } });
    rig.sky(false);
    bus.run(120);
    expect(speed(rig)).toMatchObject({ state: 'proven', claim: 'rest' });
    rig.command('enginecutoff', '1');
    bus.run(30);
    expect(isCut(rig)).toBe(false);
    expect(rig.told.at(-1)?.attributes).toMatchObject({ code: 'common_cause' });
  });

  it.each([
    { lost: 'two seconds, 32 seconds ago', lostS: 2, thenS: 32, isDone: true },
    { lost: 'two seconds, 20 seconds ago', lostS: 2, thenS: 20, isDone: false },
    { lost: 'more than three seconds', lostS: 5, thenS: 40, isDone: false },
  ])('is cut: $isDone, after its board was silent for $lost', async ({ lostS, thenS, isDone }) => {
    const { rig, bus } = await garagedTruck();
    rig.board.setFaults({ silent: true });
    bus.run(lostS);
    rig.board.setFaults({ silent: false });
    bus.run(thenS);
    rig.command('enginecutoff', '1');
    bus.run(2);
    expect(isCut(rig)).toBe(isDone);
  });

  it('is not cut where the bus is the only witness beside an ignition that was never proven', async () => {
    const rig = await createVehicleRig({ bus: truckBusConfig, isCommissioned: false });
    const bus = createTruckBus(rig).run(15);
    rig.sky(false);
    bus.run(120);
    rig.command('enginecutoff', '1');
    bus.run(60);
    expect(isCut(rig)).toBe(false);
  });

  const still = { kmh: 0, rpm: 0 } as const;
  it.each<[string, (state: Parameters<typeof truckFrames>[0]) => readonly CanFrame[]]>([
    ['sleeps', () => []],
    ['repeats its last values', () => [ccvs1(0, 3, 0), ccvs1(null, 1, 0x31), eec1(0, 0), vep1(24, null, 0)]],
    ['shows the parking brake released', ({ atMs }) => truckFrames({ ...still, isBraked: false, atMs })],
    [
      'shows zeros of the engine alone',
      ({ atMs }) =>
        truckFrames({ ...still, isBraked: true, atMs }).filter((frame) => (frame.id & 0xff) === 0),
    ],
    [
      'has lost its engine',
      ({ atMs }) => [ccvs1(0, 1, 0), vep1(24 + (atMs % 2000 === 0 ? 0.05 : 0), null, 0)],
    ],
    [
      'shows the key on',
      ({ atMs }) => [
        ...truckFrames({ ...still, isBraked: true, atMs }),
        vep1(24 + (atMs % 500 === 0 ? 0.05 : 0), 24, 0),
      ],
    ],
    ['shows a speed', ({ atMs }) => truckFrames({ kmh: 5, rpm: 0, isBraked: true, atMs })],
    [
      'has another sender of a speed',
      (state) => [...truckFrames({ ...state, ...still, isBraked: true }), ebc2(0)],
    ],
  ])('is not cut while its bus %s', async (_, frames) => {
    const { rig, bus } = await garagedTruck('hybrid');
    bus.sends(frames).run(20);
    rig.command('enginecutoff', '1');
    bus.run(90);
    expect(isCut(rig)).toBe(false);
    expect(rig.changes).toEqual([]);
  });

  it('is not cut once the view of the bus is old, although nothing said that it ended', async () => {
    const { rig, bus } = await garagedTruck();
    expect(speed(rig).claim).toBe('rest');
    bus.sends(() => []).run(2);
    expect(speed(rig).claim).toBeNull();
  });

  it('is not cut where the installer wants a position, nor in a circuit that can stop the engine', async () => {
    const rig = await createVehicleRig({ bus: truckBusConfig, protection: { noGnss: 'wait' } });
    const bus = createTruckBus(rig).run(15).trip().park(40);
    rig.sky(false);
    bus.run(120);
    rig.command('enginecutoff', '1');
    bus.run(60);
    expect(isCut(rig)).toBe(false);
  });
});

describe('a truck on the road with one thing wrong', () => {
  it('is not cut in a tunnel after a red light where the bus repeats the standstill of the light with the brake set', async () => {
    const { rig, bus } = await provenTruck();
    bus.key(true).brake(false).run(5);
    rig.drive(40);
    bus.run(30);
    rig.drive(0);
    bus.brake(true).run(40);
    rig.sky(false);
    rig.command('enginecutoff', '1');
    bus.sends(parkedFrames);
    rig.drive(60);
    bus.run(120);
    expect(isCut(rig)).toBe(false);
  });

  it('is not cut in a tunnel where one module gives ignition and bus, and loses the vehicle: its speed falls faster than a vehicle brakes', async () => {
    const { rig, bus } = await provenTruck();
    bus.key(true).brake(false).run(5);
    rig.drive(60);
    bus.run(40);
    rig.sky(false);
    bus.run(5).key(false);
    bus.sends(parkedFrames).run(30);
    rig.command('enginecutoff', '1');
    expect(bus.run(150) && speed(rig).claim).toBeNull();
    // Nor where it gave no value for a moment.
    bus
      .sends(truckFrames)
      .run(10)
      .sends(() => [ccvs1(null, 3, 0)])
      .run(3);
    expect(bus.sends(parkedFrames).run(120) && speed(rig).claim).toBeNull();
    expect(isCut(rig)).toBe(false);
  });

  it('is not cut in a tunnel where the bus did not show the drive before it: its rest counts once it was seen to move', async () => {
    const { rig, bus } = await provenTruck();
    bus.key(true).brake(false).run(5).reopen();
    // While the bus settles its zeros are no rest yet, so that nothing contradicts the receiver.
    bus.sends(parkedFrames);
    rig.drive(60);
    bus.run(8);
    rig.sky(false);
    bus.run(1).key(false);
    rig.command('enginecutoff', '1');
    bus.run(150);
    expect(speed(rig)).toMatchObject({ state: 'suspended', claim: null });
    expect(isCut(rig)).toBe(false);
    bus.sends(truckFrames).run(5);
    rig.drive(0);
    bus.brake(true).run(30);
    expect(speed(rig)).toMatchObject({ state: 'proven', claim: 'rest' });
  });

  it('is not cut in a tunnel where the ignition wire is broken and the bus is sound', async () => {
    const { rig, bus } = await provenTruck();
    bus.key(true).brake(false).run(5);
    rig.drive(60);
    bus.run(20);
    rig.sky(false);
    rig.board.setSignal('ignition', false);
    rig.command('enginecutoff', '1');
    bus.run(150);
    expect(isCut(rig)).toBe(false);
  });
});
