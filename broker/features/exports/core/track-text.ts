// Texts of exported tracks: GPX 1.1, CSV (RFC 4180) and GeoJSON (RFC 7946), per event. Pure. The text is well formed
// whatever an event carries, and a spreadsheet never reads a cell as a formula.
import { statusText } from '../../../../src/core/events/status-codes.ts';
import {
  byteOrderMark,
  type CsvSeparator,
  csvSeparators,
  csvText,
} from '../../../../src/core/reports/csv.ts';
import { escapeXml } from '../../../../src/core/xml-text.ts';

/** An event as exports write it. */
export interface TrackPoint {
  readonly eventID: string;
  readonly timestampMs: number;
  readonly receivedMs: number;
  readonly statusCode: number;
  readonly point: { readonly latitude: number; readonly longitude: number } | null;
  readonly altitude: number | null;
  readonly speed: number | null;
  readonly heading: number | null;
  readonly hdop: number | null;
  readonly satellites: number | null;
  readonly odometer: number | null;
  readonly fuelLevel: number | null;
  readonly ignition: boolean | null;
  readonly geozoneID: string;
}

/** Longer between two positions: the line is broken there. */
export const lineGapMs = 600_000;

/** UTC as XML Schema and RFC 3339 write it. `iso` makes it from ms: the core has no clock and no calendar. */
export type FormatTime = (ms: number) => string;

const fixed = (value: number, digits: number): string => String(Number(value.toFixed(digits)) + 0);
const csvNumber = (value: number | null): string => (value === null ? '' : fixed(value, 7));
const csvFlag = (value: boolean | null): string => (value === null ? '' : value ? '1' : '0');

const csvColumns =
  'deviceID,eventID,timestamp,time,creationTime,statusCode,statusDescription,latitude,longitude,altitude,speed,heading,hdop,satellites,odometer,fuelLevel,ignition,geozoneID';

export const csvHead = (separator: CsvSeparator): string =>
  `${byteOrderMark}${csvColumns.replaceAll(',', csvSeparators[separator])}\r\n`;

export interface CsvForm {
  readonly time: FormatTime;
  readonly separator: CsvSeparator;
}

/** One line. */
export function csvLine(deviceID: string, point: TrackPoint, { time, separator }: CsvForm): string {
  const cells = [
    csvText(deviceID),
    csvText(point.eventID),
    String(Math.floor(point.timestampMs / 1000)),
    time(point.timestampMs),
    String(Math.floor(point.receivedMs / 1000)),
    String(point.statusCode),
    csvText(statusText(point.statusCode)),
    csvNumber(point.point?.latitude ?? null),
    csvNumber(point.point?.longitude ?? null),
    ...[
      point.altitude,
      point.speed,
      point.heading,
      point.hdop,
      point.satellites,
      point.odometer,
      point.fuelLevel,
    ].map(csvNumber),
    csvFlag(point.ignition),
    csvText(point.geozoneID),
  ];
  return `${cells.join(csvSeparators[separator])}\r\n`;
}

export interface TrackName {
  readonly deviceID: string;
  readonly description: string;
}

/** Head of a GPX file with one track. */
export function gpxHead({ deviceID, description }: TrackName): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="Fleetward" xmlns="http://www.topografix.com/GPX/1/1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.topografix.com/GPX/1/1 http://www.topografix.com/GPX/1/1/gpx.xsd">
<trk>
<name>${escapeXml(deviceID)}</name>
<desc>${escapeXml(description)}</desc>
`;
}

export const gpxTail = '</trk>\n</gpx>\n';
export const gpxSegment = { open: '<trkseg>\n', close: '</trkseg>\n' } as const;

interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** A track point. GPX 1.1 has no speed and no heading: they stand in CSV and GeoJSON. */
export function gpxPoint(point: TrackPoint, { latitude, longitude }: Point, time: FormatTime): string {
  // GPX: -180 <= longitude < 180.
  const lon = longitude >= 180 ? longitude - 360 : longitude;
  const tag = (name: string, value: number | null): string =>
    value === null ? '' : `<${name}>${fixed(value, 3)}</${name}>`;
  const satellites = point.satellites === null ? '' : `<sat>${Math.round(point.satellites)}</sat>`;
  return `<trkpt lat="${latitude.toFixed(7)}" lon="${lon.toFixed(7)}">${tag('ele', point.altitude)}<time>${time(
    point.timestampMs,
  )}</time><name>${escapeXml(statusText(point.statusCode))}</name>${satellites}${tag('hdop', point.hdop)}</trkpt>\n`;
}

export interface LinePoint {
  readonly at: Point;
  /** As `FormatTime` gives it. */
  readonly time: string;
}

type Coordinates = [longitude: number, latitude: number];

/** The way in parts, none of which crosses 180 degrees (RFC 7946 section 3.1.9). */
function cutAt180(points: readonly LinePoint[]): readonly (readonly Coordinates[])[] {
  const parts: Coordinates[][] = [[]];
  let before: Point | null = null;
  for (const { at } of points) {
    if (before !== null && Math.abs(at.longitude - before.longitude) > 180) {
      const edge = before.longitude < 0 ? -180 : 180;
      const beyond = at.longitude + 2 * edge;
      const share = (edge - before.longitude) / (beyond - before.longitude || 1);
      const latitude = Number((before.latitude + share * (at.latitude - before.latitude)).toFixed(7));
      // A position on the edge itself ends one part and begins the next.
      if (share > 0) parts.at(-1)?.push([edge, latitude]);
      parts.push(share < 1 ? [[-edge, latitude]] : []);
    }
    parts.at(-1)?.push([at.longitude, at.latitude]);
    before = at;
  }
  return parts.filter((part) => part.length > 1);
}

/** A line of at least two positions; null: nothing of it can be drawn. */
export function geojsonLine(deviceID: string, points: readonly LinePoint[]): string | null {
  const parts = cutAt180(points);
  if (parts.length === 0) return null;
  return JSON.stringify({
    type: 'Feature',
    geometry:
      parts.length === 1
        ? { type: 'LineString', coordinates: parts[0] }
        : { type: 'MultiLineString', coordinates: parts },
    properties: { deviceID, from: points[0]?.time, to: points.at(-1)?.time },
  });
}

/** One record: a point with its position, or a feature without a geometry (RFC 7946 section 3.2). */
export function geojsonPoint(deviceID: string, point: TrackPoint, time: FormatTime): string {
  const { point: at, timestampMs, receivedMs, ...rest } = point;
  return JSON.stringify({
    type: 'Feature',
    geometry: at === null ? null : { type: 'Point', coordinates: [at.longitude, at.latitude] },
    properties: {
      deviceID,
      time: time(timestampMs),
      timestamp: Math.floor(timestampMs / 1000),
      creationTime: Math.floor(receivedMs / 1000),
      statusDescription: statusText(point.statusCode),
      ...rest,
    },
  });
}
