// Carries out the scripted actions of a vehicle at their moments. Actions that need a parked vehicle wait until it is parked by its
// route, then keep it there until they have ended.
import type { Cancel, Clock } from '../../../src/ports.ts';
import type { FactKind } from '../../core/ledger/facts.ts';
import type { ActionKind, ScriptedAction } from '../../core/scenario/scripted-actions.ts';
import { refillBelow } from '../../hardware/tank.ts';
import type { AgentVehicle } from './agent-vehicle.ts';

export interface ActionRunner {
  /** Replaces the planned actions that have not begun. */
  plan(actions: readonly ScriptedAction[]): void;
  /** Begins no further action; held buttons and doors are released at their time. */
  close(): void;
}

export interface ActionRunnerOptions {
  readonly clock: Clock;
  readonly target: AgentVehicle;
  readonly actions: readonly ScriptedAction[];
  readonly nowMs: () => number;
  record(kind: FactKind): void;
}

type ParkedAction = 'refuel' | 'fuelTheft' | 'tow';

const checkEveryMs = 2000;
/** Standstill before the action: the tank level must settle, and tows are detected only after three minutes. */
const beforeMs: Readonly<Record<ParkedAction, number>> = { refuel: 90_000, fuelTheft: 90_000, tow: 200_000 };
/** Least time that an action of this kind waits for a parked vehicle, ms. */
export const parkedBeforeMs = (kind: ActionKind): number =>
  kind === 'refuel' || kind === 'fuelTheft' || kind === 'tow' ? beforeMs[kind] : 0;

/** Until the driver may drive on. */
const afterMs: Readonly<Record<ParkedAction, number>> = { refuel: 180_000, fuelTheft: 180_000, tow: 60_000 };
const refuelFraction = 0.3;
const theftFraction = 0.2;
const towKmh = 25;
const waitingMost = 4;

function act(target: AgentVehicle, kind: ParkedAction): void {
  const { tank, driver } = target.vehicle;
  switch (kind) {
    case 'refuel':
      return tank.flowTo(tank.fraction() + refuelFraction);
    case 'fuelTheft':
      return tank.flowTo(tank.fraction() - theftFraction);
    case 'tow':
      return driver.tow(towKmh);
  }
}

/** False where it could not be detected: filling a full tank, a theft after which the driver fills up at once. */
function isPossible(target: AgentVehicle, kind: ParkedAction): boolean {
  const fraction = target.vehicle.tank.fraction();
  if (kind === 'refuel') return fraction + refuelFraction < 0.97;
  return kind === 'tow' || fraction - theftFraction > refillBelow;
}

export function createActionRunner(options: ActionRunnerOptions): ActionRunner {
  const { clock, target, record } = options;
  const { vehicle } = target;
  const timers = new Set<Cancel>();
  const waiting: ParkedAction[] = [];
  let isBusy = false;
  const later = (delayMs: number, run: () => void): void => {
    const cancel = clock.after(delayMs, () => {
      timers.delete(cancel);
      run();
    });
    timers.add(cancel);
  };
  /** The engine does not start while it is cut: tries again. */
  const driveOff = (): void => {
    if (vehicle.driver.drive()) isBusy = false;
    else later(checkEveryMs, driveOff);
  };
  let towFromMs = 0;
  const runParked = (kind: ParkedAction): void => {
    vehicle.driver.setIgnition(false);
    const freeMs = kind === 'tow' ? towFromMs - options.nowMs() : 0;
    later(Math.max(beforeMs[kind], freeMs), () => {
      if (!isPossible(target, kind)) return driveOff();
      record(kind);
      // A unit reports one alarm no more often: of a tow that ends sooner there is no event.
      if (kind === 'tow') towFromMs = options.nowMs() + target.config.settings.alarms.repeatS * 1000;
      act(target, kind);
      if (kind === 'tow') later(90_000, () => vehicle.driver.tow(0));
      later(afterMs[kind] + 90_000, driveOff);
    });
  };
  const checkParked = (): void => {
    const { ignition, speedKmh } = vehicle.now();
    const kind = waiting[0];
    if (kind === undefined) return;
    if (!isBusy && !ignition && speedKmh === 0) {
      isBusy = true;
      waiting.shift();
      runParked(kind);
    }
    if (waiting.length > 0) later(checkEveryMs, checkParked);
  };
  const begin = (action: ScriptedAction): void => {
    switch (action.kind) {
      case 'panic':
      case 'tamper':
        return vehicle.hold(action.kind, action.forMs);
      case 'door':
        return vehicle.hold('cabinDoor', action.forMs);
      case 'powerCut':
        return vehicle.hold('externalPower', action.forMs);
      case 'refuel':
      case 'fuelTheft':
      case 'tow':
        if (waiting.length >= waitingMost) return;
        waiting.push(action.kind);
        if (waiting.length === 1) checkParked();
    }
  };
  const planned: Cancel[] = [];
  const plan = (actions: readonly ScriptedAction[]): void => {
    for (const cancel of planned.splice(0)) cancel();
    waiting.splice(0);
    const nowMs = options.nowMs();
    for (const action of actions)
      planned.push(clock.after(Math.max(0, action.atMs - nowMs), () => begin(action)));
  };
  plan(options.actions);
  return {
    plan,
    close() {
      for (const cancel of planned.splice(0)) cancel();
      for (const cancel of timers) cancel();
      timers.clear();
    },
  };
}
