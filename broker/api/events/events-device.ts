// Event data of one device: the newest record, and its records over a time range.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { exportLimits } from '../../scheduling/per-account-limits.ts';
import { type DeviceRow, deviceStates } from '../../store/devices/devices.ts';
import { type EventRow, latestPosition } from '../../store/events/events.ts';
import { type NumberedTrackEvent, numberedTrackEvents } from '../../store/events/trip-events.ts';
import {
  exampleBus,
  exampleEvent,
  exampleMetadata,
  exampleSensors,
  exampleState,
} from '../answers/examples.ts';
import { mayUpdateDevices, viewEvent, viewStates, viewVehicleBus } from '../answers/views.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { readyJson } from '../base/ready-json.ts';
import {
  envelope,
  eventAnswer,
  listedEvent,
  listedMetadata,
  ok,
  sensorMap,
  stateMap,
  vehicleBus,
} from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';
import { readDevice } from '../devices/device-details.ts';
import { zoneNames } from '../geozones/geozone-views.ts';
import {
  eventList,
  eventListAnswer,
  eventPages,
  type ListQuery,
  lastDay,
  listQuery,
  pageMembers,
  queryText,
  rangeParams,
  recordMembers,
  type Span,
  spanOf,
  wholeListText,
} from './event-list.ts';
import { pointsOf, pointsQuery, pointsText, thinnedNumbers, thinningResult } from './thinned.ts';
import { findWritten, type WrittenListing } from './written-events.ts';

const deviceParam = { deviceID: Type.String({ description: 'The device' }) } as const;

/**
 * The record of the last position, the same that the device shows: it says when, so nothing that came after it is looked through.
 */
async function lastPosition(
  services: ApiServices,
  caller: Caller,
  { deviceID, fixMs }: DeviceRow,
): Promise<EventRow | null> {
  if (fixMs === 0) return null;
  const of = { scope: caller.scope, deviceID };
  return latestPosition(services.db, { ...of, fromMs: Number.MIN_SAFE_INTEGER, toMs: fixMs });
}

/** The answer about it; null: there is none. @throws AppError `not_found`. */
async function lastPositionJson(
  services: ApiServices,
  caller: Caller,
  deviceID: string,
): Promise<Buffer | null> {
  const device = await needDevice(services, caller, deviceID);
  const { description } = device;
  const row = await lastPosition(services, caller, device);
  if (row === null) return null;
  const [zones, states] = await Promise.all([
    zoneNames(services, caller.accountID, row.geozoneID === '' ? [] : [row.geozoneID]),
    deviceStates(services.db, device.deviceNo),
  ]);
  const answer = {
    ...ok,
    eventdata: { devices: [viewEvent(row, { description, zones })] },
    vehicleBus: viewVehicleBus(states),
  };
  return Buffer.from(JSON.stringify(answer));
}

const latest = operation({
  id: 'latestEvent',
  method: 'GET',
  path: '/eventdata/latest/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Last position of a device',
  description: `The newest record with a position by event time, as the one entry of \`eventdata.devices\`; the list is empty
while the device has sent no position. Newer records without one (a configuration, a panic that a person recorded) are in
\`devicedata\` and \`activations\`. A record more than a day in the future is left out as long as there is any other.
\`latitude\` and \`longitude\` are decimal degrees. \`vehicleBus\` is that of the device, with times of its own.`,
  params: Type.Object(deviceParam),
  body: null,
  result: Type.Object({ ...eventAnswer.properties, vehicleBus }),
  errors: ['not_found'],
  effects: false,
  examples: { result: { eventdata: { devices: [exampleEvent] }, vehicleBus: exampleBus } },
  async run({ params, caller }, services) {
    const { deviceID } = params;
    const known = await services.fleet.unchanged(caller, `latest ${deviceID}`, () =>
      lastPositionJson(services, caller, deviceID),
    );
    return known === null
      ? { ...ok, eventdata: { devices: [] }, vehicleBus: null }
      : readyJson(() => [known]);
  },
});

interface Selection {
  readonly deviceID: string;
  readonly span: Span;
  readonly query: ListQuery;
}

/** The records of a device; a cursor of one of its forms fits that form and range only. @throws AppError `not_found`. */
function findDeviceEvents(
  services: ApiServices,
  caller: Caller,
  { deviceID, span, query, members }: Selection & { readonly members: readonly string[] },
): Promise<WrittenListing> {
  const subject = `device ${deviceID} ${span.toMs}`;
  return findWritten(services, caller, { subject, span, query, listed: { deviceID }, members });
}

const metadataMembers: readonly string[] = [
  ...new Set([...Object.keys(listedEvent.properties), ...Object.keys(listedMetadata.properties)]),
];

const metadataAnswer = Type.Object({
  ...envelope,
  metadata: Type.Array(listedMetadata, {
    description:
      'The same records in short, in the same order; those in a row with one code at one place are one entry',
  }),
  eventdata: eventList,
  sensors: sensorMap,
  state: stateMap,
  vehicleBus,
  hasUpdateDevicePrivileges: Type.Boolean({ description: 'Whether the caller may update devices' }),
  ...pageMembers,
});

const metadataExample = {
  ...ok,
  metadata: [exampleMetadata],
  eventdata: { devices: [exampleEvent] },
  sensors: exampleSensors,
  state: exampleState,
  vehicleBus: exampleBus,
  hasUpdateDevicePrivileges: true,
};

async function answerMetadata(services: ApiServices, caller: Caller, asked: Selection) {
  const [details, listing] = await Promise.all([
    readDevice(services, caller, asked.deviceID),
    findDeviceEvents(services, caller, { ...asked, members: metadataMembers }),
  ]);
  return {
    ...ok,
    metadata: listing.pins(),
    eventdata: { devices: listing.records() },
    ...viewStates(details),
    hasUpdateDevicePrivileges: mayUpdateDevices(caller),
    ...listing.page,
  };
}

const metadataText = `as \`metadata\` entries (coordinates and codes as decimal text) and as \`eventdata\` records, with the
device's present \`sensors\`, \`state\` and \`vehicleBus\`. \`fields\` may name members of both; each list then has those it knows.

A metadata entry is a pin of a map. Records that follow each other with one status code at one place (five decimals) are one entry
with the times of the first, and \`count\` says how many they are; on pages (\`limit\`, which counts records) each page begins anew. A
record without a position has \`isPositionValid\` false and 0.00000 for both coordinates: it is an entry of its own and no pin.`;
const rangeText = `from startTime to endTime by event time, both included, oldest first. startTime 0 = from the beginning;
endTime 0 = up to now, including records of a vehicle whose clock runs ahead. A startTime after endTime answers 422.`;
const dayText = `of the last 24 hours by event time, oldest first. A record more than a day in the future counts by the
time of its arrival.`;

const metadataRange = operation({
  id: 'deviceMetadataRange',
  method: 'GET',
  path: '/eventdata/devicemetadata/{deviceID}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Records of a device over a time range, in two forms',
  description: `Every record ${rangeText} They come ${metadataText}\n\n${queryText}\n\n${wholeListText}`,
  params: Type.Object({ ...deviceParam, ...rangeParams }),
  query: listQuery,
  body: null,
  result: metadataAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { result: metadataExample },
  run: ({ params, query, caller }, services) =>
    answerMetadata(services, caller, { deviceID: params.deviceID, span: spanOf(params), query }),
});

const metadataDay = operation({
  id: 'deviceMetadata',
  method: 'GET',
  path: '/eventdata/devicemetadata/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Records of a device in the last 24 hours, in two forms',
  description: `Every record ${dayText} They come ${metadataText}\n\n${queryText}\n\n${wholeListText}`,
  params: Type.Object(deviceParam),
  query: listQuery,
  body: null,
  result: metadataAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { result: metadataExample },
  run: ({ params, query, caller }, services) =>
    answerMetadata(services, caller, { deviceID: params.deviceID, span: lastDay(services), query }),
});

async function answerData(services: ApiServices, caller: Caller, asked: Selection) {
  const listing = await findDeviceEvents(services, caller, { ...asked, members: recordMembers });
  return { ...ok, eventdata: { devices: listing.records() }, ...listing.page };
}

/** Parameters that choose records by themselves. */
const notThinned = ['limit', 'cursor', 'since'] as const;

/** Without what a clock that ran ahead stamped before the span, as in the other listings. */
async function* withPlausibleTimes(pages: AsyncIterable<readonly NumberedTrackEvent[]>, span: Span) {
  for await (const page of pages) {
    yield page.filter(
      ({ event }) => event.timestampMs <= span.plausibleMs || event.receivedMs >= span.fromMs,
    );
  }
}

async function answerTrack(
  services: ApiServices,
  caller: Caller,
  asked: Selection & { readonly query: DataQuery; readonly until: AbortSignal },
) {
  const { query, deviceID, span, until } = asked;
  if (query.points === undefined) return answerData(services, caller, asked);
  const other = notThinned.find((name) => query[name] !== undefined);
  if (other !== undefined) {
    throw new AppError('invalid_content', `points cannot be combined with ${other}`, {
      details: [{ pointer: '/points', message: `must stand without ${other}` }],
    });
  }
  const points = pointsOf(query.points);
  await needDevice(services, caller, deviceID);
  const { fields, page } = await findDeviceEvents(services, caller, { ...asked, members: recordMembers });
  services.exportLimit.begin(caller, until);
  const track = { ...span, scope: caller.scope, deviceID };
  const events = withPlausibleTimes(numberedTrackEvents(services.archive, track), span);
  const { numbers, thinning } = thinnedNumbers({ points, events });
  return {
    ...ok,
    eventdata: { devices: eventPages(services, caller, { numbers, fields }) },
    ...page,
    thinning,
  };
}

const dataQuery = Type.Object({ ...listQuery.properties, ...pointsQuery }, { additionalProperties: false });
type DataQuery = Static<typeof dataQuery>;
const dataAnswer = Type.Object({ ...eventListAnswer.properties, thinning: Type.Optional(thinningResult) });
const dataText = `${queryText}

${pointsText} With \`points\` only \`fields\` may stand; the call then counts as a report (${exportLimits.token} at once for a token).

${wholeListText}`;

const dataExample = { ...ok, eventdata: { devices: [exampleEvent] } };

const dataRange = operation({
  id: 'deviceDataRange',
  method: 'GET',
  path: '/eventdata/devicedata/{deviceID}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Records of a device over a time range',
  description: `Every record ${rangeText}\n\n${dataText}`,
  params: Type.Object({ ...deviceParam, ...rangeParams }),
  query: dataQuery,
  body: null,
  result: dataAnswer,
  errors: ['not_found', 'invalid_content', 'throttled'],
  effects: false,
  examples: { result: dataExample },
  run: ({ params, query, caller, until }, services) =>
    answerTrack(services, caller, { deviceID: params.deviceID, span: spanOf(params), query, until: until() }),
});

const dataDay = operation({
  id: 'deviceData',
  method: 'GET',
  path: '/eventdata/devicedata/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Records of a device in the last 24 hours',
  description: `Every record ${dayText}\n\n${dataText}`,
  params: Type.Object(deviceParam),
  query: dataQuery,
  body: null,
  result: dataAnswer,
  errors: ['not_found', 'invalid_content', 'throttled'],
  effects: false,
  examples: { result: dataExample },
  run: ({ params, query, caller, until }, services) =>
    answerTrack(services, caller, {
      deviceID: params.deviceID,
      span: lastDay(services),
      query,
      until: until(),
    }),
});

export const deviceEventOperations = [latest, metadataRange, metadataDay, dataRange, dataDay] as const;
