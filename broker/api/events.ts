// Event data of one device: the newest record, a time range, and its alerts. An answer is complete or it is refused;
// it must never be cut short in silence.
import { Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';
import { activationCodes } from '../core/activation.ts';
import { aheadMostMs } from '../core/projection.ts';
import {
  type DeviceOf,
  type EventRange,
  type EventRow,
  eventsInRange,
  latestEvents,
  latestEventUntil,
} from '../store/events.ts';
import { needDevice, readParts } from './devices.ts';
import { exampleEvent, exampleMetadata, exampleSensors, exampleState } from './examples.ts';
import { type ApiServices, operation } from './operation.ts';
import { envelope, eventAnswer, eventData, metadataEntry, ok, sensorMap, stateMap } from './shapes.ts';
import { mayUpdateDevices, viewEvent, viewMetadata, viewStates } from './views.ts';

/** Most records of one answer; about 10 MB of JSON. */
const recordsMost = 20_000;
const pageSize = 5000;
const daySeconds = 24 * 3600;

/** Epoch seconds in a path; 0 is a wildcard. Ten digits reach the year 2286. */
const epochText = (wildcard: string) =>
  Type.String({ pattern: '^[0-9]{1,10}$', description: `Epoch seconds; 0 = ${wildcard}` });

/** @throws AppError `invalid_content` when there are more than `recordsMost`. */
async function readRange(
  services: ApiServices,
  range: Omit<EventRange, 'after' | 'limit'>,
): Promise<readonly EventRow[]> {
  const found: EventRow[] = [];
  let after: EventRange['after'] = null;
  while (found.length <= recordsMost) {
    // One record beyond the limit is enough to know.
    const limit = Math.min(pageSize, recordsMost + 1 - found.length);
    const page = await eventsInRange(services.db, { ...range, after, limit });
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return found;
    after = { timestampMs: last.timestampMs, eventNo: last.eventNo };
  }
  throw new AppError('invalid_content', `the range holds more than ${recordsMost} records`, {
    hint: `Ask for a shorter range; the first ${recordsMost} records end at ${Math.floor((found[recordsMost - 1]?.timestampMs ?? 0) / 1000)}.`,
  });
}

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
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
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
    const device = await needDevice(services, caller, params.deviceID);
    const rows = await newestOf(services, { scope: caller.scope, deviceID: device.deviceID });
    return { ...ok, eventdata: { devices: rows.map((row) => viewEvent(row, device.description)) } };
  },
});

const deviceMetadata = operation({
  id: 'deviceMetadataRange',
  method: 'GET',
  path: '/eventdata/devicemetadata/{deviceID}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Records of a device over a time range',
  description: `Every record from startTime to endTime by event time, both included, oldest first: as \`metadata\` entries
(coordinates and codes as decimal text) and as \`eventdata\` records, with the device's present \`sensors\` and \`state\`.
startTime 0 = from the beginning; endTime 0 = up to now, including records of a vehicle whose clock runs ahead.
A startTime after endTime answers 422.

The answer is complete. A range of more than ${recordsMost} records answers 422 with a hint at which time to cut it.`,
  params: Type.Object({
    deviceID: Type.String({ description: 'The device' }),
    startTime: epochText('from the beginning'),
    endTime: epochText('now'),
  }),
  body: null,
  result: Type.Object({
    ...envelope,
    metadata: Type.Array(metadataEntry, { description: 'The same records in short, oldest first' }),
    eventdata: eventData,
    sensors: sensorMap,
    state: stateMap,
    hasUpdateDevicePrivileges: Type.Boolean({ description: 'Whether the caller may update devices' }),
  }),
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: {
    params: { deviceID: 'truck-17', startTime: '1763680000', endTime: '0' },
    body: null,
    result: {
      ...ok,
      metadata: [exampleMetadata],
      eventdata: { devices: [exampleEvent] },
      sensors: exampleSensors,
      state: exampleState,
      hasUpdateDevicePrivileges: true,
    },
  },
  async run({ params, caller }, services) {
    const { scope } = caller;
    const { deviceID } = params;
    const parts = await readParts(services, caller, deviceID);
    const startS = Number(params.startTime);
    const endS = Number(params.endTime);
    if (endS !== 0 && startS > endS) {
      throw new AppError('invalid_content', 'startTime is after endTime', {
        details: [{ pointer: '/startTime', message: 'must not be after endTime' }],
      });
    }
    const toMs = endS === 0 ? Number.MAX_SAFE_INTEGER : endS * 1000 + 999;
    const rows = await readRange(services, {
      scope,
      deviceID,
      fromMs: startS * 1000,
      toMs,
      statusCodes: null,
    });
    return {
      ...ok,
      metadata: rows.map((row) => viewMetadata(row, parts.row)),
      eventdata: { devices: rows.map((row) => viewEvent(row, parts.row.description)) },
      ...viewStates(parts),
      hasUpdateDevicePrivileges: mayUpdateDevices(caller),
    };
  },
});

const deviceActivations = operation({
  id: 'getDeviceActivations',
  method: 'GET',
  path: '/device/getdeviceactivations/{deviceID}/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Alerts of a device in the last 24 hours',
  description: `The records of the last 24 hours by event time whose status code is an alert of one of the four
categories fuel, activations (inputs, panic, alarm, intrusion), cargo (doors, breach, lock) and base (zones, towing,
tamper, supply), oldest first. A record more than a day in the future counts by the time of its arrival.`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  body: null,
  result: eventAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: {
    params: { deviceID: 'truck-17' },
    body: null,
    result: {
      ...ok,
      eventdata: { devices: [{ ...exampleEvent, statusCode: 63553, statusDescription: 'Panic' }] },
    },
  },
  async run({ params, caller }, services) {
    const { scope } = caller;
    const { deviceID } = params;
    const device = await needDevice(services, caller, deviceID);
    const nowMs = Math.round(services.clock.utcMs());
    const fromMs = nowMs - daySeconds * 1000;
    // No upper end: an alarm of a clock that runs ahead is shown too, but for a day and not until that time has come.
    const toMs = Number.MAX_SAFE_INTEGER;
    const found = await readRange(services, { scope, deviceID, fromMs, toMs, statusCodes: activationCodes });
    const rows = found.filter((row) => row.timestampMs <= nowMs + aheadMostMs || row.receivedMs >= fromMs);
    return { ...ok, eventdata: { devices: rows.map((row) => viewEvent(row, device.description)) } };
  },
});

export const eventOperations = [latest, deviceMetadata, deviceActivations] as const;
