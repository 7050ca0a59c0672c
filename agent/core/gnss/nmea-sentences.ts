// Typed sentences of NMEA 0183 (IEC 61162-1) that contribute to a position, and the decoding of their fields. A void sentence may carry a position
// (SiRF and Garmin repeat the last one). It is kept as sent and must not be used as a fix without checking status, quality and mode; see epochs.ts.
import {
  dayNumber,
  type FieldReader,
  hasField,
  latitudeAxis,
  longitudeAxis,
  nextField,
  readAngle,
  readDate,
  readInteger,
  readLetter,
  readNumber,
  readTimeOfDay,
  skipFields,
} from './nmea-fields.ts';

interface Timed {
  /** Two letters: GP, GL, GA, GB, GN… */
  readonly talker: string;
  /** UTC as ms of the day, 0 to 86 400 999; null: the receiver does not know it. */
  readonly timeMs: number | null;
}

interface Positioned extends Timed {
  /** WGS 84 degrees; both or neither. Some receivers repeat the last position in a void sentence. */
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/** Recommended minimum: the only sentence with status, position, Doppler speed and date together. */
export interface Rmc extends Positioned {
  readonly type: 'RMC';
  /** Status A, or a measured mode in its place: Unicore UM98x sends D with corrections. */
  readonly valid: boolean;
  /** 0 to 1852 km/h over ground. */
  readonly speedKmh: number | null;
  /** True course over ground, 0 up to but not 360. */
  readonly headingDeg: number | null;
  /** Days since 1970-01-01 as sent: the week roll-over is not corrected here. */
  readonly day: number | null;
  /** Mode indicator of NMEA 2.3 and later, or the mode in the place of the status. */
  readonly mode: string | null;
}

export interface Gga extends Positioned {
  readonly type: 'GGA';
  /** 0 none, 1 GPS, 2 differential, 3 PPS, 4 RTK, 5 float RTK, 6 estimated, 7 manual, 8 simulator, 9 as sent. */
  readonly quality: number;
  readonly satellites: number | null;
  readonly hdop: number | null;
  /** Above mean sea level. */
  readonly altitudeM: number | null;
}

export interface Gns extends Positioned {
  readonly type: 'GNS';
  /** One mode letter per constellation. */
  readonly modes: string;
  readonly satellites: number | null;
  readonly hdop: number | null;
  readonly altitudeM: number | null;
}

export interface Gll extends Positioned {
  readonly type: 'GLL';
  readonly valid: boolean;
  readonly mode: string | null;
}

export interface Gsa {
  readonly type: 'GSA';
  readonly talker: string;
  /** 1 no fix. */
  readonly dimension: 1 | 2 | 3;
  /** Number of satellites of this talker or system in use, 0 to 12. */
  readonly used: number;
  readonly pdop: number | null;
  readonly hdop: number | null;
  readonly vdop: number | null;
}

export interface Vtg {
  readonly type: 'VTG';
  readonly talker: string;
  readonly headingDeg: number | null;
  readonly speedKmh: number | null;
  readonly mode: string | null;
}

export interface Zda extends Timed {
  readonly type: 'ZDA';
  readonly day: number | null;
}

/** A sentence with a correct checksum and an unusable field. It states neither a position nor the loss of one. */
export interface Unusable extends Timed {
  readonly type: 'unusable';
  /** Its formatter: RMC, GGA… */
  readonly of: string;
  /** The sentence as sent. */
  readonly text: string;
}

export type Sentence = Rmc | Gga | Gns | Gll | Gsa | Vtg | Zda | Unusable;

const kmhPerKnot = 1.852;
const maxSpeedKnots = 1000; // civil receivers stop at 1000 knots (former CoCom limit)
const maxAltitudeM = 100_000;
const minAltitudeM = -10_000;
/** A larger DOP is a filler for unknown: 99.99 by u-blox, 9999.0 by Unicore; 0 is one in void SiRF sentences. */
const unknownDop = 99;
const maxConstellations = 12;

/**
 * Reads the fields at `reader` as the sentence whose three-letter formatter is at `at`. Null: an unsupported type. If `reader.bad` is set afterwards,
 * the sentence must be rejected.
 */
export function decodeFields(reader: FieldReader, talker: string, at: number): Sentence | null {
  const { bytes } = reader;
  switch (((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)) {
    case 0x524d43:
      return decodeRmc(reader, talker);
    case 0x474741:
      return decodeGga(reader, talker);
    case 0x474e53:
      return decodeGns(reader, talker);
    case 0x474c4c:
      return decodeGll(reader, talker);
    case 0x475341:
      return decodeGsa(reader, talker);
    case 0x565447:
      return decodeVtg(reader, talker);
    case 0x5a4441:
      return decodeZda(reader, talker);
    default:
      return null;
  }
}

function decodeRmc(reader: FieldReader, talker: string): Rmc {
  const timeMs = readTimeOfDay(reader);
  const status = readLetter(reader);
  const latitude = readAngle(reader, latitudeAxis);
  const longitude = readAngle(reader, longitudeAxis);
  const speedKnots = readNumber(reader, 0, maxSpeedKnots);
  const headingDeg = readHeading(reader);
  demand(reader, hasField(reader)); // a line that ends before its date was truncated
  const day = readDate(reader);
  const mode = readRmcMode(reader) ?? modeOfStatus(status);
  checkStatus(reader, status);
  checkPair(reader, latitude, longitude);
  const speedKmh = speedKnots === null ? null : speedKnots * kmhPerKnot;
  return {
    type: 'RMC',
    talker,
    timeMs,
    valid: isValid(status),
    latitude,
    longitude,
    speedKmh,
    headingDeg,
    day,
    mode,
  };
}

/**
 * The mode is field 12, after magnetic variation and its E or W. Some receivers omit that letter, which shifts the mode to field 11 (Motorola T805:
 * `…,181207,0,N`). An E there is east, as the sentence prescribes.
 */
function readRmcMode(reader: FieldReader): string | null {
  nextField(reader);
  const direction = readLetter(reader);
  const isShifted = !hasField(reader) && direction !== null && direction !== 'E' && direction !== 'W';
  return isShifted ? direction : readLetter(reader);
}

function decodeGga(reader: FieldReader, talker: string): Gga {
  const timeMs = readTimeOfDay(reader);
  const latitude = readAngle(reader, latitudeAxis);
  const longitude = readAngle(reader, longitudeAxis);
  demand(reader, hasField(reader));
  const quality = readInteger(reader, 0, 9) ?? 0;
  const satellites = readInteger(reader, 0, 99);
  const hdop = readDop(reader);
  demand(reader, hasField(reader)); // a line that ends before its altitude was truncated
  const altitudeM = readNumber(reader, minAltitudeM, maxAltitudeM);
  const unit = readLetter(reader);
  demand(reader, unit === null || unit === 'M');
  checkPair(reader, latitude, longitude);
  return { type: 'GGA', talker, timeMs, latitude, longitude, quality, satellites, hdop, altitudeM };
}

function decodeGns(reader: FieldReader, talker: string): Gns {
  const timeMs = readTimeOfDay(reader);
  const latitude = readAngle(reader, latitudeAxis);
  const longitude = readAngle(reader, longitudeAxis);
  let modes = '';
  if (nextField(reader)) {
    demand(reader, reader.to - reader.from <= maxConstellations);
    for (let i = reader.from; i < reader.to && i < reader.from + maxConstellations; i += 1) {
      modes += String.fromCharCode(reader.bytes[i] ?? 0);
    }
  }
  const satellites = readInteger(reader, 0, 99);
  const hdop = readDop(reader);
  demand(reader, hasField(reader));
  const altitudeM = readNumber(reader, minAltitudeM, maxAltitudeM);
  checkPair(reader, latitude, longitude);
  return { type: 'GNS', talker, timeMs, latitude, longitude, modes, satellites, hdop, altitudeM };
}

function decodeGll(reader: FieldReader, talker: string): Gll {
  const latitude = readAngle(reader, latitudeAxis);
  const longitude = readAngle(reader, longitudeAxis);
  const timeMs = readTimeOfDay(reader);
  const status = readLetter(reader);
  const mode = readLetter(reader) ?? modeOfStatus(status);
  checkStatus(reader, status);
  checkPair(reader, latitude, longitude);
  return { type: 'GLL', talker, timeMs, valid: isValid(status), latitude, longitude, mode };
}

function decodeGsa(reader: FieldReader, talker: string): Gsa {
  nextField(reader); // manual or automatic choice of 2D and 3D
  const dimension = readInteger(reader, 1, 3) ?? 1;
  let used = 0;
  for (let i = 0; i < 12; i += 1) if (nextField(reader)) used += 1;
  const pdop = readDop(reader);
  const hdop = readDop(reader);
  const vdop = readDop(reader);
  return {
    type: 'GSA',
    talker,
    dimension: dimension === 3 ? 3 : dimension === 2 ? 2 : 1,
    used,
    pdop,
    hdop,
    vdop,
  };
}

function decodeVtg(reader: FieldReader, talker: string): Vtg {
  const headingDeg = readHeading(reader);
  skipFields(reader, 3); // T, magnetic course, M
  const speedKnots = readNumber(reader, 0, maxSpeedKnots);
  nextField(reader);
  const kmh = readNumber(reader, 0, maxSpeedKnots * kmhPerKnot);
  nextField(reader);
  const mode = readLetter(reader);
  // Knots first: their resolution is finer (u-blox: 0.001 knots), and RMC repeats this field.
  const speedKmh = speedKnots === null ? kmh : speedKnots * kmhPerKnot;
  return { type: 'VTG', talker, headingDeg, speedKmh, mode };
}

function decodeZda(reader: FieldReader, talker: string): Zda {
  const timeMs = readTimeOfDay(reader);
  const [date, month, year] = [
    readInteger(reader, 0, 31),
    readInteger(reader, 0, 12),
    readInteger(reader, 0, 2099),
  ];
  // Receivers send zeros before the first fix.
  const isKnown = date !== null && month !== null && year !== null && date + month + year > 0;
  if (!isKnown) return { type: 'ZDA', talker, timeMs, day: null };
  const day = dayNumber(year, month, date);
  demand(reader, day !== null);
  return { type: 'ZDA', talker, timeMs, day };
}

function demand(reader: FieldReader, condition: boolean): void {
  if (!condition) reader.bad = true;
}

/** One coordinate without the other means that a field was lost. */
function checkPair(reader: FieldReader, latitude: number | null, longitude: number | null): void {
  demand(reader, (latitude === null) === (longitude === null));
}

const isValid = (status: string | null): boolean => status !== null && 'ADPRF'.includes(status);

/** The mode indicator in the place of the status; null: none. */
const modeOfStatus = (status: string | null): string | null =>
  status === 'A' || status === 'V' ? null : status;

/** A valid, V void, or a mode indicator; empty counts as void. */
function checkStatus(reader: FieldReader, status: string | null): void {
  demand(reader, status === null || 'AVDPRFENMS'.includes(status));
}

function readHeading(reader: FieldReader): number | null {
  const heading = readNumber(reader, 0, 360);
  return heading === 360 ? 0 : heading;
}

function readDop(reader: FieldReader): number | null {
  const dop = readNumber(reader, 0, Number.POSITIVE_INFINITY);
  return dop === null || dop === 0 || dop >= unknownDop ? null : dop;
}
