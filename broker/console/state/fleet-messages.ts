// Applies answers and messages of the service to the vehicles. Pure. Invalid ones change nothing.
import { type FeatureName, featureNames } from '../../../src/core/events/event.ts';
import { type FleetPending, type FleetRow, pendingIn } from '../../../src/core/events/fleet-row.ts';
import type { Alarm, Device, ListedDevice } from '../api/operations.ts';
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

type Change = FleetPending | undefined;

const changeOf = (row: FleetRow, relay: FeatureName): Change =>
  pendingIn(row)?.find(({ feature }) => feature === relay);

function ordersOf(cut: Change, cargo: Change): readonly WaitingOrder[] {
  // Few have any: the others share one empty list.
  if (cut === undefined && cargo === undefined) return noVehicle.orders;
  return [
    { change: cut, on: 'cut', off: 'restore' } as const,
    { change: cargo, on: 'unlock', off: 'lock' } as const,
  ].flatMap(({ change, on, off }) =>
    change === undefined ? [] : [{ asked: change.state === '1' ? on : off, state: change.commandState }],
  );
}

/**
 * State of a pending cut or unlock; null without one, and while a restore or a lock is pending. @param by `asked`: a command, or a request for approval;
 * `own`: neither, of the vehicle itself.
 */
function pendingOf(change: Change, by: 'asked' | 'own'): string | null {
  if (change?.state !== '1') return null;
  const isAsked = change.commandID !== null || change.approvalID !== null;
  return isAsked === (by === 'asked') ? change.commandState : null;
}

interface RowContext {
  /** What only the stream or the alarms say is taken from it. */
  readonly before: Vehicle | undefined;
  /** As the stream said while the row was read; undefined: it said nothing. */
  readonly isOnline: boolean | undefined;
  /** Whether this user may change devices. */
  readonly mayUpdate: boolean;
}

/** A row of the fleet. */
export function vehicleOf(row: FleetRow, { before, isOnline, mayUpdate }: RowContext): Vehicle {
  const [id, , name, description, driver, heartbeatS, fixS, latitude, longitude, speed, heading] = row;
  const [, , , , , , , , , , , address, zone, fuel, ignition, cutoff, cargo, online, fitted, isForeign] = row;
  const [cut, unlock] = [changeOf(row, 'enginecutoff'), changeOf(row, 'cargoaccess')];
  const { isDoubtful, alarm } = before ?? noVehicle;
  // The stream may have said more than this answer, which was read before.
  const newer = before !== undefined && before.fixS > fixS ? before : null;
  return {
    id,
    name: name || id,
    // A device without a description of its own is described by its id.
    description: description === `Device ${id}` ? '' : description,
    driver,
    address,
    zone,
    place: placeOf(fixS, longitude, latitude),
    speed,
    heading,
    fixS,
    heartbeatS,
    fuel,
    ignition,
    cutoff,
    pendingCut: pendingOf(cut, 'asked'),
    ownCut: pendingOf(cut, 'own'),
    cargo,
    pendingUnlock: pendingOf(unlock, 'asked'),
    ownUnlock: pendingOf(unlock, 'own'),
    fitted: fitted.length === 0 ? null : fitted,
    isOnline: isOnline ?? online,
    isDoubtful,
    alarm,
    mayCommand: mayUpdate && !isForeign,
    orders: ordersOf(cut, unlock),
    ...(newer && { place: newer.place, speed: newer.speed, heading: newer.heading, fixS: newer.fixS }),
  };
}

/** A device that was read by itself, while the rows are not there: its presence and its relays are not known. */
export function vehicleAlone(device: Device): Vehicle {
  const { state, sensors, deviceLastHeartbeat: heartbeatS, deviceLastValidTimestamp: fixS } = device;
  const reported = (known: string | null): string | null => (heartbeatS === 0 ? null : known);
  const pending = featureNames.flatMap((feature): readonly FleetPending[] => {
    const { pendingState, commandState, commandID, approvalID } = state[feature];
    if (commandState === null) return [];
    return [{ feature, state: pendingState === '1' ? '1' : '0', commandState, commandID, approvalID }];
  });
  const row: FleetRow = [
    device.deviceID,
    device.deviceUnique,
    device.deviceDisplayName,
    device.deviceDescription,
    device.deviceDriver,
    heartbeatS,
    fixS,
    device.deviceLastValidLatitude,
    device.deviceLastValidLongitude,
    device.deviceLastValidSpeed,
    device.deviceLastValidHeading,
    device.deviceLastValidAddress,
    device.deviceLastGeozoneID,
    fuelOf(device.fuelLevelAverage),
    reported(sensors.ignition.state),
    reported(state.enginecutoff.state),
    reported(state.cargoaccess.state),
    false,
    [],
    device.isForeign,
    pending,
  ];
  const vehicle = vehicleOf(row, { before: undefined, isOnline: undefined, mayUpdate: false });
  return { ...vehicle, isOnline: null, mayCommand: device.authorities['command'] === true };
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
