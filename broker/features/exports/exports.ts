// Exports of a device's records: GPX, CSV, GeoJSON. Written page by page while they are sent; in memory are one page and
// the current line of the track.
import { Type } from 'typebox';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { CsvSeparator } from '../../../src/core/reports/csv.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { type Caller } from '../../api/base/caller.ts';
import { operation } from '../../api/base/operation.ts';
import { needDevice } from '../../api/base/visible-device.ts';
import { calendarParams, calendarQuery, calendarText, inSeconds } from '../../api/events/calendar-range.ts';
import { periodOf, spanOf } from '../../api/events/event-list.ts';
import { pointsOf, pointsQuery, pointsText, thinnedTrack } from '../../api/events/thinned.ts';
import { fixOf } from '../../core/events/belief.ts';
import { exportLimits } from '../../scheduling/per-account-limits.ts';
import type { DeviceRow } from '../../store/devices/devices.ts';
import {
  firstEventMs,
  type NumberedTrackEvent,
  numberedTrackEvents,
  type TrackEvent,
  type TrackSpan,
} from '../../store/events/trip-events.ts';
import {
  csvHead,
  csvLine,
  geojsonLine,
  geojsonPoint,
  gpxHead,
  gpxPoint,
  gpxSegment,
  gpxTail,
  type LinePoint,
  lineGapMs,
} from './core/track-text.ts';

const daysMost = 366;
const separatorQuery = {
  separator: Type.Optional(
    Type.Enum(['comma', 'semicolon', 'tab'], { description: 'Between the cells of CSV; comma without it' }),
  ),
} as const;
/** Positions of one line; a longer one goes on in the next, which begins where it ended. */
const linePositions = 5000;

type EventPages = AsyncIterable<readonly NumberedTrackEvent[]>;
interface Track {
  readonly pages: EventPages;
  readonly isGap: IsGap;
  /** Of the cells of CSV. */
  readonly separator: CsvSeparator;
}
type Device = Pick<DeviceRow, 'deviceID' | 'description'>;

const isoTime = (ms: number): string => new Date(ms).toISOString();

async function* writeCsv({ deviceID }: Device, { pages, separator }: Track): AsyncGenerator<string> {
  const form = { time: isoTime, separator };
  yield csvHead(separator);
  for await (const events of pages) yield events.map(({ event }) => csvLine(deviceID, event, form)).join('');
}

/** The last point drawn; `isLost` once a later record reported a lost position. */
interface LineEnd {
  readonly atMs: number;
  readonly isLost: boolean;
}

/** Decides if there is a gap before an event, by the time of the position before it. */
type IsGap = (event: NumberedTrackEvent, beforeMs: number) => boolean;

const isTimeGap: IsGap = ({ event, line }, beforeMs) =>
  line === 'anew' || event.timestampMs - beforeMs > lineGapMs;

/** The end of the line after a record that is not drawn. */
const afterUndrawn = (lineEnd: LineEnd | null, { statusCode }: TrackEvent): LineEnd | null =>
  lineEnd !== null &&
  (statusCode === statusCodes.GPS_LOST.code || statusCode === statusCodes.LAST_LOCATION.code)
    ? { ...lineEnd, isLost: true }
    : lineEnd;

async function* writeGpx(device: Device, { pages, isGap }: Track): AsyncGenerator<string> {
  yield gpxHead(device);
  let lineEnd: LineEnd | null = null;
  for await (const events of pages) {
    let text = '';
    for (const one of events) {
      const { event } = one;
      const at = fixOf(event);
      lineEnd = afterUndrawn(lineEnd, event);
      if (at === null) continue;
      // GPX has no points beside its lines: a position that is not believed is a separate segment.
      const isStray = one.line === 'off';
      if (lineEnd === null) text += gpxSegment.open;
      else if (isStray || lineEnd.isLost || isGap(one, lineEnd.atMs))
        text += gpxSegment.close + gpxSegment.open;
      text += gpxPoint(event, at, isoTime);
      const isLost = isStray || event.statusCode === statusCodes.GPS_LOST.code;
      lineEnd = { atMs: event.timestampMs, isLost };
    }
    yield text;
  }
  yield (lineEnd === null ? '' : gpxSegment.close) + gpxTail;
}

async function* writeGeojson({ deviceID }: Device, { pages, isGap }: Track): AsyncGenerator<string> {
  yield '{"type":"FeatureCollection","features":[';
  let separator = '';
  let lineEnd: LineEnd | null = null;
  let line: LinePoint[] = [];
  const drawn = (): readonly string[] => {
    const text = line.length > 1 ? geojsonLine(deviceID, line) : null;
    return text === null ? [] : [text];
  };
  for await (const events of pages) {
    const features: string[] = [];
    for (const one of events) {
      const { event } = one;
      features.push(geojsonPoint(deviceID, event, isoTime));
      // The line leads through positions that are believed.
      const at = one.line === 'off' ? null : fixOf(event);
      lineEnd = afterUndrawn(lineEnd, event);
      if (at === null) continue;
      if (lineEnd !== null && (lineEnd.isLost || isGap(one, lineEnd.atMs))) {
        features.push(...drawn());
        line = [];
      }
      const point = { at, time: isoTime(event.timestampMs) };
      line.push(point);
      lineEnd = { atMs: event.timestampMs, isLost: event.statusCode === statusCodes.GPS_LOST.code };
      if (line.length >= linePositions) {
        features.push(...drawn());
        line = [point];
      }
    }
    yield features.length > 0 ? `${separator}${features.join(',\n')}` : '';
    if (features.length > 0) separator = ',\n';
  }
  const rest = drawn();
  yield `${rest.length > 0 ? separator : ''}${rest.join()}]}\n`;
}

const samplePoint = { latitude: 43.65107, longitude: -79.34702 };
const sample: TrackEvent = {
  eventID: '9c1d4a7e20b35f68:412',
  timestampMs: 1_763_683_200_000,
  receivedMs: 1_763_683_205_000,
  statusCode: 61472,
  point: samplePoint,
  altitude: 90,
  speed: 54,
  heading: 181,
  hdop: 0.9,
  satellites: 11,
  odometer: 1200.5,
  fuelLevel: 0.62,
  ignition: true,
  bus: null,
  driver: null,
  accuracy: null,
  geozoneID: 'depot',
};
const sampleDevice = { deviceID: 'truck-17', description: 'Freightliner, Toronto' };

const formats = [
  {
    id: 'exportGpx',
    path: 'gpx',
    produces: 'application/gpx+xml',
    summary: 'Track of a device as GPX',
    formatText: `GPX 1.1: one track, whose segments break where there was no position for 10 minutes and where a record says that it
was lost (64807, 61477). Records without a position
are left out; a position that is not believed (see \`reportTrips\`) is a segment of its own. GPX 1.1 knows neither speed nor heading: take CSV or GeoJSON for them. A longitude of 180 is written as -180.`,
    example: `${gpxHead(sampleDevice)}${gpxSegment.open}${gpxPoint(sample, samplePoint, isoTime)}${gpxSegment.close}${gpxTail}`,
    write: writeGpx,
  },
  {
    id: 'exportCsv',
    path: 'csv',
    produces: 'text/csv',
    summary: 'Records of a device as CSV',
    formatText: `RFC 4180 with a header line, UTF-8 with a byte order mark, lines ending in CR LF, a full stop in numbers; empty cells where a record
says nothing. \`?separator=semicolon\` or \`tab\` separates the cells otherwise than by commas. \`timestamp\` and \`creationTime\` are epoch seconds, \`time\` is the same as UTC. A text that a spreadsheet
would take for a formula (it begins with = + - @ or a control character) has an apostrophe before it.`,
    example: csvHead('comma') + csvLine(sampleDevice.deviceID, sample, { time: isoTime, separator: 'comma' }),
    write: writeCsv,
  },
  {
    id: 'exportGeojson',
    path: 'geojson',
    produces: 'application/geo+json',
    summary: 'Track of a device as GeoJSON',
    formatText: `RFC 7946: a FeatureCollection with a Point for every record (its geometry is null without a position) and a
LineString for every stretch (a MultiLineString where it crosses 180 degrees), which ends where a GPX segment would, and after ${linePositions} positions.
Each line follows the points that it joins; it leaves out those that are not believed (see \`reportTrips\`).`,
    example: `{"type":"FeatureCollection","features":[${geojsonPoint(sampleDevice.deviceID, sample, isoTime)}]}\n`,
    write: writeGeojson,
  },
] as const;

/**
 * Name of a file without its ending, `truck-17_20251121T000000Z_now`: 0 is the beginning as `startTime` and now as
 * `endTime`.
 */
function nameOf({ deviceID = '', startTime = '0', endTime = '0' }: Readonly<Record<string, string>>): string {
  const timeOf = (seconds: string, wildcard: string): string =>
    seconds.includes('-')
      ? seconds
      : Number(seconds) === 0
        ? wildcard
        : isoTime(Number(seconds) * 1000).replace(/[-:]|\.\d+/g, '');
  return [deviceID, timeOf(startTime, 'start'), timeOf(endTime, 'now')].join('_');
}

interface ExportRequest {
  readonly params: { readonly deviceID: string; readonly startTime: string; readonly endTime: string };
  readonly query: { readonly points?: string; readonly timeZone?: string; readonly separator?: CsvSeparator };
  readonly write: typeof writeCsv;
  readonly until: AbortSignal;
}

/** The events of a period, all of them or a thinned track, whose lines break at the gaps of the whole one. */
function trackOf(services: ApiServices, span: TrackSpan, query: ExportRequest['query']): Track {
  const { points, separator = 'comma' } = query;
  const events = numberedTrackEvents(services.archive, span);
  if (points === undefined) return { pages: events, isGap: isTimeGap, separator };
  const afterGap = new Set<NumberedTrackEvent>();
  const source = { points: pointsOf(points), events };
  return { pages: thinnedTrack(source, afterGap), isGap: (one) => afterGap.has(one), separator };
}

async function exported(
  services: ApiServices,
  caller: Caller,
  { params: asked, query, write, until }: ExportRequest,
): Promise<AsyncIterable<string>> {
  const params = await inSeconds(services, caller, { params: asked, query });
  const device = await needDevice(services, caller, params.deviceID);
  const { scope } = caller;
  const of = { scope, deviceID: device.deviceID };
  const { fromMs } = periodOf(services, {
    ...params,
    firstMs: await firstEventMs(services.archive, of),
    daysMost,
  });
  const track = trackOf(services, { ...of, fromMs, toMs: spanOf(params).toMs }, query);
  services.exportLimit.begin(caller, until);
  return write(device, track);
}

export const exportOperations = formats.map(({ id, path, produces, summary, formatText, example, write }) =>
  operation({
    id,
    method: 'GET',
    path: `/export/${path}/{deviceID}/{startTime}/{endTime}/authorization`,
    forms: ['versioned'],
    access: 'viewer',
    token: { scope: 'read', ofDevices: true },
    tag: 'Reports',
    summary,
    description: `Every record from startTime to endTime by event time, both included, oldest first. startTime 0 = from the
beginning, endTime 0 = up to now, including records of a vehicle whose clock runs ahead. ${calendarText} The file is written while it is
sent and may hold millions of records; a fault on the way breaks the connection, so a file that ended properly is complete.
\`Content-Disposition\` names the file by device and period.
A period of more than ${daysMost} days answers 422 (from the first record, where startTime is 0); more than ${exportLimits.token} exports and reports of a token, ${exportLimits.user} of a user or ${exportLimits.account} of an account at once answer 503
\`throttled\`.

${formatText}

${pointsText} Lines break at the gaps only.`,
    params: Type.Object({ deviceID: Type.String({ description: 'The device' }), ...calendarParams }),
    query: Type.Object(
      { ...pointsQuery, ...calendarQuery, ...separatorQuery },
      { additionalProperties: false },
    ),
    body: null,
    result: Type.String({ description: 'The file' }),
    errors: ['not_found', 'invalid_content', 'throttled'],
    effects: false,
    produces,
    fileName: (given) => `${nameOf(given)}.${path}`,
    examples: {
      params: { deviceID: 'truck-17', startTime: '1763680000', endTime: '1763769600' },
      result: example,
    },
    run: ({ params, query, caller, until }, services) =>
      exported(services, caller, { params, query, write, until: until() }),
  }),
);
