// The fleet as rows: for `form=rows` of the list of devices.
import { Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { featureNames } from '../../../src/core/events/event.ts';
import { type FleetPending, type FleetRow, fleetColumns } from '../../../src/core/events/fleet-row.ts';
import type { Database } from '../../../src/ports.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { headingOrNull, wholeOrNull } from '../../core/live/live-message.ts';
import type { DevicePage } from '../../store/devices/device-page.ts';
import { listStates } from '../../store/devices/devices.ts';
import { type FleetDevice, listFleetDevices } from '../../store/devices/fleet-rows.ts';
import type { Pending } from '../answers/pending-feature.ts';
import type { Pages } from '../base/operation.ts';
import { pendingOn, withOwnOrders } from './pending.ts';

/** Devices read at once: some milliseconds of work, then others have their turn. */
const devicesPerPage = 500;

const pending = Type.Object({
  feature: Type.Union(featureNames.map((name) => Type.Literal(name))),
  state: Type.String({ description: 'State that is wanted, `0` or `1`' }),
  commandState: Type.String({
    description: 'State of the command; `approval` while another person has to agree',
  }),
  commandID: Type.Union([Type.String(), Type.Null()]),
  approvalID: Type.Union([Type.String(), Type.Null()]),
});

/** The members that `form=rows` adds to the answer. */
export const fleetRowMembers = {
  columns: Type.Optional(
    Type.Array(Type.String(), { description: 'With `form=rows`: names of the members of each row' }),
  ),
  rows: Type.Optional(
    Type.Array(
      Type.Unsafe<FleetRow>(
        Type.Array(
          Type.Union([
            Type.String(),
            Type.Number(),
            Type.Boolean(),
            Type.Null(),
            Type.Array(Type.String()),
            Type.Array(pending),
          ]),
          { minItems: fleetColumns.length, maxItems: fleetColumns.length },
        ),
      ),
      { description: 'With `form=rows`: the devices, in the order of device ids' },
    ),
  ),
} as const;

/** Of several changes of one relay the first counts, as in the list of devices. */
function pendingOf(all: readonly Pending[]): readonly FleetPending[] | null {
  if (all.length === 0) return null;
  const found = featureNames.flatMap((feature): readonly FleetPending[] => {
    const one = all.find((each) => each.feature === feature);
    if (one === undefined) return [];
    const { commandState, commandID, approvalID } = one;
    return [{ feature, state: one.state, commandState, commandID, approvalID }];
  });
  return found.length === 0 ? null : found;
}

const rowOf = (device: FleetDevice, changes: readonly Pending[]): FleetRow => [
  device.deviceID,
  device.uniqueID,
  device.displayName,
  device.description,
  device.driver,
  epochSeconds(device.heartbeatMs),
  epochSeconds(device.fixMs),
  device.latitude,
  device.longitude,
  wholeOrNull(device.speed),
  headingOrNull(device.heading),
  device.address,
  device.geozoneID,
  device.fuelLevel === null ? null : Number(device.fuelLevel.toFixed(3)),
  device.ignition,
  device.enginecutoff,
  device.cargoaccess,
  device.isOnline,
  device.features,
  device.isForeign,
  pendingOf(changes),
];

interface RowPage {
  readonly rows: readonly FleetRow[];
  /** Its last device; null: it is the last page. */
  readonly next: string | null;
}

async function readPage(db: Database, scope: Scope, page: DevicePage): Promise<RowPage> {
  const devices = await listFleetDevices(db, scope, page);
  const [first, last] = [devices[0], devices.at(-1)];
  if (first === undefined || last === undefined) return { rows: [], next: null };
  const span = { from: first.deviceID, to: last.deviceID, since: page.since ?? null };
  // Read after the devices: a change in between has raised the revision of its device again.
  const [changes, states] = await Promise.all([
    pendingOn(db, scope, span),
    devices.some(({ hasOwnOrder }) => hasOwnOrder) ? listStates(db, scope, span) : new Map<number, never>(),
  ]);
  const rows = devices.map((device) => {
    const { deviceNo } = device;
    const [asked, own] = [changes.get(deviceNo) ?? [], states.get(deviceNo)];
    return rowOf(device, own === undefined ? asked : withOwnOrders(asked, deviceNo, own));
  });
  return { rows, next: devices.length < page.limit ? null : last.deviceID };
}

/** Devices that the caller may see as rows, by device id, page by page. A page is read while the one before is written. */
export async function* listFleetRows(
  db: Database,
  scope: Scope,
  range: Omit<DevicePage, 'limit'>,
): Pages<FleetRow> {
  const readAfter = (after: string): Promise<RowPage> => {
    const page = readPage(db, scope, { ...range, after, limit: devicesPerPage });
    // A fault is thrown when the turn of the page comes; an answer that has ended needs it no more.
    page.catch(() => undefined);
    return page;
  };
  let page: Promise<RowPage> | null = readAfter(range.after);
  while (page !== null) {
    const { rows, next }: RowPage = await page;
    page = next === null ? null : readAfter(next);
    if (rows.length > 0) yield rows;
  }
}
