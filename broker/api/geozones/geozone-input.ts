// From a request to a geozone: sent members are changed, the rest stays. Pure. It rejects contradictions (a point with one
// coordinate, on and off at once), never incomplete zones.
import { AppError, type ErrorDetail } from '../../../src/core/errors.ts';
import type { Point } from '../../../src/core/geo/geo.ts';
import {
  isSetPoint,
  type Zone,
  type ZoneSwitch,
  type ZoneType,
  zoneSwitches,
} from '../../../src/core/geo/geozone.ts';
import type { GeozoneContent } from '../../store/geozones/geozones.ts';
import { readPoints, type SentPoint } from './coordinates.ts';
import { type GeozoneBody, switchMembers } from './geozone-shapes.ts';

const pointNumbers = [1, 2, 3, 4, 5, 6, 7, 8] as const;
type PointNumber = (typeof pointNumbers)[number];
const nowhere: Point = { latitude: 0, longitude: 0 };

/** A geozone created with nothing but its id. */
export const newGeozone: GeozoneContent = {
  displayName: '',
  description: '',
  zone: { type: 3, radiusM: 500, points: pointNumbers.map(() => nowhere) },
  switches: [],
};

function refuse(details: readonly ErrorDetail[]): void {
  const [first] = details;
  if (first === undefined) return;
  throw new AppError('invalid_content', `${first.pointer} ${first.message}`, { details });
}

const zoneTypes: readonly ZoneType[] = [0, 1, 2, 3, 4];

/** The point as it was sent, in either form; null when it was not. */
function sentPoint(body: GeozoneBody, n: PointNumber): SentPoint | null {
  const name = `geozonePoint${n}` as const;
  const { [`${name}lat` as const]: lat, [`${name}lng` as const]: lng, [name]: pair } = body;
  if (pair !== undefined) {
    refuse(lat === undefined && lng === undefined ? [] : [{ pointer: `/${name}`, message: 'is sent twice' }]);
    const [latText = '', lngText = ''] = pair.split(',');
    return { latitude: { name, text: latText }, longitude: { name, text: lngText } };
  }
  if (lat === undefined && lng === undefined) return null;
  // Mixing a sent and a stored coordinate would give an unintended point.
  if (lat === undefined || lng === undefined || (lat === '') !== (lng === '')) {
    refuse([
      {
        pointer: `/${name}${lat === undefined ? 'lat' : 'lng'}`,
        message: 'must be sent with the other coordinate',
      },
    ]);
  }
  return {
    latitude: { name: `${name}lat`, text: lat ?? '' },
    longitude: { name: `${name}lng`, text: lng ?? '' },
  };
}

function pointsAfter(known: readonly Point[], body: GeozoneBody): readonly Point[] {
  const sent = pointNumbers.map((n) => sentPoint(body, n));
  const read = readPoints(sent.filter((point) => point !== null));
  let next = 0;
  return sent.map((point, index) => {
    if (point === null) return known[index] ?? nowhere;
    const at = read[next++] ?? nowhere;
    return isSetPoint(at) ? at : nowhere;
  });
}

function zoneAfter(known: Zone, body: GeozoneBody): Zone {
  const { geozoneRadius, geozoneType } = body;
  const radiusM = geozoneRadius === undefined ? known.radiusM : Number(geozoneRadius);
  if (radiusM < 5 || radiusM > 30_000) refuse([{ pointer: '/geozoneRadius', message: 'must be 5 to 30000' }]);
  const type = zoneTypes.find((one) => String(one) === String(geozoneType ?? known.type)) ?? known.type;
  return { type, radiusM, points: pointsAfter(known.points, body) };
}

const isOn = (value: unknown): boolean => value === true || value === 'true' || value === '1';

/** The sent value of a switch; null: none. */
function sentSwitch(body: GeozoneBody, name: ZoneSwitch): boolean | null {
  const sent = body[switchMembers[name]];
  return sent === undefined ? null : isOn(sent);
}

/** Each undoes the other, so a zone cannot ask for both at one moment. */
const opposites = [
  ['arrivalEngineOn', 'arrivalEngineOff'],
  ['arrivalCabinLock', 'arrivalCabinUnlock'],
  ['arrivalCargoLock', 'arrivalCargoUnlock'],
  ['departureEngineOn', 'departureEngineOff'],
  ['departureCabinLock', 'departureCabinUnlock'],
  ['departureCargoLock', 'departureCargoUnlock'],
] as const satisfies readonly (readonly [ZoneSwitch, ZoneSwitch])[];

/** An alarm is an alert that a person has to handle: it comes and goes with the alert. */
const alarms = [
  ['alarmEntry', 'alertEntry'],
  ['alarmExit', 'alertExit'],
] as const satisfies readonly (readonly [ZoneSwitch, ZoneSwitch])[];

function switchesAfter(known: readonly ZoneSwitch[], body: GeozoneBody): readonly ZoneSwitch[] {
  const pointer = (name: ZoneSwitch) => `/${switchMembers[name]}`;
  const wanted = new Set(zoneSwitches.filter((name) => sentSwitch(body, name) ?? known.includes(name)));
  for (const [alarm, alert] of alarms.filter(([one, other]) => wanted.has(one) && !wanted.has(other))) {
    if (sentSwitch(body, alarm) !== true) wanted.delete(alarm);
    else if (sentSwitch(body, alert) === null) wanted.add(alert);
    else refuse([{ pointer: pointer(alarm), message: `needs ${pointer(alert).slice(1)}` }]);
  }
  const on = zoneSwitches.filter((name) => wanted.has(name));
  refuse(
    opposites
      .filter((both) => both.every((name) => on.includes(name)))
      .map(([one, other]) => ({
        pointer: pointer(other),
        message: `cannot be on together with ${pointer(one).slice(1)}`,
      })),
  );
  return on;
}

/**
 * The geozone after a change.
 * @throws AppError `invalid_content` with a pointer to each member that cannot be.
 */
export function geozoneAfter(known: GeozoneContent, body: GeozoneBody): GeozoneContent {
  return {
    displayName: body.geozoneDisplayName ?? known.displayName,
    description: body.geozoneDescription ?? known.description,
    zone: zoneAfter(known.zone, body),
    switches: switchesAfter(known.switches, body),
  };
}
