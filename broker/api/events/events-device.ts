// Event data of one device: the newest record, and its records over a time range.
import { Type } from 'typebox';
import { aheadMostMs } from '../../core/projection.ts';
import { deviceKeys, type KeyRange } from '../../store/event-keys.ts';
import { type DeviceOf, type EventRow, latestEvents, latestEventUntil } from '../../store/events.ts';
import { needDevice, readParts } from '../devices/devices.ts';
import { exampleEvent, exampleMetadata, exampleSensors, exampleState } from '../examples.ts';
import { zoneNames } from '../geozones/geozone-views.ts';
import { type ApiServices, type Caller, operation, type Pages } from '../operation.ts';
import {
  envelope,
  eventAnswer,
  eventData,
  type MetadataView,
  metadataEntry,
  ok,
  sensorMap,
  stateMap,
} from '../shapes.ts';
import { mayUpdateDevices, viewEvent, viewMetadata, viewStates } from '../views.ts';
import {
  capWords,
  eventList,
  eventListAnswer,
  eventPages,
  findEvents,
  type Listing,
  type ListQuery,
  lastDay,
  listQuery,
  pageMembers,
  pickFields,
  queryWords,
  rangeParams,
  recordPages,
  type Span,
  spanOf,
} from './event-list.ts';

const deviceParam = { deviceID: Type.String({ description: 'The device' }) } as const;

/** One record from a clock that ran years ahead must not hide all that follow; it stands only where it is the only kind. */
async function newestOf(services: ApiServices, of: DeviceOf): Promise<readonly EventRow[]> {
  const toMs = Math.round(services.clock.utcMs()) + aheadMostMs;
  const newest = await latestEventUntil(services.db, { ...of, toMs });
  return newest === null ? latestEvents(services.db, of, 1) : [newest];
}

const latest = operation({
  id: 'latestEvent',
  method: 'GET',
  path: '/eventdata/latest/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Newest record of a device',
  description: `The newest record by event time, as the one entry of \`eventdata.devices\`; the list is empty while the
device has sent nothing. A record more than a day in the future is left out as long as there is any other.
\`latitude\` and \`longitude\` are decimal degrees.`,
  params: Type.Object(deviceParam),
  body: null,
  result: eventAnswer,
  errors: ['not_found'],
  effects: false,
  examples: {
    params: { deviceID: 'truck-17' },
    body: null,
    result: { ...ok, eventdata: { devices: [exampleEvent] } },
  },
  async run({ params, caller }, services) {
    const { description, deviceID } = await needDevice(services, caller, params.deviceID);
    const rows = await newestOf(services, { scope: caller.scope, deviceID });
    const ids = rows.map(({ geozoneID }) => geozoneID).filter((id) => id !== '');
    const zones = await zoneNames(services, caller.accountID, ids);
    return { ...ok, eventdata: { devices: rows.map((row) => viewEvent(row, { description, zones })) } };
  },
});

interface Asked {
  readonly deviceID: string;
  readonly span: Span;
  readonly query: ListQuery;
  readonly members?: readonly string[];
}

/** The records of a device; a cursor of one of its forms fits that form and range only. */
function findDeviceEvents(
  services: ApiServices,
  caller: Caller,
  { deviceID, span, query, members }: Asked,
): Promise<Listing> {
  const subject = `device ${deviceID} ${span.toMs}`;
  const open = (range: KeyRange) => deviceKeys(services.archive, { ...range, deviceID }, null);
  return findEvents(services, caller, { subject, span, query, open }, members);
}

const record = eventData.properties.devices.items;
const metadataMembers: readonly string[] = [
  ...new Set([...Object.keys(record.properties), ...Object.keys(metadataEntry.properties)]),
];

const metadataAnswer = Type.Object({
  ...envelope,
  metadata: Type.Array(Type.Union([metadataEntry, Type.Partial(metadataEntry)]), {
    description: 'The same records in short, in the same order',
  }),
  eventdata: eventList,
  sensors: sensorMap,
  state: stateMap,
  hasUpdateDevicePrivileges: Type.Boolean({ description: 'Whether the caller may update devices' }),
  ...pageMembers,
});

const metadataExample = {
  ...ok,
  metadata: [exampleMetadata],
  eventdata: { devices: [exampleEvent] },
  sensors: exampleSensors,
  state: exampleState,
  hasUpdateDevicePrivileges: true,
};

async function* metadataPages(
  services: ApiServices,
  caller: Caller,
  listing: Listing,
): Pages<MetadataView | Partial<MetadataView>> {
  for await (const records of recordPages(services, caller, listing)) {
    yield records.map((one) => pickFields(viewMetadata(one, one), listing.fields));
  }
}

async function answerMetadata(services: ApiServices, caller: Caller, asked: Asked) {
  const parts = await readParts(services, caller, asked.deviceID);
  const listing = await findDeviceEvents(services, caller, { ...asked, members: metadataMembers });
  return {
    ...ok,
    metadata: metadataPages(services, caller, listing),
    eventdata: { devices: eventPages(services, caller, listing) },
    ...viewStates(parts),
    hasUpdateDevicePrivileges: mayUpdateDevices(caller),
    ...listing.page,
  };
}

const metadataWords = `as \`metadata\` entries (coordinates and codes as decimal text) and as \`eventdata\` records, with the
device's present \`sensors\` and \`state\`. \`fields\` may name members of both; each list then has those it knows.`;
const rangeWords = `from startTime to endTime by event time, both included, oldest first. startTime 0 = from the beginning;
endTime 0 = up to now, including records of a vehicle whose clock runs ahead. A startTime after endTime answers 422.`;
const dayWords = `of the last 24 hours by event time, oldest first. A record more than a day in the future counts by the
time of its arrival.`;

const metadataRange = operation({
  id: 'deviceMetadataRange',
  method: 'GET',
  path: '/eventdata/devicemetadata/{deviceID}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Records of a device over a time range, in two forms',
  description: `Every record ${rangeWords} They come ${metadataWords}\n\n${queryWords}\n\n${capWords}`,
  params: Type.Object({ ...deviceParam, ...rangeParams }),
  query: listQuery,
  body: null,
  result: metadataAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: {
    params: { deviceID: 'truck-17', startTime: '1763680000', endTime: '0' },
    body: null,
    result: metadataExample,
  },
  run: ({ params, query, caller }, services) =>
    answerMetadata(services, caller, { deviceID: params.deviceID, span: spanOf(params), query }),
});

const metadataDay = operation({
  id: 'deviceMetadata',
  method: 'GET',
  path: '/eventdata/devicemetadata/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Records of a device in the last 24 hours, in two forms',
  description: `Every record ${dayWords} They come ${metadataWords}\n\n${queryWords}\n\n${capWords}`,
  params: Type.Object(deviceParam),
  query: listQuery,
  body: null,
  result: metadataAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { params: { deviceID: 'truck-17' }, body: null, result: metadataExample },
  run: ({ params, query, caller }, services) =>
    answerMetadata(services, caller, { deviceID: params.deviceID, span: lastDay(services), query }),
});

async function answerData(services: ApiServices, caller: Caller, asked: Asked) {
  await needDevice(services, caller, asked.deviceID);
  const listing = await findDeviceEvents(services, caller, asked);
  return { ...ok, eventdata: { devices: eventPages(services, caller, listing) }, ...listing.page };
}

const dataExample = { ...ok, eventdata: { devices: [exampleEvent] } };

const dataRange = operation({
  id: 'deviceDataRange',
  method: 'GET',
  path: '/eventdata/devicedata/{deviceID}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Records of a device over a time range',
  description: `Every record ${rangeWords}\n\n${queryWords}\n\n${capWords}`,
  params: Type.Object({ ...deviceParam, ...rangeParams }),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: {
    params: { deviceID: 'truck-17', startTime: '1763680000', endTime: '0' },
    body: null,
    result: dataExample,
  },
  run: ({ params, query, caller }, services) =>
    answerData(services, caller, { deviceID: params.deviceID, span: spanOf(params), query }),
});

const dataDay = operation({
  id: 'deviceData',
  method: 'GET',
  path: '/eventdata/devicedata/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Records of a device in the last 24 hours',
  description: `Every record ${dayWords}\n\n${queryWords}\n\n${capWords}`,
  params: Type.Object(deviceParam),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { params: { deviceID: 'truck-17' }, body: null, result: dataExample },
  run: ({ params, query, caller }, services) =>
    answerData(services, caller, { deviceID: params.deviceID, span: lastDay(services), query }),
});

export const deviceEventOperations = [latest, metadataRange, metadataDay, dataRange, dataDay] as const;
