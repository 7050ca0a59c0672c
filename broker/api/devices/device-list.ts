// The list of all devices, complete unless the caller limits it. It is read and sent in pages, so that a large fleet blocks
// no other request; it must never omit a device silently.
import { Type } from 'typebox';
import { fleetColumns } from '../../../src/core/events/fleet-row.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import type { DevicePage } from '../../store/devices/device-page.ts';
import { listDeviceIDs } from '../../store/devices/devices.ts';
import { fleetRevisions, needsWholeList, noRevisions } from '../../store/devices/fleet.ts';
import { exampleDevice } from '../answers/examples.ts';
import { type DeviceDetails, mayUpdateDevices, narrowDevice, viewDevice } from '../answers/views.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Caller } from '../base/caller.ts';
import { invalidAt } from '../base/input-members.ts';
import { operation, type Pages } from '../base/operation.ts';
import { type ReadyJson, readyJson } from '../base/ready-json.ts';
import { envelope, type ListedDevice, listedDevice, ok } from '../base/shapes.ts';
import { geozoneMap } from '../geozones/geozone-shapes.ts';
import { mayUpdateGeozones, viewZones } from '../geozones/geozone-views.ts';
import { listDetails } from './device-details.ts';
import { fleetRowMembers, listFleetRows } from './fleet-rows.ts';

/** Most devices of an answer with `limit`. */
const limitMost = 1000;

/** @param names the members of each device, besides `deviceID`; null: all. */
async function* viewPages(
  pages: Pages<DeviceDetails>,
  caller: Caller,
  names: ReadonlySet<string> | null,
): Pages<ListedDevice> {
  for await (const page of pages) {
    yield page.map((details) => {
      const view = viewDevice(details, caller);
      return names === null ? view : narrowDevice(view, names);
    });
  }
}

/** The members asked for; null: all. */
function membersOf(fields: string | undefined): ReadonlySet<string> | null {
  if (fields === undefined) return null;
  const names = fields.split(',');
  const unknown = names.find((name) => !Object.hasOwn(listedDevice.properties, name));
  if (unknown === undefined) return new Set(names);
  throw invalidAt('/fields', `${JSON.stringify(unknown)} is no member of a device`);
}

function limitOf(limit: string | undefined): number | null {
  if (limit === undefined) return null;
  if (Number(limit) <= limitMost) return Number(limit);
  throw invalidAt('/limit', `must be 1 to ${limitMost}`);
}

interface Cut {
  /** Last device of the answer. */
  readonly upTo: string | null;
  readonly more: boolean;
}

/** Where an answer of at most `limit` devices ends. */
async function cutOf({ db }: Pick<ApiServices, 'db'>, caller: Caller, page: DevicePage): Promise<Cut> {
  const ids = await listDeviceIDs(db, caller.scope, page);
  const more = ids.length > page.limit;
  return { upTo: ids[Math.min(ids.length, page.limit) - 1] ?? page.after, more };
}

interface Asked {
  readonly names: ReadonlySet<string> | null;
  readonly limit: number | null;
  readonly after: string;
  readonly since: number | null;
  readonly hasZones: boolean;
  readonly isRows: boolean;
  readonly until: AbortSignal;
  /** Equal for equal queries. */
  readonly key: string;
}

interface Shown {
  readonly next: string | null;
  readonly asOf: number;
  readonly isWhole: boolean;
}

/** The members behind the devices. */
const tailOf = (caller: Caller, { limit, since }: Asked, { next, asOf, isWhole }: Shown) => ({
  hasUpdateDevicePrivileges: mayUpdateDevices(caller),
  ...(limit === null ? {} : { more: next !== null, next }),
  ...(since === null ? {} : { asOf, isWhole }),
});

/** From memory; null: the fleet is too large for that. */
async function fromCache(services: ApiServices, caller: Caller, asked: Asked): Promise<ReadyJson | null> {
  const { fleet } = services;
  const mayUpdate = mayUpdateDevices(caller);
  const inTurn = (work: () => Promise<void>) => services.pageLimit.runBusy(caller, asked.until, work);
  const part = await fleet.part(caller, { ...asked, mayUpdate, userID: caller.userID, inTurn });
  const mayUpdateZones = mayUpdateGeozones(caller);
  const zones = asked.hasZones ? await fleet.zones(caller, mayUpdateZones) : [];
  if (part === null || zones === null) return null;
  const { revision, pieces, next, isWhole } = part;
  const head = JSON.stringify(ok).slice(0, -1);
  const tail = JSON.stringify(tailOf(caller, asked, { next, asOf: revision, isWhole })).slice(1);
  return readyJson(
    () => [
      Buffer.from(`${head},"geozones":{`),
      ...zones,
      Buffer.from('},"devices":['),
      ...pieces(),
      Buffer.from(`],${tail}`),
    ],
    JSON.stringify([revision, caller.scope, mayUpdate, mayUpdateZones, asked.key]),
  );
}

/** Read page by page while it is sent. */
async function fromStore(services: ApiServices, caller: Caller, asked: Asked) {
  const { names, limit, after, isRows } = asked;
  const revisions = (await fleetRevisions(services.db, caller.accountID)) ?? noRevisions;
  const asOf = revisions.fleet;
  const isWhole = needsWholeList(revisions, asked.since);
  const range = { after, since: isWhole ? null : asked.since };
  const cut = limit === null ? null : await cutOf(services, caller, { ...range, limit });
  const part = { ...range, upTo: cut?.upTo ?? null };
  return {
    ...ok,
    geozones: asked.hasZones ? viewZones(services, caller) : {},
    devices: isRows ? [] : viewPages(listDetails(services.db, caller.scope, part), caller, names),
    ...(isRows ? { columns: [...fleetColumns], rows: listFleetRows(services.db, caller.scope, part) } : {}),
    ...tailOf(caller, asked, { next: cut?.more === true ? cut.upTo : null, asOf, isWhole }),
  };
}

const getAllDevices = operation({
  id: 'getAllDevices',
  method: 'GET',
  path: '/device/getalldevices/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Devices',
  summary: 'All devices of the account',
  isConditional: true,
  description: `Every device that the caller may see in the order of device ids, each with its last position, sensors,
feature states and pending commands. \`geozones\` is an object with every geozone of the account by its id;
it is empty for a token that names devices or groups.

The answer is complete. It carries an \`ETag\`: send it back in \`If-None-Match\`, and an unchanged fleet is answered with
304 and no body. A fleet of more than some 60,000 devices is not held in memory: of its list only one that is shorter than 4 MiB
compressed has a tag. Send \`Accept-Encoding: br\` or \`gzip\`: a fleet shrinks to a twentieth.

Who wants less asks for less:

- \`limit\` (1 to ${limitMost}) gives so many devices at most; \`more\` says whether there are further ones, and \`next\` is
  the \`cursor\` to ask for them with. Without \`limit\` neither member is there.
- \`cursor\` gives the devices after that device id; \`geozones\` is then empty, because the first page had them.
- \`fields\` is a list of device members with commas between them; each device then has these only, and \`deviceID\`.
- \`since\` gives only devices of which something in this answer changed after that revision of the fleet: they reported, were
  changed by a user, or have a command that moved on. Begin with 0; \`asOf\` is the \`since\` to ask with next time. When devices
  or groups came or went meanwhile, \`isWhole\` is true and the answer is the whole list, to be put in the place of the
  former one. With \`limit\`, begin anew when a later page says so and the first one did not.
- \`form=rows\` gives what a map and a list of vehicles need, a tenth of the bytes: \`rows\` has an array for each device,
  \`columns\` names its members; \`devices\` and \`geozones\` are then empty. Members are named as in a device, with these
  differences: \`fuelLevelAverage\` is a number; \`ignition\`, \`enginecutoff\` and \`cargoaccess\` are what the unit reported,
  null before; \`online\` and \`features\` are those of \`diagnosticall\`, where \`online\` raises no revision: between two
  readings the live stream has it; \`pending\` lists the changes of relays that are under way, null when there is none.
  Without \`fields\`.

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
      form: Type.Optional(
        Type.String({ pattern: '^rows$', description: '`rows`: an array for each device; without `fields`' }),
      ),
      since: Type.Optional(
        Type.String({
          pattern: '^[0-9]{1,16}$',
          description: '`asOf` of an earlier answer, or 0; only devices that changed since',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  body: null,
  result: Type.Object({
    ...envelope,
    geozones: geozoneMap,
    devices: Type.Array(listedDevice, { description: 'In the order of device ids' }),
    ...fleetRowMembers,
    hasUpdateDevicePrivileges: Type.Boolean({ description: 'Whether the caller may update devices' }),
    more: Type.Optional(Type.Boolean({ description: 'With `limit`: whether there are further devices' })),
    next: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'With `limit`: the `cursor` of the further devices; null at the end',
      }),
    ),
    asOf: Type.Optional(
      Type.Integer({ minimum: 0, description: 'With `since`: the `since` of the next call' }),
    ),
    isWhole: Type.Optional(
      Type.Boolean({
        description: 'With `since`: true when this is the whole list and not only what changed',
      }),
    ),
  }),
  errors: ['invalid_content'],
  effects: false,
  examples: { result: { geozones: {}, devices: [exampleDevice], hasUpdateDevicePrivileges: true } },
  async run({ query, caller, until }, services) {
    const limit = limitOf(query.limit);
    const isRows = query.form === 'rows';
    if (isRows && query.fields !== undefined) throw invalidAt('/fields', 'a row has all of its columns');
    const asked: Asked = {
      names: membersOf(query.fields),
      limit,
      after: query.cursor ?? '',
      since: query.since === undefined ? null : Number(query.since),
      // A token that names devices may not read the zones of the account.
      hasZones: !isRows && query.cursor === undefined && caller.scope.within === undefined,
      isRows,
      key: JSON.stringify(query),
      until: until(),
    };
    const held = isRows ? null : await fromCache(services, caller, asked);
    return held ?? fromStore(services, caller, asked);
  },
});

export const deviceListOperations = [getAllDevices] as const;
