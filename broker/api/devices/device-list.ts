// The list of all devices, complete unless the caller asks for less. It is read and sent in pages, so that a large fleet
// holds up nobody; it must never leave a device out in silence.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import type { DevicePage } from '../../store/device-page.ts';
import { type DeviceRow, listDeviceIDs, listDevices, listStates } from '../../store/devices.ts';
import { exampleDevice } from '../examples.ts';
import { geozoneMap } from '../geozones/geozone-shapes.ts';
import { viewZones } from '../geozones/geozone-views.ts';
import { type ApiServices, type Caller, operation, type Pages } from '../operation.ts';
import { type DeviceView, device, envelope, ok } from '../shapes.ts';
import { mayUpdateDevices, viewDevice } from '../views.ts';
import { pendingOn } from './pending.ts';

/** Devices read at once: a few milliseconds of work, then others have their turn. */
const devicesPerPage = 100;
/** Most devices of an answer with `limit`. */
const limitMost = 1000;
/** What is being stored while the list is read may carry a time this much older. */
const overlapS = 15;

type Reader = Pick<ApiServices, 'db'>;

async function viewPage(
  { db }: Reader,
  caller: Caller,
  page: { readonly rows: readonly DeviceRow[]; readonly sinceMs: number | null },
): Promise<readonly DeviceView[]> {
  const { rows, sinceMs } = page;
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return [];
  const span = { from: first.deviceID, to: last.deviceID, sinceMs };
  const [states, pending] = await Promise.all([
    listStates(db, caller.scope, span),
    pendingOn(db, caller.scope, span),
  ]);
  return rows.map((row) =>
    viewDevice(
      { row, states: states.get(row.deviceNo) ?? new Map(), pending: pending.get(row.deviceNo) ?? [] },
      caller,
    ),
  );
}

/** What of the list is asked for. */
type Range = Omit<DevicePage, 'limit'>;

async function* devicesOf(services: Reader, caller: Caller, range: Range): Pages<DeviceView> {
  let { after } = range;
  for (;;) {
    const rows = await listDevices(services.db, caller.scope, { ...range, after, limit: devicesPerPage });
    if (rows.length > 0) yield await viewPage(services, caller, { rows, sinceMs: range.sinceMs ?? null });
    const last = rows.at(-1);
    if (last === undefined || rows.length < devicesPerPage) return;
    after = last.deviceID;
  }
}

/** Devices with the given members only; always with `deviceID`. */
async function* narrowed(pages: Pages<DeviceView>, names: ReadonlySet<string>): Pages<{ deviceID: string }> {
  for await (const views of pages) {
    yield views.map(({ deviceID, ...others }) => ({
      deviceID,
      ...Object.fromEntries(Object.entries(others).filter(([name]) => names.has(name))),
    }));
  }
}

function invalid(pointer: string, message: string): AppError {
  return new AppError('invalid_content', `${pointer} ${message}`, { details: [{ pointer, message }] });
}

/** The members asked for; null: all. */
function membersOf(fields: string | undefined): ReadonlySet<string> | null {
  if (fields === undefined) return null;
  const names = fields.split(',');
  const unknown = names.find((name) => !Object.hasOwn(device.properties, name));
  if (unknown === undefined) return new Set(names);
  throw invalid('/fields', `${JSON.stringify(unknown)} is no member of a device`);
}

function limitOf(limit: string | undefined): number | null {
  if (limit === undefined) return null;
  if (Number(limit) <= limitMost) return Number(limit);
  throw invalid('/limit', `must be 1 to ${limitMost}`);
}

interface Cut {
  /** Last device of the answer. */
  readonly upTo: string | null;
  readonly more: boolean;
}

/** Where an answer of at most `limit` devices ends. */
async function cutOf({ db }: Reader, caller: Caller, page: DevicePage): Promise<Cut> {
  const ids = await listDeviceIDs(db, caller.scope, page);
  const more = ids.length > page.limit;
  return { upTo: ids[Math.min(ids.length, page.limit) - 1] ?? page.after, more };
}

const getAllDevices = operation({
  id: 'getAllDevices',
  method: 'GET',
  path: '/device/getalldevices/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  tag: 'Devices',
  summary: 'All devices of the account',
  isConditional: true,
  description: `Every device that the caller may see in the order of device ids, each with its last position, sensors,
feature states and pending commands. \`geozones\` is an object with every geozone of the account by its id.

The answer is complete. It carries an \`ETag\`: send it back in \`If-None-Match\`, and an unchanged fleet is answered with
304 and no body. Send \`Accept-Encoding: br\` or \`gzip\`: a fleet shrinks to a twentieth.

Who wants less asks for less:

- \`limit\` (1 to ${limitMost}) gives so many devices at most; \`more\` says whether there are further ones, and \`next\` is
  the \`cursor\` to ask for them with. Without \`limit\` neither member is there.
- \`cursor\` gives the devices after that device id; \`geozones\` is then empty, because the first page had them.
- \`fields\` is a list of device members with commas between them; each device then has these only, and \`deviceID\`.
- \`since\` (epoch seconds) gives only devices that reported, were changed by somebody or have a command that moved on since
  then. \`asOf\` is the \`since\` to ask with next time: it lies ${overlapS} seconds back, so a device may be given twice and
  never not at all. **A deleted device is not told of this way:** read the whole list now and then.

An unknown query parameter answers 422.`,
  params: Type.Object({}),
  query: Type.Object(
    {
      limit: Type.Optional(
        Type.String({ pattern: '^[1-9][0-9]{0,3}$', description: `Most devices, 1 to ${limitMost}` }),
      ),
      cursor: Type.Optional(
        Type.String({ pattern: idPatternSource, description: '`next` of the last answer' }),
      ),
      fields: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z_]+(,[A-Za-z_]+)*$',
          maxLength: 2000,
          description: 'Members of the devices, with commas between them',
        }),
      ),
      since: Type.Optional(
        Type.String({
          pattern: '^[0-9]{1,10}$',
          description: 'Epoch seconds; only devices with something new',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  body: null,
  result: Type.Object({
    ...envelope,
    geozones: geozoneMap,
    devices: Type.Union([
      Type.Array(device, { description: 'In the order of device ids' }),
      Type.Array(Type.Object({ deviceID: Type.String({ description: 'Identifier of the device' }) }), {
        description: 'With `fields`: the members asked for',
      }),
    ]),
    hasUpdateDevicePrivileges: Type.Boolean({ description: 'Whether the caller may update devices' }),
    more: Type.Optional(Type.Boolean({ description: 'With `limit`: whether there are further devices' })),
    next: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'With `limit`: the `cursor` of the further devices; null at the end',
      }),
    ),
    asOf: Type.Optional(
      Type.Integer({ minimum: 0, description: 'With `since`: the `since` of the next call (epoch seconds)' }),
    ),
  }),
  errors: ['invalid_content'],
  effects: false,
  examples: {
    params: {},
    body: null,
    result: { ...ok, geozones: {}, devices: [exampleDevice], hasUpdateDevicePrivileges: true },
  },
  async run({ query, caller }, services) {
    const names = membersOf(query.fields);
    const limit = limitOf(query.limit);
    const nowS = Math.floor(services.clock.utcMs() / 1000);
    const sinceMs = query.since === undefined ? null : Number(query.since) * 1000;
    const range = { after: query.cursor ?? '', sinceMs };
    const cut = limit === null ? null : await cutOf(services, caller, { ...range, limit });
    const pages = devicesOf(services, caller, { ...range, upTo: cut?.upTo ?? null });
    return {
      ...ok,
      geozones: query.cursor === undefined ? viewZones(services, caller) : {},
      devices: names === null ? pages : narrowed(pages, names),
      hasUpdateDevicePrivileges: mayUpdateDevices(caller),
      ...(cut === null ? {} : { more: cut.more, next: cut.more ? cut.upTo : null }),
      ...(sinceMs === null ? {} : { asOf: Math.max(0, nowS - overlapS) }),
    };
  },
});

export const deviceListOperations = [getAllDevices] as const;
