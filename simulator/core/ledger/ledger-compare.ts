// Compares a record that the service returned with the notes of the vehicle. Pure. Differences of rounding are those
// of the interface: whole seconds, whole km/h, whole degrees.
import { statusText } from '../../../src/core/events/status-codes.ts';
import type { Breach, BreachKind, EventNote, SentEvent, ShownEvent, VehicleNotes } from './ledger-types.ts';
import { wrongPlace } from './world-compare.ts';

/** Degrees: a coordinate travels with seven decimals. */
const placeTolerance = 1e-6;

function wrongContent(note: EventNote, sent: SentEvent, record: ShownEvent): string | null {
  if (record.statusCode !== note.code) return `status code ${record.statusCode} instead of ${note.code}`;
  if (record.isPositionValid !== (sent.latitude !== null))
    return 'a position that is there or not, against what was sent';
  const isPlace =
    sent.latitude === null ||
    (Math.abs(record.latitude - sent.latitude) <= placeTolerance &&
      Math.abs(record.longitude - (sent.longitude ?? 0)) <= placeTolerance);
  if (!isPlace)
    return `position ${record.latitude},${record.longitude} instead of ${sent.latitude},${sent.longitude}`;
  const speedKmh = sent.speedKmh ?? 0;
  if (Math.abs(record.speed - speedKmh) > 1) return `speed ${record.speed} instead of ${speedKmh}`;
  const turn = Math.abs(record.heading - sent.headingDeg) % 360;
  if (Math.min(turn, 360 - turn) > 1) return `heading ${record.heading} instead of ${sent.headingDeg}`;
  if ((record.commandID ?? '') !== (sent.commandID ?? ''))
    return `command ${record.commandID} instead of ${sent.commandID}`;
  if ((record.commandState ?? '') !== (sent.commandState ?? ''))
    return `state of the command ${record.commandState} instead of ${sent.commandState}`;
  if (record.statusDescription !== statusText(note.code))
    return `text ${JSON.stringify(record.statusDescription)} instead of ${JSON.stringify(statusText(note.code))}`;
  const isTimeKnown = sent.timestampMs !== null && !note.isResent;
  if (isTimeKnown && record.timestamp !== Math.floor((sent.timestampMs ?? 0) / 1000))
    return `time ${record.timestamp} instead of ${(sent.timestampMs ?? 0) / 1000}`;
  return null;
}

function wrongOrder(vehicle: VehicleNotes, note: EventNote | undefined, record: ShownEvent): string | null {
  const { lastShown } = vehicle;
  // The service stored a repeated event with one of its two times, and only it knows which.
  const timestampMs = note?.sent?.timestampMs ?? null;
  const mine = note === undefined || note.isResent ? null : timestampMs;
  vehicle.lastShown = { timestamp: record.timestamp, timestampMs: mine, eventID: record.eventID };
  if (lastShown === null) return null;
  if (record.timestamp < lastShown.timestamp) return `it stands after ${lastShown.eventID}, which is later`;
  if (mine !== null && lastShown.timestampMs !== null && mine < lastShown.timestampMs)
    return `it stands after ${lastShown.eventID}, which happened ${lastShown.timestampMs - mine} ms later`;
  return null;
}

/** The clocks of broker and simulator count seconds, and may be read a moment apart. */
const receiptMs = 2000;

/** The service can have received it only after it was sent, and before it was acknowledged. */
function wrongReceipt(vehicle: VehicleNotes, note: EventNote, record: ShownEvent): string | null {
  const { beganUtcMs } = vehicle;
  if (beganUtcMs === null || note.sentMs === null) return null;
  const receivedMs = record.creationTime * 1000 - beganUtcMs;
  const isAfter = receivedMs >= note.sentMs - receiptMs;
  const isBefore = note.ackedMs === null || receivedMs <= note.ackedMs + receiptMs;
  if (isAfter && isBefore) return null;
  const until = note.ackedMs === null ? '' : `, acknowledged at ${(note.ackedMs / 1000).toFixed(1)} s`;
  return `received at ${(receivedMs / 1000).toFixed(1)} s of the run; it was sent at ${(note.sentMs / 1000).toFixed(1)} s${until}`;
}

/**
 * Breaches of a record.
 * @param note undefined: the vehicle has no such event.
 * @param isSameClock the service reads the clock of this machine.
 */
export function compareShown(
  vehicle: VehicleNotes,
  note: EventNote | undefined,
  record: ShownEvent,
  isSameClock: boolean,
): readonly Breach[] {
  const { deviceID } = vehicle;
  const { eventID } = record;
  const found: Breach[] = [];
  const add = (kind: BreachKind, words: string): void =>
    void found.push({ kind, deviceID, eventID, factNo: note?.factNo ?? null, commandID: null, words });
  if (note === undefined) {
    add(
      'invented',
      `the service returned it (status code ${record.statusCode}); the vehicle has no such event`,
    );
  } else {
    note.shown += 1;
    if (note.shown > 1) add('duplicated', `returned ${note.shown} times`);
    const wrong =
      note.sent === null ? 'the vehicle has never sent it' : wrongContent(note, note.sent, record);
    if (wrong !== null) add('corrupted', wrong);
    const place = wrongPlace(vehicle, note, record);
    if (place !== null) add('misplaced', place);
    const receipt = isSameClock ? wrongReceipt(vehicle, note, record) : null;
    if (receipt !== null) add('mistimed', receipt);
  }
  const order = wrongOrder(vehicle, note, record);
  if (order !== null) add('reordered', order);
  return found;
}
