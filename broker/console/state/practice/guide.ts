// The guided start of a practice fleet: three things to try, each done by what really happened. Pure.
import type { PracticeFleet, PracticeVehicle } from '../../../../src/core/practice.ts';
import type { Vehicle } from '../fleet.ts';

/** In the order in which they are offered. */
export const practiceSteps = ['alarm', 'wait', 'approval'] as const;
export type PracticeStep = (typeof practiceSteps)[number];

/** Input of the guide: the service's records by its clock, and the time of the first action on each vehicle. */
export interface Seen {
  readonly fleet: PracticeFleet;
  readonly alarms: Iterable<{ readonly deviceID: string; readonly creationTime: number }>;
  readonly vehicles: Iterable<Pick<Vehicle, 'pendingCut'>>;
  readonly requests: Iterable<{ readonly approvalState: string; readonly decided: number }>;
}

/** A cut in this state waits at the vehicle, which says why. */
const waitingAtVehicle = 'armed';

/** Steps that the current data shows; the caller keeps earlier ones. */
export function stepsSeen({ fleet, alarms, vehicles, requests }: Seen): readonly PracticeStep[] {
  const actedS = new Map(fleet.vehicles.map((one) => [one.deviceID, one.actedS]));
  const isOfAct = (deviceID: string, atS: number): boolean => {
    const sinceS = actedS.get(deviceID) ?? null;
    return sinceS !== null && atS >= sinceS;
  };
  const happened: Readonly<Record<PracticeStep, boolean>> = {
    // Not when it happened by the clock of the vehicle, which may be a second behind.
    alarm: [...alarms].some(({ deviceID, creationTime }) => isOfAct(deviceID, creationTime)),
    wait: [...vehicles].some(({ pendingCut }) => pendingCut === waitingAtVehicle),
    approval: [...requests].some(
      ({ approvalState, decided }) => approvalState === 'approved' && decided >= fleet.startedS,
    ),
  };
  return practiceSteps.filter((step) => happened[step]);
}

/** Above this a vehicle counts as driving, km/h. */
const drivingKmh = 10;

const isDriving = ({ speedKmh, engine }: PracticeVehicle): boolean =>
  engine === 'running' && speedKmh > drivingKmh;

export interface Offers {
  /** For the alarm: one that no cut is offered with, where there is one. */
  readonly alarm: PracticeVehicle | null;
  /** For the cut that waits: it drives, or else it can be made to. */
  readonly wait: PracticeVehicle | null;
  readonly isDriving: boolean;
  /** For the colleague's cut: another one than that of the cut that waits, where there is one. */
  readonly approval: PracticeVehicle | null;
}

/**
 * The vehicles that the steps are offered with: for a cut the untouched ones first, because an action on a vehicle may delay its
 * cut. @param hasCut a cut of the vehicle is requested, or it is cut.
 */
export function offersOf(fleet: PracticeFleet, hasCut: (deviceID: string) => boolean): Offers {
  const connected = fleet.vehicles.filter(({ isConnected }) => isConnected);
  const wasActed = ({ actedS }: PracticeVehicle): boolean => actedS !== null;
  // A cut of a vehicle with an owner's key waits for persons first.
  const uncut = connected.filter(({ deviceID, hasOwner }) => !hasOwner && !hasCut(deviceID));
  const free = [...uncut.filter((one) => !wasActed(one)), ...uncut.filter(wasActed)];
  const wait = free.find(isDriving) ?? free.find(({ isTowed }) => !isTowed) ?? null;
  const others = free.filter((one) => one !== wait);
  const approval = others.find((one) => !isDriving(one)) ?? others[0] ?? wait;
  return {
    alarm: connected.findLast((one) => one !== wait && one !== approval) ?? connected[0] ?? null,
    wait,
    isDriving: wait !== null && isDriving(wait),
    approval,
  };
}

interface Kept {
  readonly startedS: number;
  readonly done: readonly PracticeStep[];
}

/** Reads the steps that a tab has kept; another run of the fleet starts empty. */
export function keptSteps(text: string | null, startedS: number): readonly PracticeStep[] {
  try {
    const kept = JSON.parse(text ?? 'null') as Partial<Kept> | null;
    if (kept?.startedS !== startedS || !Array.isArray(kept.done)) return [];
    const { done } = kept;
    return practiceSteps.filter((step) => done.includes(step));
  } catch {
    return [];
  }
}

export const keptText = (startedS: number, done: readonly PracticeStep[]): string =>
  JSON.stringify({ startedS, done } satisfies Kept);
