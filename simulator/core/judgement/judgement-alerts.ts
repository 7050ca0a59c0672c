// Judges alerts, their count by category, the inbox and the live stream by the records that the service returned. The codes are those
// that the interface names. Pure.
import { eventBreach, vehicleBreach } from '../ledger/breach.ts';
import type { Breach, EventNote, ShownEvent, VehicleNotes } from '../ledger/ledger-types.ts';
import type { AlertViews, ShownNotice, StreamedDevice } from '../ledger/shown-views.ts';

const inputsOn = Array.from({ length: 32 }, (_, index) => 62_496 + index);

/** Codes of alerts by category of the activation summary; zones are left out, as a zone decides whether its crossing is an alert. */
const alertCodes: Readonly<Record<string, readonly number[]>> = {
  fuel: [63_825, 63_826, 63_828, 63_838],
  activations: [...inputsOn, 62_466, 63_553, 63_559, 63_617],
  cargo: [63_625],
  base: [63_601, 63_621, 64_787, 64_784],
};
const zoneCodes: ReadonlySet<number> = new Set([61_968, 62_000]);
const categoryOf: ReadonlyMap<number, string> = new Map(
  Object.entries(alertCodes).flatMap(([category, codes]) => codes.map((code) => [code, category] as const)),
);
/** Positions, heartbeats and samples of fuel: the live stream shows them in the present of the device only. */
const routineCodes: ReadonlySet<number> = new Set([
  61_472, 61_477, 61_536, 61_714, 61_716, 61_717, 61_724, 4384,
]);

/** True for a record that counts as an alert; crossings of zones do not. */
export const isAlert = ({ statusCode }: Pick<ShownEvent, 'statusCode'>): boolean =>
  categoryOf.has(statusCode);

/** An alert as every list shows it; without a position its place is 0,0. */
export const alertKey = ({ deviceID, statusCode, timestamp, latitude, longitude }: ShownNotice): string =>
  `${deviceID} ${statusCode} ${timestamp} at ${latitude},${longitude}`;

function counted(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** Differences in the number of entries of two lists. */
function differences(what: string, listed: readonly string[], wanted: readonly string[]): readonly string[] {
  const [is, should] = [counted(listed), counted(wanted)];
  const words: string[] = [];
  for (const key of new Set([...is.keys(), ...should.keys()])) {
    const [has, needs] = [is.get(key) ?? 0, should.get(key) ?? 0];
    if (has !== needs) words.push(`${what}: ${has} times instead of ${needs}: ${key}`);
  }
  return words;
}

/**
 * Breaches in the alerts of the account.
 * @param records the alerts among the records of the run's vehicles, as the listing of the fleet gives them.
 * @param own the vehicles of the run.
 */
export function judgeAlerts(
  records: readonly ShownEvent[],
  own: ReadonlyMap<string, unknown>,
  views: AlertViews,
): readonly Breach[] {
  const { alerts, summary, inbox } = views;
  const wanted = records.map(alertKey);
  const isOwn = (record: Pick<ShownEvent, 'deviceID' | 'statusCode'>): boolean =>
    own.has(record.deviceID) && isAlert(record);
  const wrongCounts = Object.entries(alertCodes).flatMap(([category, codes]) => {
    const ofZones = category === 'base' ? zoneCodes : new Set<number>();
    const listed = alerts.filter(({ statusCode }) => codes.includes(statusCode) || ofZones.has(statusCode));
    return summary[category] === listed.length
      ? []
      : [`summary: ${category} ${summary[category]}, and ${listed.length} are listed`];
  });
  const words = [
    ...differences('alerts', alerts.filter(isOwn).map(alertKey), wanted),
    ...differences('inbox', inbox.filter(isOwn).map(alertKey), wanted),
    ...wrongCounts,
  ];
  return words.map((text) => vehicleBreach('alertsWrong', '', text));
}

/** Sightings of an event on a live stream, by vehicle and id. */
export interface StreamSight {
  /** How often it came. */
  times(deviceID: string, eventID: string): number;
  /** Members of its first message; undefined: none came, or too many to be kept. */
  said(deviceID: string, eventID: string): Partial<ShownEvent> | undefined;
  /** The last message about the place of each device; null: the stream was asked for events alone. */
  readonly devices: ReadonlyMap<string, StreamedDevice> | null;
}

/** True when the stream must have shown an event: it is not routine, and was delivered while the vehicle was on the road. */
const isDue = ({ stopMs }: VehicleNotes, { code, ackedMs, storedMs, shown }: EventNote): boolean =>
  !routineCodes.has(code) && ackedMs !== null && shown > 0 && (stopMs === null || storedMs < stopMs);

/** Records whose message on the live stream says something else. */
export function judgeMessages(records: readonly ShownEvent[], sight: StreamSight): readonly Breach[] {
  return records.flatMap((record) => {
    const { deviceID, eventID } = record;
    const said = Object.entries(sight.said(deviceID, eventID) ?? {});
    const other = said.find(([name, value]) => value !== record[name as keyof ShownEvent]);
    if (other === undefined) return [];
    const [name, value] = other;
    const is = JSON.stringify(record[name as keyof ShownEvent]);
    const words = `status code ${record.statusCode}: ${name} ${JSON.stringify(value)} on the live stream instead of ${is}`;
    return [eventBreach('streamWrong', { deviceID, eventID }, words)];
  });
}

/** Breaches of a live stream: it must show each event exactly once, over interruptions. */
export function judgeStream(vehicles: Iterable<VehicleNotes>, sight: StreamSight): readonly Breach[] {
  const found: Breach[] = [];
  for (const vehicle of vehicles) {
    for (const [boot, notes] of vehicle.boots) {
      for (const [index, note] of notes.entries()) {
        if (note === undefined) continue;
        const eventID = `${boot}:${index + 1}`;
        const times = sight.times(vehicle.deviceID, eventID);
        const isRight = times === 1 || (times === 0 && !isDue(vehicle, note));
        if (isRight) continue;
        const words = `status code ${note.code}: ${times} times on the live stream`;
        found.push(eventBreach('streamWrong', { deviceID: vehicle.deviceID, eventID }, words));
      }
    }
  }
  return found;
}
