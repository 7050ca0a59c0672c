// A recording of real traffic without personal data: lines of JSON, a head, one line an event, an end. Pure. Ids are keyed hashes
// before they come here, times count from the first event, positions may be shifted as a whole, and nothing else is kept.
import { AppError } from '../../../src/core/errors.ts';

/** An event of a recording; the members of a line are short because there are many of them. */
export interface RecordedEvent {
  /** Hash of the device, 16 hexadecimal digits. */
  readonly device: string;
  /** Seconds since the first event. */
  readonly atS: number;
  readonly statusCode: number;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly speedKmh: number;
  readonly headingDeg: number;
}

export interface Recording {
  readonly isShifted: boolean;
  readonly events: readonly RecordedEvent[];
}

export interface Shift {
  readonly latitude: number;
  readonly longitude: number;
}

export const recordingLimits = { events: 1_000_000, bytes: 256 * 1024 * 1024, devices: 100_000 } as const;

const format = 'fleetward-recording';
const version = 1;
/** Decimals of a coordinate: a decimetre. */
const scale = 1e6;
const latitudeMost = 85;

/** Moved by so much; a place that would leave the map is mirrored back, so that roads stay roads. */
export function shiftPlace(
  place: { readonly latitude: number; readonly longitude: number },
  by: Shift,
): { readonly latitude: number; readonly longitude: number } {
  const moved = place.latitude + by.latitude;
  const latitude = moved > latitudeMost ? 2 * latitudeMost - moved : Math.max(-latitudeMost, moved);
  const longitude = ((((place.longitude + by.longitude + 180) % 360) + 360) % 360) - 180;
  return { latitude: Math.round(latitude * scale) / scale, longitude: Math.round(longitude * scale) / scale };
}

/** The first line. */
export function formatHead(of: { readonly isShifted: boolean }): string {
  return `${JSON.stringify({ format, version, shifted: of.isShifted })}\n`;
}

/** A line of an event. */
export function formatEvent(event: RecordedEvent): string {
  const { device: d, atS: t, statusCode: c, latitude, longitude, speedKmh: s, headingDeg: h } = event;
  const place = latitude === null || longitude === null ? {} : { la: latitude, lo: longitude };
  return `${JSON.stringify({ d, t, c, ...place, ...(s === 0 ? {} : { s }), ...(h === 0 ? {} : { h }) })}\n`;
}

/** The last line: without it a file was cut. */
export function formatEnd(events: number): string {
  return `${JSON.stringify({ end: events })}\n`;
}

type Table = Readonly<Record<string, unknown>>;

const damagedHint = 'The file is damaged or was edited: record it again.';

function parseLine(line: string, no: number): Table {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Table;
  } catch {
    // Said below.
  }
  throw new AppError('config', `Line ${no} of the recording is no JSON object`, { hint: damagedHint });
}

const isIn = (value: unknown, low: number, high: number): value is number =>
  typeof value === 'number' && value >= low && value <= high;

function parseEvent(line: Table, no: number): RecordedEvent {
  const { d, t, c, la = null, lo = null, s = 0, h = 0 } = line;
  const isPlace = (la === null && lo === null) || (isIn(la, -90, 90) && isIn(lo, -180, 180));
  const isWhole =
    typeof d === 'string' &&
    /^[0-9a-f]{16}$/.test(d) &&
    isIn(t, 0, 1e9) &&
    isIn(c, 1, 65_535) &&
    Number.isInteger(c) &&
    isIn(s, 0, 1000) &&
    isIn(h, 0, 360) &&
    isPlace;
  if (!isWhole)
    throw new AppError(
      'config',
      `Line ${no} of the recording is no event: ${JSON.stringify(line).slice(0, 200)}`,
      { hint: damagedHint },
    );
  return {
    device: d,
    atS: t,
    statusCode: c,
    latitude: la,
    longitude: lo,
    speedKmh: s,
    headingDeg: h % 360,
  };
}

/**
 * Reads line after line.
 * @throws AppError `config` that names the line, also for a file that was cut or is too large.
 */
export function createRecordingReader() {
  const events: RecordedEvent[] = [];
  const devices = new Set<string>();
  let head: { isShifted: boolean } | null = null;
  let end: number | null = null;
  let no = 0;
  const readHead = (line: Table): void => {
    if (line['format'] !== format)
      throw new AppError('config', 'This is no recording of fleetward-simulator', {
        hint: 'Give a file that `fleetward-simulator record` wrote.',
      });
    if (line['version'] !== version)
      throw new AppError(
        'config',
        `The recording is of version ${String(line['version'])}; this program reads ${version}`,
        { hint: 'Record it again with this version, or use the version that recorded it.' },
      );
    head = { isShifted: line['shifted'] === true };
  };
  return {
    take(text: string): void {
      no += 1;
      const line = parseLine(text, no);
      if (head === null) return readHead(line);
      if (end !== null) {
        throw new AppError('config', `Line ${no} follows the end of the recording`, { hint: damagedHint });
      }
      if (typeof line['end'] === 'number') {
        end = line['end'];
        return;
      }
      const event = parseEvent(line, no);
      devices.add(event.device);
      if (events.length >= recordingLimits.events || devices.size > recordingLimits.devices)
        throw new AppError(
          'config',
          `The recording has more than ${recordingLimits.events} events or ${recordingLimits.devices} devices`,
          { hint: 'Record a shorter time or fewer devices.' },
        );
      events.push(event);
    },
    finish(): Recording {
      if (head === null) throw new AppError('config', 'The recording is empty', { hint: damagedHint });
      if (end !== events.length)
        throw new AppError(
          'config',
          `The recording was cut: ${events.length} events of ${end ?? 'an unknown number'}`,
          { hint: damagedHint },
        );
      return { isShifted: head.isShifted, events };
    },
  };
}

/** Events of each device with their times, ms since the start; devices by their first event. */
export function scriptsOf(
  events: readonly RecordedEvent[],
  speed: number,
): readonly (readonly ScriptedEvent[])[] {
  const scripts = new Map<string, ScriptedEvent[]>();
  for (const { device, atS, ...what } of events) {
    const script = scripts.get(device) ?? [];
    scripts.set(device, script);
    script.push({ ...what, atMs: (atS * 1000) / speed });
  }
  for (const script of scripts.values()) script.sort((a, b) => a.atMs - b.atMs);
  return [...scripts.values()];
}

/** What a tracker sends at a moment. */
export interface ScriptedEvent extends Omit<RecordedEvent, 'device' | 'atS'> {
  readonly atMs: number;
}
