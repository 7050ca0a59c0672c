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

  it('has no bus unless it is given one', async () => {
    const van = await startVirtualVehicle({ seed: 'van' });
    expect(van.vehicle.bus).toBeNull();
    await van.close();
  });
});
