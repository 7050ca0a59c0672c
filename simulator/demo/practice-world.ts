// The world of the demo's vehicles as its users operate it in the console: what is so, and the few things that may be done. It reaches the
// simulated hardware and the drivers only; what units and service make of it is theirs.
import { AppError } from '../../src/core/errors.ts';
import {
  type PracticeAction,
  type PracticeFleet,
  type PracticeRequest,
  type PracticeVehicle,
  practiceActions,
} from '../../src/core/practice.ts';
import type { Clock } from '../../src/ports.ts';
import type { Vehicle } from '../vehicle.ts';
import type { NetworkSwitch } from './network-switch.ts';

/** A vehicle of the demo. */
export interface PracticeMember {
  readonly deviceID: string;
  readonly vehicle: Vehicle;
  readonly network: NetworkSwitch;
  /** It has the practice owner's key. */
  readonly hasOwner: boolean;
}

interface PracticeWorldOptions {
  readonly clock: Clock;
  readonly members: readonly PracticeMember[];
  /** Has the colleague ask for a cut of the vehicle. */
  askForCut(deviceID: string): Promise<void>;
  /** Has two practice persons agree to the order of the vehicle that waits for them. */
  agree(deviceID: string): Promise<void>;
}

const pressMs = 4000;
const openMs = 30_000;
const powerOffMs = 60_000;
const towKmh = 25;

/** Effect of each action; nothing here knows agent or broker. */
const acts: Readonly<Record<Exclude<PracticeAction, 'agree'>, (member: PracticeMember) => void>> = {
  drive({ vehicle }) {
    if (!vehicle.driver.drive())
      throw new AppError('conflict', 'The engine does not start: the starter circuit is cut', {
        hint: 'Restore the engine first.',
      });
  },
  stop({ vehicle: { driver } }) {
    if (driver.isTowed()) driver.tow(0);
    else driver.setSpeed(0);
  },
  ignitionOn({ vehicle: { driver } }) {
    // Standing, or its timetable would turn the key back.
    driver.setSpeed(0);
    driver.setIgnition(true);
  },
  ignitionOff: ({ vehicle }) => vehicle.driver.setIgnition(false),
  openCargoDoor: ({ vehicle }) => vehicle.hold('cargoDoor', openMs),
  panic: ({ vehicle }) => vehicle.panic(pressMs),
  steal({ vehicle }) {
    vehicle.hold('externalPower', powerOffMs);
    vehicle.driver.tow(towKmh);
  },
  jam: ({ vehicle }) => vehicle.gnss.setJammed(true),
  endJam: ({ vehicle }) => vehicle.gnss.setJammed(false),
  disconnect: ({ network }) => network.set(false),
  connect: ({ network }) => network.set(true),
};

function viewOf(
  { deviceID, vehicle, network, hasOwner }: PracticeMember,
  actedS: number | null,
): PracticeVehicle {
  const { speedKmh, engine, ignition, cargoDoor } = vehicle.now();
  return {
    deviceID,
    speedKmh,
    engine,
    isIgnitionOn: ignition,
    isCargoDoorOpen: cargoDoor || vehicle.isHeld('cargoDoor'),
    isPanicPressed: vehicle.isHeld('panic'),
    isPowered: !vehicle.isHeld('externalPower'),
    isTowed: vehicle.driver.isTowed(),
    isJammed: vehicle.gnss.state().fix === 'jammed',
    isConnected: network.isOn(),
    hasOwner,
    actedS,
  };
}

/** The request of the broker, which checks what users send; null: it is none. */
function requestOf(given: unknown): PracticeRequest | null {
  if (typeof given !== 'object' || given === null) return null;
  const { kind, deviceID, action } = given as Readonly<Record<string, unknown>>;
  if (kind === 'look') return { kind };
  if (typeof deviceID !== 'string') return null;
  if (kind === 'askForCut') return { kind, deviceID };
  const known = practiceActions.find((one) => one === action);
  return kind === 'act' && known !== undefined ? { kind, deviceID, action: known } : null;
}

/** @returns the answer to a request of the broker; rejects with AppError `not_found`, `conflict`, `unavailable`, `usage`. */
export function createPracticeWorld({ clock, members, askForCut, agree }: PracticeWorldOptions) {
  const nowS = (): number => Math.floor(clock.utcMs() / 1000);
  const startedS = nowS();
  const acted = new Map<string, number>();
  const memberOf = (deviceID: string): PracticeMember => {
    const member = members.find((one) => one.deviceID === deviceID);
    if (member === undefined)
      throw new AppError('not_found', `${JSON.stringify(deviceID)} is no vehicle of the practice fleet`);
    return member;
  };
  return async (given: unknown): Promise<PracticeFleet | null> => {
    const request = requestOf(given);
    if (request === null) throw new AppError('usage', 'That is no request to a practice fleet');
    if (request.kind === 'look') {
      const vehicles = members.map((one) => viewOf(one, acted.get(one.deviceID) ?? null));
      return { startedS, vehicles };
    }
    const member = memberOf(request.deviceID);
    if (request.kind === 'askForCut') await askForCut(member.deviceID);
    else if (request.action === 'agree') await agree(member.deviceID);
    else {
      acts[request.action](member);
      if (!acted.has(member.deviceID)) acted.set(member.deviceID, nowS());
    }
    return null;
  };
}
