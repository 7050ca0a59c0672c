// Health of the units: the last diagnostic report of each, and which are silent. A value that was not reported is null.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { AppError } from '../../../src/core/errors.ts';
import { formatDeviceUser } from '../../../src/core/wire/topics.ts';
import {
  type DiagnosticRow,
  findDiagnostic,
  listDiagnostics,
  type SilentKey,
  silentDevices,
} from '../../store/devices/diagnostics.ts';
import { exampleDevice } from '../answers/examples.ts';
import { viewDevice } from '../answers/views.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Caller } from '../base/caller.ts';
import { operation, type Pages } from '../base/operation.ts';
import { type DeviceView, device, envelope, epoch, ok } from '../base/shapes.ts';
import { unknownDevice } from '../base/visible-device.ts';
import { readDevice } from './device-details.ts';

const said = (description: string) =>
  Type.Union([Type.Number(), Type.String(), Type.Null()], {
    description: `${description}; null when the unit did not report it`,
  });

const diagnosticMembers = {
  deviceID: Type.String({ description: 'The device' }),
  online: Type.Boolean({
    description:
      'Whether the unit is connected now; one that says no hello: whether it was heard within its usual time',
  }),
  lastHeartbeat: epoch('Last message of the device; 0 for a new device'),
  lastHello: epoch('When the unit last connected and described itself; 0 before that'),
  agentVersion: Type.String({ description: 'Program of the unit; empty before its first hello' }),
  boot: Type.Union([Type.String(), Type.Null()], {
    description: 'Its running boot; null before its first hello',
  }),
  features: Type.Array(Type.String(), { description: 'Relays that are fitted' }),
  sensors: Type.Array(Type.String(), { description: 'Inputs that are fitted' }),
  timeQuality: Type.String({ description: 'Where its clock came from: none, rtc, ntp, server, gnss' }),
  clockAhead: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description:
      'By how many seconds its clock is ahead, where its newest records have times that lie more than 5 minutes in the future; null where they do not. With more than a day its positions move nothing',
  }),
  overLimit: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
    description:
      'Messages of the last hour that came faster than its limit or that of the account, and were taken more slowly, at the broker that answers; null: none there',
  }),
  lastFix: epoch('Last valid position; 0 while there is none'),
  diagnosticTime: epoch('When it last reported its health; 0 before the first time'),
  queueDepth: said('Events that wait on the unit'),
  voltage: said('Supply in volts'),
  gps: said('Its receiver; fleetward-agent sends `fix`, `no-fix` or `no-port`'),
  disk: said('Free space on its disk in MiB'),
  diagnostic: Type.Record(Type.String(), Type.Unknown(), {
    description: 'All attributes of its newest Diagnostic record, as sent; empty before the first',
  }),
} as const;
const diagnosticEntry = Type.Object(diagnosticMembers);
type DiagnosticView = Static<typeof diagnosticEntry>;

function view(row: DiagnosticRow, overLimit: number | null): DiagnosticView {
  const diagnostic = row.diagnostic ?? {};
  const attribute = (name: string): string | number | null => {
    const value = Object.hasOwn(diagnostic, name) ? diagnostic[name] : null;
    return typeof value === 'string' || typeof value === 'number' ? value : null;
  };
  return {
    deviceID: row.deviceID,
    online: row.isOnline,
    lastHeartbeat: epochSeconds(row.heartbeatMs),
    lastHello: epochSeconds(row.helloMs),
    agentVersion: row.agentVersion,
    boot: row.boot,
    features: [...row.features],
    sensors: [...row.sensors],
    timeQuality: row.timeQuality,
    clockAhead: row.clockAheadS,
    overLimit,
    lastFix: epochSeconds(row.fixMs),
    diagnosticTime: epochSeconds(row.diagnosticMs),
    queueDepth: attribute('queueDepth'),
    voltage: attribute('voltage'),
    gps: attribute('gps'),
    disk: attribute('disk'),
    diagnostic,
  };
}

const example: DiagnosticView = {
  deviceID: 'truck-17',
  online: true,
  lastHeartbeat: 1763683200,
  lastHello: 1763680000,
  agentVersion: '0.1.0',
  boot: '9f3c2a1b00d4e5f6',
  features: ['enginecutoff', 'cargoaccess'],
  sensors: ['ignition', 'panic', 'cargoDoor'],
  timeQuality: 'gnss',
  clockAhead: null,
  overLimit: null,
  lastFix: 1763683199,
  diagnosticTime: 1763683100,
  queueDepth: 0,
  voltage: 13.8,
  gps: 'fix',
  disk: 5120,
  diagnostic: { queueDepth: 0, voltage: 13.8, gps: 'fix', disk: 5120 },
};

const source = `\`queueDepth\`, \`voltage\`, \`gps\` and \`disk\` are the attributes of these names in the unit's newest
record of status code 64816 (Diagnostic), as sent; \`diagnostic\` holds all its attributes. fleetward-agent sends one a minute
after its start, then every \`diagnostics.diagnosticsS\` seconds (6 hours unless set otherwise), and when \`requestDiagnostic\`
asks for it. A unit that sends none has null there. The other members come from its connection.`;

const pageSize = 500;

/** Makes the views of one request. The list of devices over their limit is read once for all of them. */
function viewFor({ metrics }: ApiServices, { accountID }: Caller): (row: DiagnosticRow) => DiagnosticView {
  const over = new Map(metrics().overLimit.map(({ name, lastHour }) => [name, lastHour]));
  return (row) => view(row, over.get(formatDeviceUser({ accountID, deviceID: row.deviceID })) ?? null);
}

async function* allDiagnostics(services: ApiServices, caller: Caller): Pages<DiagnosticView> {
  const viewOf = viewFor(services, caller);
  let after = '';
  for (;;) {
    const rows = await listDiagnostics(services.db, caller.scope, { after, limit: pageSize });
    if (rows.length > 0) yield rows.map(viewOf);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return;
    after = last.deviceID;
  }
}

const diagnosticAll = operation({
  id: 'diagnosticAll',
  method: 'GET',
  path: '/diagnostic/diagnosticall/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Diagnostics',
  summary: 'Health of all units',
  description: `One entry for each device that the caller may see, in the order of device ids. ${source}`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    diagnostics: Type.Array(diagnosticEntry, { description: 'In the order of device ids' }),
  }),
  errors: [],
  effects: false,
  examples: { result: { diagnostics: [example] } },
  async run({ caller }, services) {
    return { ...ok, diagnostics: allDiagnostics(services, caller) };
  },
});

const diagnostic = operation({
  id: 'diagnostic',
  method: 'GET',
  path: '/diagnostic/diagnostic/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Diagnostics',
  summary: 'Health of one unit',
  description: `The entry of diagnosticall for one device, flat. ${source}`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  body: null,
  result: Type.Object({ ...envelope, ...diagnosticMembers }),
  errors: ['not_found'],
  effects: false,
  examples: { result: example },
  async run({ params, caller }, services) {
    const row = await findDiagnostic(services.db, caller.scope, params.deviceID);
    if (row === null) throw unknownDevice(params.deviceID);
    return { ...ok, ...viewFor(services, caller)(row) };
  },
});

/** A parked vehicle's unit is never silent for a day. */
const defaultMinutes = 24 * 60;
const silentPageSize = 50;

/** The device of a page that is still there: it may be deleted while the list is sent. */
async function viewSilent(
  services: ApiServices,
  caller: Caller,
  { deviceID }: SilentKey,
): Promise<DeviceView[]> {
  try {
    return [viewDevice(await readDevice(services, caller, deviceID), caller)];
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'not_found') return [];
    throw thrown;
  }
}

async function* silent(services: ApiServices, caller: Caller, minutes: number): Pages<DeviceView> {
  const beforeMs = Math.round(services.clock.utcMs()) - minutes * 60_000;
  let after: SilentKey | null = null;
  for (;;) {
    const page: { beforeMs: number; after: SilentKey | null; limit: number } = {
      beforeMs,
      after,
      limit: silentPageSize,
    };
    const keys: readonly SilentKey[] = await silentDevices(services.db, caller.scope, page);
    const views = await Promise.all(keys.map((key) => viewSilent(services, caller, key)));
    yield views.flat();
    after = keys.at(-1) ?? null;
    if (keys.length < silentPageSize) return;
  }
}

const silentText = `as Device records, longest silent first. Silent means that the service received nothing at all
from the unit (\`deviceLastHeartbeat\`), parked or not; a device that never sent anything counts from its creation.`;
const lostResult = Type.Object({
  ...envelope,
  devices: Type.Array(device, { description: 'Longest silent first' }),
});
const lostExample = { ...ok, devices: [exampleDevice] };

const lostVehicles = operation({
  id: 'lostVehicles',
  method: 'GET',
  path: '/device/lostvehicles/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Diagnostics',
  summary: 'Devices that fell silent',
  description: `Devices that the caller may see and that were silent for more than 24 hours, ${silentText}`,
  params: Type.Object({}),
  body: null,
  result: lostResult,
  errors: [],
  effects: false,
  examples: { result: lostExample },
  async run({ caller }, services) {
    return { ...ok, devices: silent(services, caller, defaultMinutes) };
  },
});

const lostVehiclesFor = operation({
  id: 'lostVehiclesFor',
  method: 'GET',
  path: '/device/lostvehicles/{minutes}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Diagnostics',
  summary: 'Devices that were silent for longer',
  description: `Devices that the caller may see and that were silent for more than so many minutes, ${silentText}`,
  params: Type.Object({
    minutes: Type.String({ pattern: '^[1-9][0-9]{0,6}$', description: 'Minutes of silence, 1 to 9,999,999' }),
  }),
  body: null,
  result: lostResult,
  errors: ['invalid_content'],
  effects: false,
  examples: { params: { minutes: '60' }, result: lostExample },
  async run({ params, caller }, services) {
    return { ...ok, devices: silent(services, caller, Number(params.minutes)) };
  },
});

export const diagnosticOperations = [diagnosticAll, diagnostic, lostVehicles, lostVehiclesFor] as const;
