// What a person reads of a road scenario: the orders at the relays with the true speed, the times of parked cuts, and the
// reasons that the broker showed while a command waited.
import type { RelayOrder } from './road-board.ts';
import { entriesSince, type ParkedCut } from './road-drive.ts';
import type { IssuedOrder, RoadVehicle } from './road-vehicle.ts';

/** Energising orders that the board received while the vehicle moved. */
export function ordersInMotion({ world }: RoadVehicle): readonly RelayOrder[] {
  return world.board.orders.filter(({ isEnergising, trueSpeedKmh }) => isEnergising && trueSpeedKmh > 0);
}

const seconds = (value: number | null): string => (value === null ? 'never' : `${value.toFixed(1)} s`);

function describeOrder(vehicle: RoadVehicle, order: IssuedOrder, nextMs: number): readonly string[] {
  const after = (atMs: number): string => `+${((atMs - order.atMs) / 1000).toFixed(1)} s`;
  const relayLines = vehicle.world.board.orders
    .filter(({ atMs }) => atMs >= order.atMs && atMs < nextMs)
    .map(({ atMs, relay, isEnergising, trueSpeedKmh }) => {
      const action = `${relay} ${isEnergising ? 'energised' : 'released'}`;
      return `    ${after(atMs)} ${action} at a true ${trueSpeedKmh.toFixed(1)} km/h`;
    });
  const reasons = entriesSince(vehicle, order)
    .filter(({ atMs, pendingReason }) => atMs < nextMs && pendingReason !== null)
    .map(({ atMs, pendingReason }) => `${after(atMs)} "${pendingReason}"`);
  const at = `at a true ${order.trueSpeedKmh.toFixed(1)} km/h`;
  return [`  ${order.feature} ordered ${at}; waits: ${reasons.join(', ') || 'not shown'}`, ...relayLines];
}

export function describeRoad(vehicle: RoadVehicle, cuts: readonly ParkedCut[]): string {
  const { issued } = vehicle;
  return [
    ...cuts.map(
      ({ relayS, confirmedS }) => `  parked cut: relay ${seconds(relayS)}, confirmed ${seconds(confirmedS)}`,
    ),
    ...issued.flatMap((order, at) =>
      describeOrder(vehicle, order, issued[at + 1]?.atMs ?? Number.POSITIVE_INFINITY),
    ),
    `  orders in motion: ${ordersInMotion(vehicle).length}; receiver at most ${vehicle.world.longestDelayMs()} ms late`,
  ].join('\n');
}
