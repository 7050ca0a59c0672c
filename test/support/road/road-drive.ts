// What a driver and an operator do in the road tests: the commissioning drive, the cut of a parked vehicle, and a cut
// ordered while the vehicle moves. Every wait is real time.
import { waitUntil } from '../machine/wait-until.ts';
import { sleep } from '../serial/pty-bus.ts';
import type { CommandEntry, Feature, IssuedOrder, RoadVehicle } from './road-vehicle.ts';

/** Time from the order to the relay order and to the confirmation at the broker; null: not within the limit. */
export interface ParkedCut {
  readonly relayS: number | null;
  readonly confirmedS: number | null;
}

const cutLimitMs = 30_000;
export const watchMs = 90_000;
const settleMs = 20_000;

export function entriesSince(vehicle: RoadVehicle, order: IssuedOrder): readonly CommandEntry[] {
  return vehicle.entries.filter(({ feature, atMs }) => feature === order.feature && atMs >= order.atMs);
}

/** Whether the agent reported that it holds the command. */
export const wasArmed = (vehicle: RoadVehicle, order: IssuedOrder): boolean =>
  entriesSince(vehicle, order).some(({ commandState }) => commandState === 'armed');

export async function startDriving(vehicle: RoadVehicle, speedKmh: number): Promise<void> {
  vehicle.world.isIgnitionOn = true;
  await sleep(2000);
  await vehicle.world.drive(speedKmh);
}

/** Brakes through low speeds, switches the ignition off and stands. */
export async function park({ world }: RoadVehicle): Promise<void> {
  await world.drive(0);
  await sleep(2000);
  world.isIgnitionOn = false;
  await sleep(settleMs);
}

/** About 900 m at 40 to 55 km/h with every sensor sound, between two stands. */
export async function commission(vehicle: RoadVehicle): Promise<void> {
  await sleep(10_000);
  await startDriving(vehicle, 45);
  for (const speedKmh of [55, 40, 50]) {
    await vehicle.world.drive(speedKmh);
    await sleep(20_000);
  }
  await park(vehicle);
}

/** Orders a cut of the parked vehicle and waits until the broker shows it as confirmed. */
export async function cutParked(vehicle: RoadVehicle): Promise<ParkedCut> {
  const order = await vehicle.order('enginecutoff', '1');
  const confirmed = (): CommandEntry | undefined =>
    entriesSince(vehicle, order).find(({ state, pendingState }) => state === '1' && pendingState === null);
  // That it comes within this time is what these tests prove.
  const endMs = performance.now() + cutLimitMs;
  while (confirmed() === undefined && performance.now() < endMs) await sleep(50);
  const relay = vehicle.world.board.orders.find((seen) => seen.isEnergising && seen.atMs >= order.atMs);
  const seconds = (atMs: number | undefined): number | null =>
    atMs === undefined ? null : (atMs - order.atMs) / 1000;
  return { relayS: seconds(relay?.atMs), confirmedS: seconds(confirmed()?.atMs) };
}

/** Restores the engine, or withdraws the cut that still waits. */
export async function restore(vehicle: RoadVehicle): Promise<void> {
  await vehicle.order('enginecutoff', '0');
  await waitUntil('the release of the relay', () => !vehicle.world.board.isEnergised('enginecutoff'));
  await sleep(1000);
}

/** Orders while the sensors are already misleading; the agent has to report the command as armed. */
export async function orderOnRoad(vehicle: RoadVehicle, feature: Feature): Promise<IssuedOrder> {
  const order = await vehicle.order(feature, '1', 600);
  await waitUntil('the command to be armed', () => wasArmed(vehicle, order));
  return order;
}
