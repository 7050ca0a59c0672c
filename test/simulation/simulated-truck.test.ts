// The whole agent in a truck of the simulator: what it reports of its bus on a drive through a city is what the truck truly did.
import { describe, expect, it } from 'vitest';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { startVirtualVehicle } from '../support/virtual/virtual-vehicle.ts';

describe('the agent in a simulated truck', () => {
  it('reports the values of its bus with positions, and writes nothing to the bus', async () => {
    const events: FleetEvent[] = [];
    const truck = await startVirtualVehicle({
      seed: 'truck',
      hasBus: true,
      onStored: (stored) => void events.push(...stored),
    });
    const { vehicle } = truck;
    const bus = vehicle.bus ?? expect.fail('the truck has no bus');
    await truck.pass(240);
    const reported = events.flatMap(({ attributes }) =>
      attributes?.['busOdometer'] === undefined ? [] : [attributes],
    );
    expect(reported.length).toBeGreaterThan(1);
    const km = bus.truck.odometerKm(vehicle.now().odometerM);
    for (const attributes of reported) {
      expect(attributes['busOdometer']).toBeLessThanOrEqual(km + 0.1);
      expect(attributes['busOdometer']).toBeGreaterThan(km - 10);
    }
    expect(events.map(({ attributes }) => attributes?.['vin']).filter((vin) => vin !== undefined)).toEqual([
      bus.truck.vin,
    ]);
    const speeds = events.flatMap(({ attributes }) => attributes?.['busSpeed'] ?? []);
    expect(Math.max(...speeds.map(Number))).toBeGreaterThan(10);
    expect(bus.truck.transmissions()).toBe(0);
    await truck.close();
  });

  it.each([
    { fault: 'no fault', speedScale: 1, speed: 'proven', alone: 'suspended' },
    { fault: 'speeds of another scale', speedScale: 1.4, speed: 'unproven', alone: 'unproven' },
  ])(
    'with $fault its speed is $speed by the drive and while the engine unit is awake, and $alone once the brakes outlast it',
    async ({ speedScale, speed, alone }) => {
      const { vehicle, pass, close } = await startVirtualVehicle({ seed: 'truck', hasBus: true });
      const bus = vehicle.bus ?? expect.fail('the truck has no bus');
      bus.truck.setFaults({ speedScale });
      const witness = async () => {
        const { bus_speed, bus_rpm } = (await vehicle.agent.status()).vehicle.evidence.witnesses;
        return [bus_speed, bus_rpm];
      };
      await pass(40);
      expect(await witness()).toEqual(['unproven', 'unproven']);
      await pass(200);
      expect(await witness()).toEqual([speed, 'unproven']);
      // The key goes off: the engine's unit shows an engine at rest, and the parking brake is set.
      await pass(40);
      expect(vehicle.now()).toMatchObject({ ignition: false, engine: 'off' });
      expect(await witness()).toEqual([speed, 'proven']);
      await pass(260);
      expect(vehicle.now()).toMatchObject({ ignition: false, engine: 'off' });
      expect(await witness()).toEqual([speed, 'proven']);
      await pass(30);
      expect(await witness()).toEqual([alone, 'suspended']);
      await pass(35);
      expect(await witness()).toEqual([speed, 'proven']);
      expect(bus.truck.transmissions()).toBe(0);
      await close();
    },
  );

  it('has no bus unless it is given one', async () => {
    const van = await startVirtualVehicle({ seed: 'van' });
    expect(van.vehicle.bus).toBeNull();
    await van.close();
  });
});
