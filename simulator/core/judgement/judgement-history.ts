// Judges the history of a vehicle, over each way of reading it, against the fleet's records and the sent events. Pure.

import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { vehicleBreach } from '../ledger/breach.ts';
import { findNote } from '../ledger/ledger.ts';
import type { Breach, SentEvent, ShownEvent, VehicleNotes } from '../ledger/ledger-types.ts';
import type { ShownPoint, VehicleViews } from '../ledger/shown-views.ts';

/** Numbers of an export have seven decimals, and travel as 32 bits where the vehicle sends them so. */
const tolerance = {
  degrees: 1e-6,
  odometerKm: 0.01,
  fuelLevel: 0.001,
  speedKmh: 0.1,
  headingDeg: 1,
} as const;

const ids = (records: readonly { readonly eventID: string }[]): readonly string[] =>
  records.map(({ eventID }) => eventID);
/** Exports give records of one moment in another order. */
const sortedIDs = (records: readonly { readonly eventID: string }[]): readonly string[] =>
  ids(records).toSorted();

/** Where two lists of ids part; null: nowhere. */
function partingOf(what: string, listed: readonly string[], records: readonly string[]): string | null {
  const at = records.findIndex((id, index) => listed[index] !== id);
  if (at < 0 && listed.length === records.length) return null;
  const place = at < 0 ? records.length : at;
  return `${what}: ${listed.length} records, the fleet's listing has ${records.length}; number ${place + 1} is ${listed[place] ?? 'missing'} instead of ${records[place] ?? 'none'}`;
}

/** The first record that a list gives with other members. */
function otherRecord(
  what: string,
  list: readonly ShownEvent[],
  records: readonly ShownEvent[],
): string | null {
  const at = list.findIndex((record, index) => JSON.stringify(record) !== JSON.stringify(records[index]));
  return at < 0 ? null : `${what}: ${JSON.stringify(list[at])} instead of ${JSON.stringify(records[at])}`;
}

const isNear = (text: string | undefined, value: number | null, most: number): boolean =>
  value === null ? text === '' : text !== '' && Math.abs(Number(text) - value) <= most;

/** Difference between a line of the export and the vehicle. */
function wrongLine(
  line: Readonly<Record<string, string>>,
  sent: SentEvent,
  record: ShownEvent,
): string | null {
  const ignition = sent.inputs?.ignition;
  const turn = Math.abs(Number(line['heading']) - record.heading);
  const wrong = [
    ['deviceID', line['deviceID'] === record.deviceID],
    ['time', line['time'] === String(record.timestamp)],
    ['speed', isNear(line['speed'], sent.speedKmh, tolerance.speedKmh)],
    ['heading', Math.min(turn, 360 - turn) <= tolerance.headingDeg],
    ['geozoneID', line['geozoneID'] === record.geozoneID],
    ['statusCode', Number(line['statusCode']) === record.statusCode],
    ['timestamp', Number(line['timestamp']) === record.timestamp],
    ['creationTime', Number(line['creationTime']) === record.creationTime],
    ['statusDescription', line['statusDescription'] === record.statusDescription],
    ['latitude', isNear(line['latitude'], sent.latitude, tolerance.degrees)],
    ['longitude', isNear(line['longitude'], sent.longitude, tolerance.degrees)],
    ['odometer', isNear(line['odometer'], sent.odometerKm, tolerance.odometerKm)],
    ['fuelLevel', isNear(line['fuelLevel'], sent.fuelLevel, tolerance.fuelLevel)],
    ['ignition', line['ignition'] === (ignition === undefined ? '' : ignition ? '1' : '0')],
  ] as const;
  const [name] = wrong.find(([, isRight]) => !isRight) ?? [];
  return name === undefined
    ? null
    : `${name} ${JSON.stringify(line[name])}; the vehicle sent ${JSON.stringify(sent)}`;
}

function wrongCsv(vehicle: VehicleNotes, { csv, records }: VehicleViews): string | null {
  const lines = csv.map((line) => line['eventID'] ?? '').toSorted();
  const parting = partingOf('CSV', lines, sortedIDs(records));
  if (parting !== null) return parting;
  const byID = new Map(records.map((record) => [record.eventID, record]));
  for (const line of csv) {
    const record = byID.get(line['eventID'] ?? '');
    const note = record === undefined ? undefined : findNote(vehicle, record.eventID);
    // One that was sent with two times was stored with either.
    if (record === undefined || note === undefined || note.sent === null || note.isResent) continue;
    const { sent } = note;
    const wrong = wrongLine(line, sent, record);
    if (wrong !== null) return `CSV, ${record.eventID}: ${wrong}`;
  }
  return null;
}

/** Records that a track leaves out although they have a position: it is that of an earlier one. */
const isOnTrack = ({ isPositionValid, statusCode }: ShownEvent): boolean =>
  isPositionValid && statusCode !== statusCodes.LAST_LOCATION.code;

const byPlace = (a: ShownPoint, b: ShownPoint): number =>
  a.timestamp - b.timestamp || a.latitude - b.latitude || a.longitude - b.longitude;

const isSamePlace = (
  a: Pick<ShownPoint, 'latitude' | 'longitude'>,
  b: Pick<ShownPoint, 'latitude' | 'longitude'>,
): boolean =>
  Math.abs(a.latitude - b.latitude) <= tolerance.degrees &&
  Math.abs(a.longitude - b.longitude) <= tolerance.degrees;

/** A track is the records with a position of their own, each with its place and its time. */
function wrongGpx({ gpx, records }: VehicleViews): string | null {
  const fixes = records.filter(isOnTrack);
  if (gpx.length !== fixes.length) return `GPX: ${gpx.length} points of ${fixes.length} positions`;
  const points = gpx.toSorted(byPlace);
  for (const [at, record] of fixes.toSorted(byPlace).entries()) {
    const point = points[at];
    if (point === undefined || point.timestamp !== record.timestamp || !isSamePlace(point, record))
      return `GPX: ${JSON.stringify(point)} instead of ${JSON.stringify(record)}`;
  }
  return null;
}

function wrongGeojson({ geojson, records }: VehicleViews): string | null {
  const parting = partingOf('GeoJSON', sortedIDs(geojson), sortedIDs(records));
  if (parting !== null) return parting;
  const byID = new Map(records.map((record) => [record.eventID, record]));
  const other = geojson.find(({ eventID, place, writtenS, timestamp, creationTime, statusCode }) => {
    const record = byID.get(eventID);
    if (record === undefined) return true;
    const isThere = place === null ? !record.isPositionValid : isSamePlace(place, record);
    const isThen = [writtenS, timestamp].every((time) => time === record.timestamp);
    return !isThere || !isThen || creationTime !== record.creationTime || statusCode !== record.statusCode;
  });
  if (other === undefined) return null;
  return `GeoJSON: ${JSON.stringify(other)} instead of ${JSON.stringify(byID.get(other.eventID))}`;
}

function wrongLatest({ latest, records }: VehicleViews): string | null {
  const newest = records.filter(({ isPositionValid }) => isPositionValid).at(-1);
  if (newest === undefined) return latest === null ? null : `latest: ${latest.eventID} instead of none`;
  const own = records.find(({ eventID }) => eventID === latest?.eventID);
  const isRight =
    own !== undefined && own.timestamp === newest.timestamp && JSON.stringify(own) === JSON.stringify(latest);
  return isRight
    ? null
    : `latest: ${JSON.stringify(latest)}, the newest with a position is ${JSON.stringify(newest)}`;
}

/** What is wrong with the history of a vehicle. */
export function judgeHistory(vehicle: VehicleNotes, views: VehicleViews): readonly Breach[] {
  const { records, history, pins } = views;
  const { deviceID } = vehicle;
  const pinned = pins.reduce((sum, { count }) => sum + Number(count), 0);
  const wrong = [
    partingOf('history of the device', ids(history), ids(records)) ??
      otherRecord('history of the device', history, records),
    pinned === records.length ? null : `metadata: it counts ${pinned} records of ${records.length}`,
    wrongCsv(vehicle, views),
    wrongGeojson(views),
    wrongGpx(views),
    wrongLatest(views),
  ];
  return wrong.flatMap((words) => (words === null ? [] : [vehicleBreach('historyWrong', deviceID, words)]));
}
