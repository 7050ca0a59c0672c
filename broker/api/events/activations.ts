// Alerts: of a device, of the fleet, their summary, and one that a person records on a device's behalf. Such a record goes
// through the same ingest as a vehicle's own, and must never claim that a relay moved or what became of a command.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { statusText } from '../../../src/core/status-codes.ts';
import {
  type ActivationCategory,
  activationCodes,
  codesByCategory,
  raisableCodes,
} from '../../core/activation.ts';
import { countByCode } from '../../store/event-counts.ts';
import { bareKey } from '../../store/event-insert.ts';
import { codesKeys, deviceKeys, type KeyRange } from '../../store/event-keys.ts';
import { eventNoOf, isNewEvent } from '../../store/event-records.ts';
import { lastEventNo } from '../../store/slices.ts';
import { needDevice } from '../devices/devices.ts';
import { exampleEvent } from '../examples.ts';
import { type ApiServices, type Caller, operation } from '../operation.ts';
import { envelope, ok } from '../shapes.ts';
import { trail } from '../trail.ts';
import {
  capWords,
  eventListAnswer,
  eventPages,
  findEvents,
  type ListQuery,
  lastDay,
  listQuery,
  queryWords,
  rangeParams,
  type Span,
  spanOf,
} from './event-list.ts';

const categoryWords = `fuel (refill, theft, low, sender faulty), activations (inputs, panic, alarm, intrusion), cargo
(doors, breach, lock) and base (zones, towing, tamper, supply and battery)`;
const dayWords = `of the last 24 hours by event time, oldest first. A record more than a day in the future counts by the
time of its arrival`;

const deviceParam = { deviceID: Type.String({ description: 'The device' }) } as const;
const example = {
  ...ok,
  eventdata: { devices: [{ ...exampleEvent, statusCode: 63553, statusDescription: 'Panic' }] },
};

interface Asked {
  readonly deviceID: string;
  readonly span: Span;
  readonly query: ListQuery;
}

async function answerDevice(services: ApiServices, caller: Caller, { deviceID, span, query }: Asked) {
  await needDevice(services, caller, deviceID);
  const codes = new Set(activationCodes);
  const listing = await findEvents(services, caller, {
    subject: `device-activations ${deviceID} ${span.toMs}`,
    span,
    query,
    open: (range: KeyRange) => deviceKeys(services.archive, { ...range, deviceID }, codes),
  });
  return { ...ok, eventdata: { devices: eventPages(services, caller, listing) }, ...listing.page };
}

const ofDevice = operation({
  id: 'getDeviceActivations',
  method: 'GET',
  path: '/device/getdeviceactivations/{deviceID}/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Alerts of a device in the last 24 hours',
  description: `The records ${dayWords}, whose status code is an alert of one of the four categories ${categoryWords}.

${queryWords}

${capWords}`,
  params: Type.Object(deviceParam),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { params: { deviceID: 'truck-17' }, body: null, result: example },
  run: ({ params, query, caller }, services) =>
    answerDevice(services, caller, { deviceID: params.deviceID, span: lastDay(services), query }),
});

const ofDeviceRange = operation({
  id: 'getDeviceActivationsRange',
  method: 'GET',
  path: '/device/getdeviceactivations/{deviceID}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Alerts of a device over a time range',
  description: `The records from startTime to endTime by event time, both included, oldest first, whose status code is an
alert of one of the four categories ${categoryWords}. startTime 0 = from the beginning; endTime 0 = up to now, including
records of a vehicle whose clock runs ahead. A startTime after endTime answers 422.

${queryWords}

${capWords}`,
  params: Type.Object({ ...deviceParam, ...rangeParams }),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: {
    params: { deviceID: 'truck-17', startTime: '1763680000', endTime: '0' },
    body: null,
    result: example,
  },
  run: ({ params, query, caller }, services) =>
    answerDevice(services, caller, { deviceID: params.deviceID, span: spanOf(params), query }),
});

const ofFleet = operation({
  id: 'activations',
  method: 'GET',
  path: '/events/activations/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Alerts of the fleet in the last 24 hours',
  description: `The records ${dayWords}, of every device that the caller sees, whose status code is an alert of one of the
four categories ${categoryWords}.

${queryWords}

${capWords}`,
  params: Type.Object({}),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['invalid_content'],
  effects: false,
  examples: { params: {}, body: null, result: example },
  async run({ query, caller }, services) {
    const listing = await findEvents(services, caller, {
      subject: 'fleet-activations',
      span: lastDay(services),
      query,
      open: (range: KeyRange) => codesKeys(services.archive, range, activationCodes),
    });
    return { ...ok, eventdata: { devices: eventPages(services, caller, listing) }, ...listing.page };
  },
});

const count = (description: string) => Type.Integer({ minimum: 0, description });
const summaryAnswer = Type.Object({
  ...envelope,
  fuel: count('Refill, theft, low, sender faulty'),
  activations: count('Inputs on, panic, vehicle alarm, intrusion'),
  cargo: count('Doors opened and closed, breach, lock and unlock'),
  base: count('Zone arrival and departure, towing, tamper, power lost, battery low'),
});
type Counts = Pick<Static<typeof summaryAnswer>, ActivationCategory>;

const summary = operation({
  id: 'activationSummary',
  method: 'GET',
  path: '/events/activations/summary/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Count of alerts in the last 24 hours',
  description: `How many alerts of each category the devices that the caller sees had in the last 24 hours by event time:
exactly the records that \`activations\` lists. A record more than a day in the future counts by the time of its arrival.
Status codes: fuel 63825, 63826, 63828, 63838; activations 62496-62527, 62466, 63553, 63559, 63617; cargo 62672-62677,
62688-62693, 63625, 63637, 63638; base 61968, 62000, 63601, 63621, 64787, 64784. The counts stand at the root of the
answer.`,
  params: Type.Object({}),
  body: null,
  result: summaryAnswer,
  errors: [],
  effects: false,
  examples: { params: {}, body: null, result: { ...ok, fuel: 0, activations: 1, cargo: 14, base: 3 } },
  async run({ caller }, services) {
    const upToNo = await lastEventNo(services.archive);
    const range: KeyRange = { ...lastDay(services), scope: caller.scope, after: null, sinceNo: 0, upToNo };
    const found = await countByCode(services.archive, range, activationCodes);
    const of = (category: ActivationCategory): number =>
      codesByCategory[category].reduce((sum, code) => sum + (found.get(code) ?? 0), 0);
    const counts: Counts = {
      fuel: of('fuel'),
      activations: of('activations'),
      cargo: of('cargo'),
      base: of('base'),
    };
    return { ...ok, ...counts };
  },
});

/** @throws AppError `invalid_content` for a code that is none or that only a vehicle can tell. */
function raisableOf(text: string): number {
  const code = Number(text);
  if (raisableCodes.includes(code)) return code;
  throw new AppError('invalid_content', `status code ${text} cannot be recorded by a person`, {
    details: [{ pointer: '/statusCode', message: `must be one of ${raisableCodes.join()}` }],
    hint: 'Only the vehicle itself reports positions, relays and commands.',
  });
}

const create = operation({
  id: 'createActivation',
  method: 'GET',
  path: '/events/createactivation/{deviceID}/{statusCode}/authorization',
  forms: ['versioned'],
  access: 'operator',
  tag: 'Events',
  summary: "Record an alert on a device's behalf",
  description: `Stores a record of now with that status code for the device, with the attribute \`by\` naming the user, and
gives it back. It has no position. It counts, shows and notifies like one that the vehicle sent: a panic sets the sensor
\`panic\`, its end 63554 clears it.

Once per device, status code and second: a repeated call within the second gives the same record and changes nothing.
Allowed are the alerts of the four categories and notices: 61508 (notice), 62466, 62496-62527, 62672-62677, 62688-62693,
63553, 63554, 63559, 63560, 63601, 63602, 63617, 63618, 63621, 63622, 63625, 63626, 63825, 63826, 63828, 63838, 63839,
64784, 64786, 64787, 64789. Any other code answers 422; so do those that claim that a relay moved or a command's state
(63680, 63681, 63637, 63638, 63539, 4352-4362) and zone arrival and departure (61968, 62000): only the vehicle knows.`,
  params: Type.Object({
    ...deviceParam,
    statusCode: Type.String({ pattern: '^[0-9]{1,5}$', description: 'Decimal status code' }),
  }),
  body: null,
  result: eventListAnswer,
  errors: ['not_found', 'invalid_content', 'unavailable'],
  effects: true,
  examples: { params: { deviceID: 'truck-17', statusCode: '63553' }, body: null, result: example },
  async run({ params, caller, source }, services) {
    const statusCode = raisableOf(params.statusCode);
    const { accountID } = caller;
    const { deviceID, deviceNo } = await needDevice(services, caller, params.deviceID);
    const timestamp = Math.floor(services.clock.utcMs() / 1000) * 1000;
    const event = { timestamp, statusCode, attributes: { by: caller.userID } };
    const key = bareKey({ ...event, seq: 0, upMs: null, timeQuality: 'server' });
    const known = { ...key, timestampMs: timestamp };
    const entry = trail(
      services,
      { caller, source },
      {
        action: 'event.create',
        object: deviceID,
        detail: { statusCode, text: statusText(statusCode), timestamp },
        onlyIf: await isNewEvent(services.db, deviceNo, known),
      },
    );
    const payload = new TextEncoder().encode(JSON.stringify(event));
    const outcome = await services.ingest.submit({ accountID, deviceID, deviceNo }, payload, [entry]);
    const eventNo = outcome.kind === 'stored' ? await eventNoOf(services.db, { deviceNo }, known) : null;
    if (eventNo === null) throw new AppError('not_found', `there is no device ${JSON.stringify(deviceID)}`);
    return {
      ...ok,
      eventdata: { devices: eventPages(services, caller, { eventNos: [eventNo], fields: null }) },
    };
  },
});

export const activationOperations = [ofDevice, ofDeviceRange, ofFleet, summary, create] as const;
