// A device as answers show it, read from the store: its record, its states, and what is under way for it.
import type { Database } from '../../../src/ports.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { DevicePage } from '../../store/devices/device-page.ts';
import {
  type DeviceRow,
  deviceStates,
  findVisibleDevice,
  listDevices,
  listStates,
} from '../../store/devices/devices.ts';
import type { DeviceDetails } from '../answers/views.ts';
import type { ApiServices } from '../base/api-services.ts';
import type { Caller } from '../base/caller.ts';
import type { Pages } from '../base/operation.ts';
import { unknownDevice } from '../base/visible-device.ts';
import { pendingOf, pendingOn, withOwnOrders } from './pending.ts';

/** Devices read at once: a few milliseconds of work, then others have their turn. */
const devicesPerPage = 100;

/** One device that the caller may see, or null. */
export async function findDetails(
  db: Database,
  scope: Scope,
  deviceID: string,
): Promise<DeviceDetails | null> {
  const row = await findVisibleDevice(db, scope, deviceID);
  if (row === null) return null;
  const { deviceNo } = row;
  const [states, pending] = await Promise.all([deviceStates(db, deviceNo), pendingOf(db, deviceNo)]);
  return { row, states, pending: withOwnOrders(pending, deviceNo, states) };
}

/** One device. @throws AppError `not_found` when the caller sees none of this id. */
export async function readDevice(
  { db }: Pick<ApiServices, 'db'>,
  caller: Caller,
  deviceID: string,
): Promise<DeviceDetails> {
  const details = await findDetails(db, caller.scope, deviceID);
  if (details === null) throw unknownDevice(deviceID);
  return details;
}

async function detailsOf(
  db: Database,
  scope: Scope,
  { rows, since }: { readonly rows: readonly DeviceRow[]; readonly since: number | null },
): Promise<readonly DeviceDetails[]> {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return [];
  const span = { from: first.deviceID, to: last.deviceID, since };
  // Read after the rows: a change in between has raised the revision of its device again.
  const [states, pending] = await Promise.all([listStates(db, scope, span), pendingOn(db, scope, span)]);
  return rows.map((row) => {
    const { deviceNo } = row;
    const own = states.get(deviceNo) ?? new Map();
    return { row, states: own, pending: withOwnOrders(pending.get(deviceNo) ?? [], deviceNo, own) };
  });
}

/** Devices that the caller may see, by device id, page by page; no page is empty. */
export async function* listDetails(
  db: Database,
  scope: Scope,
  range: Omit<DevicePage, 'limit'>,
): Pages<DeviceDetails> {
  let { after } = range;
  for (;;) {
    const rows = await listDevices(db, scope, { ...range, after, limit: devicesPerPage });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield await detailsOf(db, scope, { rows, since: range.since ?? null });
    if (rows.length < devicesPerPage) return;
    after = last.deviceID;
  }
}
