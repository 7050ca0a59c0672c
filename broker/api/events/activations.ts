// Alerts: of a device, of the fleet, their summary, and one that a user records for a device. Such a record goes through
// the same ingest as a vehicle's events, and must never claim a relay move or the outcome of a command.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { statusText } from '../../../src/core/events/status-codes.ts';
import {
  type ActivationCategory,
  activationCodes,
  codesByCategory,
  raisableCodes,
} from '../../core/events/activation.ts';
import { impliedState } from '../../core/events/implied-state.ts';
import { createQueues } from '../../scheduling/queues.ts';
import { deviceStates } from '../../store/devices/devices.ts';
import { countByCode } from '../../store/events/event-counts.ts';
import { bareKey } from '../../store/events/event-insert.ts';
import { codesKeys, deviceKeys, type KeyRange } from '../../store/events/event-keys.ts';
import { eventNoOf, isNewEvent } from '../../store/events/event-records.ts';
import { lastEventNo } from '../../store/slices/slices.ts';
import { exampleEvent } from '../answers/examples.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { count, envelope, ok } from '../base/shapes.ts';
import { needDevice, unknownDevice } from '../base/visible-device.ts';
import {
  eventListAnswer,
  eventPages,
  findEvents,
  type ListQuery,
  lastDay,
  listQuery,
  oneRecord,
  queryText,
  rangeParams,
  type Span,
  spanOf,
  wholeListText,
} from './event-list.ts';

const categoryText = `fuel (refill, theft, low, sender faulty), activations (inputs, panic, alarm, intrusion), cargo (breach)
and base (zones with an alert, towing, tamper, supply and battery). Doors and locks that moved, and zones without an
alert setting, are records but no alerts`;
const dayText = `of the last 24 hours by event time, oldest first. A record more than a day in the future counts by the
time of its arrival`;

const deviceParam = { deviceID: Type.String({ description: 'The device' }) } as const;
const example = {
  ...ok,
  eventdata: { devices: [{ ...exampleEvent, statusCode: 63553, statusDescription: 'Panic' }] },
};

interface Selection {
  readonly deviceID: string;
  readonly span: Span;
  readonly query: ListQuery;
}

async function answerDevice(services: ApiServices, caller: Caller, { deviceID, span, query }: Selection) {
  await needDevice(services, caller, deviceID);
  const codes = new Set(activationCodes);
  const listing = await findEvents(services, caller, {
    subject: `device-activations ${deviceID} ${span.toMs}`,
    span,
    query,
    open: (range: KeyRange) =>
      deviceKeys(services.archive, { ...range, deviceID, isAlertsOnly: true }, codes),
  });
  return { ...ok, eventdata: { devices: eventPages(services, caller, listing) }, ...listing.page };
}

const ofDevice = operation({
  id: 'getDeviceActivations',
  method: 'GET',
  path: '/device/getdeviceactivations/{deviceID}/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Alerts of a device in the last 24 hours',
  description: `The records ${dayText}, whose status code is an alert of one of the four categories ${categoryText}.

${queryText}

${wholeListText}`,
  params: Type.Object(deviceParam),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { result: example },
  run: ({ params, query, caller }, services) =>
    answerDevice(services, caller, { deviceID: params.deviceID, span: lastDay(services), query }),
});

const ofDeviceRange = operation({
  id: 'getDeviceActivationsRange',
  method: 'GET',
  path: '/device/getdeviceactivations/{deviceID}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Alerts of a device over a time range',
  description: `The records from startTime to endTime by event time, both included, oldest first, whose status code is an
alert of one of the four categories ${categoryText}. startTime 0 = from the beginning; endTime 0 = up to now, including
records of a vehicle whose clock runs ahead. A startTime after endTime answers 422.

${queryText}

${wholeListText}`,
  params: Type.Object({ ...deviceParam, ...rangeParams }),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { result: example },
  run: ({ params, query, caller }, services) =>
    answerDevice(services, caller, { deviceID: params.deviceID, span: spanOf(params), query }),
});

const ofFleet = operation({
  id: 'activations',
  method: 'GET',
  path: '/events/activations/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Alerts of the fleet in the last 24 hours',
  description: `The records ${dayText}, of every device that the caller sees, whose status code is an alert of one of the
four categories ${categoryText}.

${queryText}

${wholeListText}`,
  params: Type.Object({}),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['invalid_content'],
  effects: false,
  examples: { result: example },
  async run({ query, caller }, services) {
    const listing = await findEvents(services, caller, {
      subject: 'fleet-activations',
      span: lastDay(services),
      query,
      open: (range: KeyRange) =>
        codesKeys(services.archive, { ...range, isAlertsOnly: true }, activationCodes),
    });
    return { ...ok, eventdata: { devices: eventPages(services, caller, listing) }, ...listing.page };
  },
});

const summaryAnswer = Type.Object({
  ...envelope,
  fuel: count('Refill, theft, low, sender faulty'),
  activations: count('Inputs on, panic, vehicle alarm, intrusion'),
  cargo: count('Breach: the cargo was opened while access was not allowed'),
  base: count('Arrival at and departure from zones with an alert, towing, tamper, power lost, battery low'),
});
type Counts = Pick<Static<typeof summaryAnswer>, ActivationCategory>;

const summary = operation({
  id: 'activationSummary',
  method: 'GET',
  path: '/events/activations/summary/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Count of alerts in the last 24 hours',
  description: `How many alerts of each category the devices that the caller sees had in the last 24 hours by event time:
exactly the records that \`activations\` lists. A record more than a day in the future counts by the time of its arrival.
Status codes: fuel 63825, 63826, 63828, 63838; activations 62496-62527, 62466, 63553, 63559, 63617; cargo 63625;
base 61968 and 62000 (unless the zone asks for no alert), 63601, 63621, 64787, 64784. The counts stand at the root of the
answer.`,
  params: Type.Object({}),
  body: null,
  result: summaryAnswer,
  errors: [],
  effects: false,
  examples: { result: { fuel: 0, activations: 1, cargo: 2, base: 3 } },
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

/** @throws AppError `invalid_content` for a code that is none or that only a vehicle can send. */
function raisableOf(text: string): number {
  const code = Number(text);
  if (raisableCodes.includes(code)) return code;
  throw new AppError('invalid_content', `Status code ${text} cannot be recorded by a person`, {
    details: [{ pointer: '/statusCode', message: `must be one of ${raisableCodes.join()}` }],
    hint: 'Only the vehicle itself reports positions, relays and commands.',
  });
}

/** The record as ingest makes it: its key depends on all of it. */
const recordOf = (timestamp: number, statusCode: number, userID: string) => {
  const event = { timestamp, statusCode, attributes: { by: userID } };
  const stored = { ...event, seq: 0, upMs: null, timeQuality: 'rtc' } as const;
  return { event, known: { ...bareKey(stored, timestamp), timestampMs: timestamp } };
};

/** A repeat within this time is the same record, as with commands. */
const sameRecordS = 10;

interface Activation {
  readonly deviceNo: number;
  readonly statusCode: number;
  /** The second of the call, epoch ms. */
  readonly atMs: number;
}

/** The record of the last seconds that this call repeats: same code, same user, and an unchanged device. Null: none. */
async function repeatedNo(services: ApiServices, caller: Caller, raised: Activation): Promise<number | null> {
  const { deviceNo, statusCode, atMs } = raised;
  const implied = impliedState(statusCode);
  const states = implied === null ? null : await deviceStates(services.db, deviceNo);
  if (implied !== null && states?.get(implied.name)?.state !== implied.state) return null;
  for (let back = 1; back < sameRecordS; back++) {
    const { known } = recordOf(atMs - back * 1000, statusCode, caller.userID);
    const eventNo = await eventNoOf(services.db, { deviceNo }, known);
    if (eventNo !== null) return eventNo;
  }
  return null;
}

const turns = createQueues();

/** Records it, or finds what it repeats. @returns the number of the record. @throws AppError `not_found`. */
async function raise(
  services: ApiServices,
  actor: Actor,
  activation: { readonly deviceID: string; readonly deviceNo: number; readonly statusCode: number },
): Promise<number> {
  const { deviceID, deviceNo, statusCode } = activation;
  const { accountID, userID } = actor.caller;
  const timestamp = Math.floor(services.clock.utcMs() / 1000) * 1000;
  const repeated = await repeatedNo(services, actor.caller, { deviceNo, statusCode, atMs: timestamp });
  if (repeated !== null) return repeated;
  const { event, known } = recordOf(timestamp, statusCode, userID);
  const entry = auditEntry(services, actor, {
    action: 'event.create',
    object: deviceID,
    detail: { statusCode, text: statusText(statusCode), timestamp },
    onlyIf: await isNewEvent(services.db, deviceNo, known),
  });
  const payload = new TextEncoder().encode(JSON.stringify(event));
  const outcome = await services.ingest.submit({ accountID, deviceID, deviceNo }, payload, [entry]);
  const eventNo = outcome.kind === 'stored' ? await eventNoOf(services.db, { deviceNo }, known) : null;
  if (eventNo === null) throw unknownDevice(deviceID);
  return eventNo;
}

const create = operation({
  id: 'createActivation',
  method: 'GET',
  path: '/events/createactivation/{deviceID}/{statusCode}/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Events',
  summary: "Record an alert on a device's behalf",
  description: `Stores a record of now with that status code for the device, with the attribute \`by\` naming the user, and
gives it back. It has no position. It counts, shows and notifies like one that the vehicle sent: a panic sets the sensor
\`panic\`, its end 63554 clears it.

Once per device and status code: a call that the same user repeats within ${sameRecordS} seconds gives the same record and changes
nothing, unless the state that it says was changed in between (a panic that was ended). The record is no sign of life: it changes
neither \`deviceLastHeartbeat\` nor the last position, also of a device that never sent anything.
Allowed are the alerts of the four categories, doors and notices: 61508 (notice), 62466, 62496-62527, 62672-62677, 62688-62693,
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
  examples: { params: { deviceID: 'truck-17', statusCode: '63553' }, result: example },
  async run({ params, caller, source }, services) {
    const statusCode = raisableOf(params.statusCode);
    const { deviceID, deviceNo } = await needDevice(services, caller, params.deviceID);
    const actor = { caller, source };
    // One after the other: of two at once the second one finds the first.
    const eventNo = await turns.run(`${caller.accountID}/${deviceNo}`, () =>
      raise(services, actor, { deviceID, deviceNo, statusCode }),
    );
    return {
      ...ok,
      eventdata: { devices: eventPages(services, caller, oneRecord(eventNo)) },
    };
  },
});

export const activationOperations = [ofDevice, ofDeviceRange, ofFleet, summary, create] as const;
