// Applies answers and messages of the service to the vehicles. Pure. Invalid ones change nothing.
import type { Alarm, ListedDevice } from '../api/operations.ts';
import { noVehicle, type Vehicle, type VehicleAlarm, type WaitingOrder } from './fleet.ts';

/** Status codes whose lasting alarm means that the position cannot be trusted. */
const doubtCodes: ReadonlySet<number> = new Set([4370, 64805]);

function placeOf(
  fixS: number,
  longitude: number | undefined,
  latitude: number | undefined,
): Vehicle['place'] {
  return fixS > 0 && longitude !== undefined && latitude !== undefined ? [longitude, latitude] : null;
}

const fuelOf = (text: string | null | undefined): number | null => (text == null ? null : Number(text));

type Feature = NonNullable<ListedDevice['state']>['enginecutoff'];

function ordersOf({ state }: ListedDevice): readonly WaitingOrder[] {
  const cut = state?.enginecutoff;
  const cargo = state?.cargoaccess;
  // Few have any: the others share one empty list.
  if ((cut?.commandState ?? null) === null && (cargo?.commandState ?? null) === null) return noVehicle.orders;
  return [
    { feature: cut, on: 'cut', off: 'restore' } as const,
    { feature: cargo, on: 'unlock', off: 'lock' } as const,
  ].flatMap(({ feature, on, off }) =>
    feature?.commandState == null
      ? []
      : [{ asked: feature.pendingState === '1' ? on : off, state: feature.commandState }],
  );
}

/**
 * State of a pending cut or unlock; null without one, and while a restore or a lock is pending. @param by `asked`: a command, or a request for approval;
 * `own`: neither, of the vehicle itself.
 */
function pendingOf(feature: Feature | undefined, by: 'asked' | 'own'): string | null {
  if (feature?.pendingState !== '1') return null;
  const isAsked = feature.commandID !== null || feature.approvalID !== null;
  return isAsked === (by === 'asked') ? feature.commandState : null;
}

/** A state as the unit reported it; null: never. A unit that has sent nothing yet has the state of a new device. */
const readOf = ({ deviceLastHeartbeat }: ListedDevice, state: string | null | undefined): string | null =>
  deviceLastHeartbeat === 0 ? null : (state ?? null);

/** A device of the list; what only the stream, the alarms or the diagnostics say is taken from `before`. */
export function vehicleOf(device: ListedDevice, before: Vehicle | undefined): Vehicle {
  const { isOnline, isDoubtful, alarm, fitted } = before ?? noVehicle;
  const fixS = device.deviceLastValidTimestamp ?? 0;
  const cutoff = device.state?.enginecutoff;
  const cargo = device.state?.cargoaccess;
  // The stream may have said more than this answer, which was read before.
  const newer = before !== undefined && before.fixS > fixS ? before : null;
  return {
    id: device.deviceID,
    name: device.deviceDisplayName || device.deviceID,
    // A device without a description of its own is described by its id.
    description:
      device.deviceDescription === `Device ${device.deviceID}` ? '' : (device.deviceDescription ?? ''),
    driver: device.deviceDriver ?? '',
    address: device.deviceLastValidAddress ?? '',
    zone: device.deviceLastGeozoneID ?? '',
    place: placeOf(fixS, device.deviceLastValidLongitude, device.deviceLastValidLatitude),
    speed: device.deviceLastValidSpeed ?? null,
    heading: device.deviceLastValidHeading ?? null,
    fixS,
    heartbeatS: device.deviceLastHeartbeat ?? 0,
    fuel: fuelOf(device.fuelLevelAverage),
    ignition: readOf(device, device.sensors?.ignition.state),
    cutoff: readOf(device, cutoff?.state),
    pendingCut: pendingOf(cutoff, 'asked'),
    ownCut: pendingOf(cutoff, 'own'),
    cargo: readOf(device, cargo?.state),
    pendingUnlock: pendingOf(cargo, 'asked'),
    ownUnlock: pendingOf(cargo, 'own'),
    fitted,
    isOnline,
    isDoubtful,
    alarm,
    mayCommand: device.authorities?.['command'] === true,
    orders: ordersOf(device),
    ...(newer && { place: newer.place, speed: newer.speed, heading: newer.heading, fixS: newer.fixS }),
  };
}

/** Null is an answer: it is not known any more. */
const givenOr = (given: number | null | undefined, before: number | null): number | null =>
  given === undefined ? before : given;

/** A `device` message of the stream laid over a vehicle, unless the vehicle's position is newer. */
export function withDevice(vehicle: Vehicle, message: ListedDevice): Vehicle {
  const heartbeatS = Math.max(vehicle.heartbeatS, message.deviceLastHeartbeat ?? 0);
  const fuel = message.fuelLevelAverage === undefined ? vehicle.fuel : fuelOf(message.fuelLevelAverage);
  const fixS = message.deviceLastValidTimestamp;
  if (fixS === undefined || fixS < vehicle.fixS) return { ...vehicle, heartbeatS, fuel };
  return {
    ...vehicle,
    heartbeatS,
    fuel,
    fixS,
    place: placeOf(fixS, message.deviceLastValidLongitude, message.deviceLastValidLatitude) ?? vehicle.place,
    speed: givenOr(message.deviceLastValidSpeed, vehicle.speed),
    heading: givenOr(message.deviceLastValidHeading, vehicle.heading),
    zone: message.deviceLastGeozoneID ?? vehicle.zone,
    address: '',
  };
}

const ranks = { critical: 0, high: 1, low: 2 } as const;

/** Less is worse: a shelved alarm waits for no action, and is last. */
function rankOf(alarm: Alarm): number {
  const state = { new: 0, taken: 1, shelved: 2, closed: 3 }[alarm.alarmState];
  return (alarm.priority === 'low' ? 10 : 0) + state * 3 + ranks[alarm.priority];
}

/** Marks of a vehicle by its open alarms. Shelved ones do not mark it. */
export function alarmMarks(alarms: readonly Alarm[]): Pick<Vehicle, 'alarm' | 'isDoubtful'> {
  const [worst] = alarms
    .filter(({ alarmState }) => alarmState === 'new' || alarmState === 'taken')
    .toSorted((one, other) => rankOf(one) - rankOf(other));
  const alarm: VehicleAlarm | null =
    worst === undefined
      ? null
      : {
          alarmID: worst.alarmID,
          statusCode: worst.statusCode,
          priority: worst.priority,
          hasOwner: worst.alarmState === 'taken',
        };
  return {
    alarm,
    isDoubtful: alarms.some(
      ({ statusCode, ended, alarmState }) =>
        doubtCodes.has(statusCode) && ended === 0 && alarmState !== 'closed',
    ),
  };
}

/** The queue: by priority, then new before taken before shelved, then the oldest first. */
export function compareAlarms(one: Alarm, other: Alarm): number {
  const states = { new: 0, taken: 1, shelved: 2, closed: 3 } as const;
  return (
    ranks[one.priority] - ranks[other.priority] ||
    states[one.alarmState] - states[other.alarmState] ||
    one.opened - other.opened ||
    Number(one.alarmID) - Number(other.alarmID)
  );
}
