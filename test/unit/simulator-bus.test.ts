// The simulated bus of a truck, read by the agent's own reader: values follow the true motion, with the errors of real buses, and each fault
// shows. The virtual clock lets a drive of minutes pass at once.
import { afterEach, describe, expect, it } from 'vitest';
import { startVehicleBus, type VehicleBus } from '../../agent/bus/vehicle-bus.ts';
import { chooseValues } from '../../agent/core/bus/bus-choice.ts';
import type { BusReading } from '../../agent/core/bus/bus-reading.ts';
import type { BusName } from '../../agent/core/bus/j1939-signals.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createBusHardware } from '../../simulator/hardware/bus-hardware.ts';
import { createTruckNodes, type TruckTruth } from '../../simulator/hardware/truck-nodes.ts';
import { truckBusConfig } from '../support/bus/truck-bus.ts';

const { path: _path, ...line } = truckBusConfig.port;

const parked: TruckTruth = {
  speedKmh: 0,
  odometerM: 0,
  ignition: false,
  engine: 'off',
  tankLevel: 0.6,
  supplyVolts: 12.6,
};
const idling: TruckTruth = { ...parked, ignition: true, engine: 'running', supplyVolts: 13.9 };

const opened: { readonly bus: VehicleBus; close(): void }[] = [];
afterEach(async () => {
  for (const { bus, close } of opened.splice(0)) {
    close();
    await bus.close();
  }
});

/** The agent's reader on the adapter of a truck with a scripted drive. */
async function startTruck() {
  const clock = createVirtualClock(Date.UTC(2026, 10, 21));
  let truth = parked;
  const hardware = createBusHardware({
    clock,
    entropy: createSeededEntropy('truck'),
    line,
    truth: () => truth,
  });
  let reading: BusReading | null = null;
  const bus = startVehicleBus({
    config: truckBusConfig,
    clock,
    openByteLink: hardware.cable.open,
    log: { info: () => undefined, warn: () => undefined },
    onReading(next) {
      reading = next;
    },
  });
  opened.push({ bus, close: () => hardware.truck.close() });
  const run = async (seconds: number): Promise<void> => {
    for (let steps = Math.round(seconds * 10); steps > 0; steps -= 1) {
      truth = { ...truth, odometerM: truth.odometerM + truth.speedKmh / 36 };
      clock.advance(100);
      // The reader opens its port in promises.
      await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    hardware,
    run,
    set(change: Partial<TruckTruth>) {
      truth = { ...truth, ...change };
    },
    truth: () => truth,
    nowMs: () => clock.monoMs(),
    view: () => bus.reading().view,
    value: (name: BusName) =>
      chooseValues(bus.reading().view.values, clock.monoMs()).get(name)?.value ?? null,
    adapter: () => bus.reading().adapter,
    passedOn: () => reading,
  };
}

describe('bus of a sound truck', () => {
  it('gives the reader speed, odometer, fuel, temperature and number of the vehicle as they truly are', async () => {
    const truck = await startTruck();
    truck.set(idling);
    await truck.run(15);
    truck.set({ speedKmh: 61.5 });
    await truck.run(30);
    expect(truck.adapter()).toMatchObject({ phase: 'open', dialect: 'canable', rejected: 0, skipped: 0 });
    expect(truck.value('speed')).toBeCloseTo(61.5, 1);
    expect(truck.value('axleSpeed')).toBeCloseTo(61.5, 1);
    expect(truck.value('tachographSpeed')).toBeCloseTo(61.5, 1);
    expect(truck.value('rpm')).toBeGreaterThan(1000);
    const km = truck.hardware.truck.odometerKm(truck.truth().odometerM);
    expect(Math.abs((truck.value('odometer') ?? 0) - km)).toBeLessThan(0.05);
    expect(truck.value('fuelLevel')).toBeCloseTo(60, 0);
    expect(truck.value('fuelRate')).toBeCloseTo(61.5 * 0.12, 1);
    expect(truck.value('coolant')).toBeGreaterThan(20);
    expect(truck.value('batteryVolts')).toBeCloseTo(13.9, 0);
    expect(truck.view().vin?.value).toBe(truck.hardware.truck.vin);
    expect(truck.view().troubleCodes.flatMap(({ value }) => value)).toEqual([]);
    expect(truck.view().movement?.value).toBeCloseTo(61.5, 1);
    expect(truck.passedOn()).not.toBeNull();
    expect(truck.hardware.truck.transmissions()).toBe(0);
  });

  it('has two senders of one group, of which each lacks what the other has', async () => {
    const truck = await startTruck();
    truck.set(idling);
    await truck.run(15);
    const of = (name: BusName) =>
      truck
        .view()
        .values.filter((one) => one.name === name)
        .map(({ source, value, fault }) => ({ source, value, fault }));
    expect(of('speed')).toEqual([
      { source: 0x00, value: 0, fault: null },
      { source: 0x31, value: null, fault: 'not_available' },
    ]);
    expect(of('parkingBrake')).toEqual([
      { source: 0x00, value: null, fault: 'not_available' },
      { source: 0x31, value: 1, fault: null },
    ]);
  });

  it('shows no speed of wheels below 2 km/h and none of the gearbox below 1 km/h', async () => {
    const truck = await startTruck();
    truck.set({ ...idling, speedKmh: 1.5 });
    await truck.run(15);
    expect(truck.value('speed')).toBe(0);
    const tachograph = truck.view().values.find(({ name }) => name === 'tachographSpeed');
    expect(tachograph?.value).toBeCloseTo(1.5, 1);
  });
});

describe('start and sleep', () => {
  /** Frames by group and sender in a span of the nodes' time. */
  function frames(
    truth: TruckTruth,
    nodes: ReturnType<typeof createTruckNodes>,
    fromMs: number,
    toMs: number,
  ) {
    const sent: { readonly atMs: number; readonly id: number; readonly data: readonly number[] }[] = [];
    for (let atMs = fromMs; atMs < toMs; atMs += 20)
      for (const { id, data } of nodes.step(truth, atMs)) sent.push({ atMs, id, data: [...data] });
    return sent;
  }
  const ccvs1OfEngine = 0x18fef100;
  const ebc2OfBrakes = 0x18febf0b;
  const groupOf = (id: number): number => id & 0x3ffffff;

  it('begins with zeros for 640 ms and without levels for 10 s', () => {
    const nodes = createTruckNodes(createSeededEntropy('start'));
    frames(parked, nodes, 0, 1000);
    const sent = frames({ ...idling, speedKmh: 30 }, nodes, 1000, 13_000);
    const speeds = sent.filter(({ id }) => groupOf(id) === groupOf(ccvs1OfEngine));
    const zeros = speeds.filter(({ data }) => data[1] === 0 && data[2] === 0);
    expect(zeros.map(({ atMs }) => atMs)).toEqual([1000, 1100, 1200, 1300, 1400, 1500, 1600]);
    expect(speeds.at(-1)?.data.slice(1, 3)).toEqual([0, 30]);
    const levels = sent.filter(({ id }) => groupOf(id) === groupOf(0x18fefc17)).map(({ data }) => data[1]);
    expect(levels).toEqual([...Array.from({ length: 10 }, () => 0xff), 150, 150]);
  });

  it('ends the engine 90 s after the key is off, and goes on with zeros of the brakes until 123 s', () => {
    const nodes = createTruckNodes(createSeededEntropy('sleep'));
    frames({ ...idling, speedKmh: 30 }, nodes, 0, 1000);
    const rolling: TruckTruth = { ...parked, speedKmh: 20 };
    const sent = frames(rolling, nodes, 1000, 150_000);
    const last = (id: number) => sent.filter((one) => groupOf(one.id) === groupOf(id)).at(-1)?.atMs;
    expect(last(ccvs1OfEngine)).toBe(90_900);
    expect(last(ebc2OfBrakes)).toBe(123_900);
    const wheels = sent.filter(({ id }) => groupOf(id) === groupOf(ebc2OfBrakes));
    expect(wheels.every(({ data }) => data[0] === 0 && data[1] === 0)).toBe(true);
    expect(nodes.isAwake()).toBe(false);
  });
});

describe('a parked truck', () => {
  it('shows its speeds, its engine at rest and its parking brake until its bus sleeps', async () => {
    const truck = await startTruck();
    truck.set(idling);
    await truck.run(20);
    truck.set(parked);
    await truck.run(80);
    expect([truck.value('speed'), truck.value('rpm'), truck.value('parkingBrake')]).toEqual([0, 0, 1]);
    await truck.run(60);
    expect(truck.value('speed')).toBeNull();
  });
});

describe('faults of the bus', () => {
  /** A truck at 50 km/h whose bus is settled. */
  async function driving() {
    const truck = await startTruck();
    truck.set({ ...idling, speedKmh: 50 });
    await truck.run(20);
    expect(truck.value('speed')).toBeCloseTo(50, 1);
    return truck;
  }

  it('reports an adapter that was pulled, and reads it again once it is back', async () => {
    const truck = await driving();
    truck.hardware.unplug();
    await truck.run(5);
    expect(truck.adapter()).toMatchObject({ phase: 'waiting', refusal: 'port' });
    truck.hardware.plug();
    await truck.run(20);
    expect(truck.adapter().phase).toBe('open');
    expect(truck.value('speed')).toBeCloseTo(50, 1);
  });

  it('loses engine speed and wheel-based speed with the engine unit, not the other speeds', async () => {
    const truck = await driving();
    truck.hardware.truck.setFaults({ isEngineSilent: true });
    await truck.run(5);
    expect(truck.value('rpm')).toBeNull();
    expect(truck.value('speed')).toBeNull();
    expect(truck.value('axleSpeed')).toBeCloseTo(50, 1);
    truck.hardware.truck.setFaults({ isEngineSilent: false });
    await truck.run(12);
    expect(truck.value('speed')).toBeCloseTo(50, 1);
  });

  it('gets a valid zero from an engine unit that is alone on the bus, and no movement', async () => {
    const truck = await driving();
    truck.hardware.truck.setFaults({ isEngineAlone: true });
    await truck.run(20);
    expect(truck.value('speed')).toBe(0);
    expect(truck.view().movement).toBeNull();
    expect(truck.value('axleSpeed')).toBeNull();
  });

  it('reads a speed that is stuck, and the true one again', async () => {
    const truck = await driving();
    truck.hardware.truck.setFaults({ isSpeedStuck: true });
    await truck.run(1);
    truck.set({ speedKmh: 0 });
    await truck.run(5);
    expect(truck.value('speed')).toBeCloseTo(50, 1);
    truck.hardware.truck.setFaults({ isSpeedStuck: false });
    await truck.run(1);
    expect(truck.value('speed')).toBe(0);
  });

  it('reads the last frame of each unit while a gateway repeats them', async () => {
    const truck = await driving();
    for (let speedKmh = 48; speedKmh >= 0; speedKmh -= 2) {
      truck.set({ speedKmh });
      await truck.run(0.1);
    }
    await truck.run(15);
    truck.hardware.truck.setFaults({ isRepeating: true });
    truck.set({ speedKmh: 40 });
    await truck.run(15);
    expect(truck.value('speed')).toBe(0);
    truck.hardware.truck.setFaults({ isRepeating: false });
    await truck.run(1);
    expect(truck.value('speed')).toBeCloseTo(40, 1);
  });

  it('reads an odometer that is stuck', async () => {
    const truck = await driving();
    truck.hardware.truck.setFaults({ isOdometerStuck: true });
    await truck.run(3);
    const before = truck.value('odometer');
    await truck.run(30);
    expect(truck.value('odometer')).toBe(before);
  });

  it('leaves an odometer out while its sender is silent, though another unit sends one', async () => {
    const truck = await driving();
    truck.hardware.truck.setFaults({ isOdometerSilent: true });
    await truck.run(70);
    const { values } = truck.view();
    expect(truck.value('odometer')).toBeCloseTo(
      truck.hardware.truck.odometerKm(truck.truth().odometerM) + 98_174,
      0,
    );
    const senders = { odometer: { by: '917@238', absentS: 0 } };
    expect(chooseValues(values, truck.nowMs(), senders).has('odometer')).toBe(false);
  });

  it('reads the number of another vehicle', async () => {
    const truck = await driving();
    truck.hardware.truck.setFaults({ isVinWrong: true });
    await truck.run(11);
    const seen = truck.view().vin?.value ?? '';
    expect(seen).toMatch(/^[A-HJ-NPR-Z0-9]{17}$/);
    expect(seen).not.toBe(truck.hardware.truck.vin);
  });

  it('reads two trouble codes of a long message, and their end', async () => {
    const truck = await driving();
    truck.hardware.truck.setFaults({ hasCodes: true });
    await truck.run(3);
    const codes = () =>
      truck.view().troubleCodes.flatMap(({ value }) => value.map(({ spn, fmi }) => [spn, fmi]));
    expect(codes()).toEqual([
      [100, 1],
      [110, 0],
    ]);
    truck.hardware.truck.setFaults({ hasCodes: false });
    await truck.run(3);
    expect(codes()).toEqual([]);
  });

  it('reads speeds of another scale', async () => {
    const truck = await driving();
    truck.hardware.truck.setFaults({ speedScale: 1.6 });
    await truck.run(2);
    expect(truck.value('speed')).toBeCloseTo(80, 1);
  });
});
