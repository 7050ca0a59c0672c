// The vehicles as this page knows them: the list of devices with the stream's messages laid over it. Pure: no clock, no DOM.
import type { FeatureName } from '../../../src/core/events/event.ts';
import { presenceOf } from '../../../src/core/presence.ts';

export type Priority = 'critical' | 'high' | 'low';

/** The most urgent open alarm of a vehicle. */
export interface VehicleAlarm {
  readonly alarmID: string;
  readonly statusCode: number;
  readonly priority: Priority;
  readonly hasOwner: boolean;
}

export interface Vehicle {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly driver: string;
  readonly address: string;
  readonly zone: string;
  /** Degrees, WGS 84; null while there was no fix. */
  readonly place: readonly [longitude: number, latitude: number] | null;
  /** km/h and degrees from north, of the last fix. */
  /** Null: the last position says none. */
  readonly speed: number | null;
  readonly heading: number | null;
  /** Epoch seconds; 0 while there is none. */
  readonly fixS: number;
  readonly heartbeatS: number;
  /** Fraction of the tanks; null without a sensor. */
  readonly fuel: number | null;
  /** `0`, `1`; null when the service has not said so. */
  readonly ignition: string | null;
  /** State of the engine cut-off as read back; `1`: the engine cannot run. */
  readonly cutoff: string | null;
  /** State of a pending command of the engine cut-off; null without one. */
  readonly pendingCut: string | null;
  /**
   * State of a cut that the vehicle prepares itself, for a geozone or a fallen relay; null: none. It does not hinder a command.
   */
  readonly ownCut: string | null;
  /** State of the cargo lock as read back; `1`: unlocked. */
  readonly cargo: string | null;
  /** State of a pending unlock of the cargo; null without one. */
  readonly pendingUnlock: string | null;
  /** State of an unlock that the vehicle is about to make on its own; null without one. */
  readonly ownUnlock: string | null;
  /** Relays of the unit, as it says them when it connects; null: not known. */
  readonly fitted: readonly string[] | null;
  /** Null until the service has said so. */
  readonly isOnline: boolean | null;
  /** The position contradicts itself, by an open alarm whose condition lasts. */
  readonly isDoubtful: boolean;
  readonly alarm: VehicleAlarm | null;
  readonly mayCommand: boolean;
  /** Commands that have not come to an end. */
  readonly orders: readonly WaitingOrder[];
}

export interface WaitingOrder {
  readonly asked: 'cut' | 'restore' | 'unlock' | 'lock';
  /** State in the ledger, `approval` while a second user has to agree. */
  readonly state: string;
}

/** False: the unit has said that it has no such relay. */
export const mayHave = ({ fitted }: Pick<Vehicle, 'fitted'>, relay: FeatureName): boolean =>
  fitted === null || fitted.includes(relay);

/** State of a relay as read back; null when the service has not said so. */
export const relayStateOf = ({ cutoff, cargo }: Vehicle, relay: FeatureName): string | null =>
  relay === 'enginecutoff' ? cutoff : cargo;

/** State of a pending cut or unlock; null without one. */
export const pendingOrderOf = (
  { pendingCut, pendingUnlock }: Pick<Vehicle, 'pendingCut' | 'pendingUnlock'>,
  relay: FeatureName,
): string | null => (relay === 'enginecutoff' ? pendingCut : pendingUnlock);

/** `unknown`: its speed is not known. */
export const vehicleStates = ['moving', 'standing', 'unknown', 'offline', 'doubtful'] as const;
export type VehicleState = (typeof vehicleStates)[number];

/** Above this a vehicle counts as moving: GNSS speeds of a parked one stay below, km/h. */
const movingKmh = 3;

/** @param speed km/h; null: not known, which is no standstill. */
export const motionOf = (speed: number | null): 'moving' | 'standing' | 'unknown' =>
  speed === null ? 'unknown' : speed > movingKmh ? 'moving' : 'standing';

function isAbsent(vehicle: Vehicle): boolean {
  const presence = presenceOf(vehicle);
  return presence === 'offline' || presence === 'never';
}

/** Name of its state. A vehicle that has never sent anything has a name of its own, and the mark of one that is offline. */
export const stateNameOf = (vehicle: Vehicle): VehicleState | 'never' =>
  presenceOf(vehicle) === 'never' ? 'never' : stateOf(vehicle);

/** The one state that the mark of a vehicle shows. */
export function stateOf(vehicle: Vehicle): VehicleState {
  if (isAbsent(vehicle)) return 'offline';
  if (vehicle.isDoubtful) return 'doubtful';
  return motionOf(vehicle.speed);
}

export type Severity = 'act' | 'act-taken' | 'look' | 'none';

export function severityOf({ alarm }: Vehicle): Severity {
  if (alarm === null) return 'none';
  if (alarm.priority === 'low') return 'look';
  return alarm.hasOwner ? 'act-taken' : 'act';
}

export const filters = ['all', 'alarm', ...vehicleStates] as const;
export type Filter = (typeof filters)[number];

export function matchesFilter(vehicle: Vehicle, filter: Filter): boolean {
  if (filter === 'all') return true;
  return filter === 'alarm' ? vehicle.alarm !== null : stateOf(vehicle) === filter;
}

/** How many vehicles each filter shows. */
export function countsOf(vehicles: readonly Vehicle[]): Readonly<Record<Filter, number>> {
  const counts = {
    all: vehicles.length,
    alarm: 0,
    moving: 0,
    standing: 0,
    unknown: 0,
    offline: 0,
    doubtful: 0,
  };
  for (const vehicle of vehicles) {
    counts[stateOf(vehicle)] += 1;
    if (vehicle.alarm !== null) counts.alarm += 1;
  }
  return counts;
}

/** Searched text of a vehicle; made once for each of its states, as a filter is typed letter by letter. */
const searched = new WeakMap<Vehicle, string>();

function searchedOf(vehicle: Vehicle): string {
  const known = searched.get(vehicle);
  if (known !== undefined) return known;
  const text = [vehicle.id, vehicle.name, vehicle.driver, vehicle.description].join('\n').toLowerCase();
  searched.set(vehicle, text);
  return text;
}

export function matchesText(vehicle: Vehicle, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return wanted === '' || searchedOf(vehicle).includes(wanted);
}

export const noVehicle: Vehicle = {
  id: '',
  name: '',
  description: '',
  driver: '',
  address: '',
  zone: '',
  place: null,
  speed: null,
  heading: null,
  fixS: 0,
  heartbeatS: 0,
  fuel: null,
  ignition: null,
  cutoff: null,
  pendingCut: null,
  ownCut: null,
  cargo: null,
  pendingUnlock: null,
  ownUnlock: null,
  fitted: null,
  isOnline: null,
  isDoubtful: false,
  alarm: null,
  mayCommand: false,
  orders: [],
};
