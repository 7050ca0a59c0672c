// Does to a vehicle what was planned, at the intended moment whatever else happens. Deeds that need a parked vehicle wait until it
// is parked by itself and then keep it there; nobody stops a driver on the road.
import type { Cancel, Clock } from '../../src/ports.ts';
import type { Deed } from '../core/deeds.ts';
import type { FactKind } from '../core/facts.ts';
import type { FleetVehicle } from './fleet-vehicle.ts';

export interface DeedActor {
  /** Drops what was planned and has not begun, and takes this instead. */
  plan(deeds: readonly Deed[]): void;
  /** Nothing further is done; what is held is let go by itself. */
  close(): void;
}

export interface DeedActorOptions {
  readonly clock: Clock;
  readonly target: FleetVehicle;
  /** Ms until each deed counts from now. */
  readonly deeds: readonly Deed[];
  readonly nowMs: () => number;
  note(kind: FactKind): void;
}

type ParkedDeed = 'refuel' | 'fuelTheft' | 'tow';

const lookMs = 2000;
/** How long it has stood when the hose comes: the level has settled. Towing is watched for after three minutes. */
const beforeMs: Readonly<Record<ParkedDeed, number>> = { refuel: 90_000, fuelTheft: 90_000, tow: 200_000 };
/** Until the driver is allowed off again. */
const afterMs: Readonly<Record<ParkedDeed, number>> = { refuel: 180_000, fuelTheft: 180_000, tow: 60_000 };
const tankedPart = 0.3;
const stolenPart = 0.2;
const towKmh = 25;
const waitingMost = 4;

function act(target: FleetVehicle, kind: ParkedDeed): void {
  const { tank, driver } = target.vehicle;
  switch (kind) {
    case 'refuel':
      return tank.flowTo(tank.fraction() + tankedPart);
    case 'fuelTheft':
      return tank.flowTo(tank.fraction() - stolenPart);
    case 'tow':
      return driver.tow(towKmh);
  }
}

/** Whether the deed would show: nothing can be stolen from an empty tank, nor filled into a full one. */
function isPossible(target: FleetVehicle, kind: ParkedDeed): boolean {
  const fraction = target.vehicle.tank.fraction();
  if (kind === 'refuel') return fraction + tankedPart < 0.97;
  return kind === 'tow' || fraction - stolenPart > 0.1;
}

/** Begins: every deed has its timer. */
export function createDeedActor(options: DeedActorOptions): DeedActor {
  const { clock, target, note } = options;
  const { vehicle } = target;
  const timers = new Set<Cancel>();
  const waiting: ParkedDeed[] = [];
  let isBusy = false;
  const later = (delayMs: number, run: () => void): void => {
    const cancel = clock.after(delayMs, () => {
      timers.delete(cancel);
      run();
    });
    timers.add(cancel);
  };
  /** An engine that is cut does not start: the driver tries again. */
  const driveOff = (): void => {
    if (vehicle.driver.drive()) isBusy = false;
    else later(lookMs, driveOff);
  };
  const course = (kind: ParkedDeed): void => {
    vehicle.driver.setIgnition(false);
    later(beforeMs[kind], () => {
      if (!isPossible(target, kind)) return driveOff();
      note(kind);
      act(target, kind);
      if (kind === 'tow') later(90_000, () => vehicle.driver.tow(0));
      later(afterMs[kind] + 90_000, driveOff);
    });
  };
  const look = (): void => {
    const { ignition, speedKmh } = vehicle.now();
    const kind = waiting[0];
    if (kind === undefined) return;
    if (!isBusy && !ignition && speedKmh === 0) {
      isBusy = true;
      waiting.shift();
      course(kind);
    }
    if (waiting.length > 0) later(lookMs, look);
  };
  const perform = (deed: Deed): void => {
    switch (deed.kind) {
      case 'panic':
      case 'tamper':
        return vehicle.hold(deed.kind, deed.forMs);
      case 'door':
        return vehicle.hold('cabinDoor', deed.forMs);
      case 'powerCut':
        return vehicle.hold('externalPower', deed.forMs);
      case 'refuel':
      case 'fuelTheft':
      case 'tow':
        if (waiting.length >= waitingMost) return;
        waiting.push(deed.kind);
        if (waiting.length === 1) look();
    }
  };
  const planned: Cancel[] = [];
  const plan = (deeds: readonly Deed[]): void => {
    for (const cancel of planned.splice(0)) cancel();
    waiting.splice(0);
    const nowMs = options.nowMs();
    for (const deed of deeds) planned.push(clock.after(Math.max(0, deed.atMs - nowMs), () => perform(deed)));
  };
  plan(options.deeds);
  return {
    plan,
    close() {
      for (const cancel of planned.splice(0)) cancel();
      for (const cancel of timers) cancel();
      timers.clear();
    },
  };
}
