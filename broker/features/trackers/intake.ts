// From a record of a tracker to its events: finds or makes the device, stores, and says what became of it. It must never write to a
// unit of Fleetward's own, and never answer before the commit.
import { createHash } from 'node:crypto';
import { AppError } from '../../../src/core/errors.ts';
import { linePatternSource } from '../../../src/core/ids.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { type Actor, auditEntry } from '../../api/base/audit-entry.ts';
import { invalidAt } from '../../api/base/input-members.ts';
import { fullAccount } from '../../api/devices/device-members.ts';
import type { DeviceRef } from '../../core/device-key.ts';
import { lockAccount } from '../../store/accounts/accounts.ts';
import { isCreatable } from '../../store/devices/device-limit.ts';
import { findDevice, insertDevice } from '../../store/devices/devices.ts';
import type { BareEvent } from './core/traccar-record.ts';
import { findTracker, insertTracker, setServerDevice, type TrackerRow } from './tracker-statements.ts';

/** A tracker as its server, or an administrator, names it. */
interface NamedTracker {
  readonly uniqueID: string;
  readonly name: string;
  readonly serverDeviceID: number | null;
}

/** Positions of a new tracker that its server stored within this time before are fetched too. */
const earlierMs = 24 * 3_600_000;
const nameMost = 128;
const isLine = new RegExp(linePatternSource, 'u');

/** The id of a device for a tracker: what an id may not hold becomes `-`. */
const deviceIDOf = (uniqueID: string): string => uniqueID.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64);

/** @throws AppError `conflict` when the device id is another's or the account is full; `forbidden` for a user of some groups. */
async function addTracker(
  services: ApiServices,
  actor: Actor,
  { uniqueID, name, serverDeviceID }: NamedTracker,
): Promise<TrackerRow> {
  const { accountID, scope } = actor.caller;
  if (uniqueID === '' || uniqueID.length > nameMost || !isLine.test(uniqueID))
    throw invalidAt('/device/uniqueId', `must have 1 to ${nameMost} printable characters`);
  if (scope.limitedTo !== null)
    throw new AppError('forbidden', 'Who sees some devices only cannot add a tracker', {
      hint: 'Use a token of a user who sees the whole account, and that names no devices or groups.',
    });
  const key = { accountID, deviceID: deviceIDOf(uniqueID) };
  const nowMs = Math.round(services.clock.utcMs());
  const displayName = isLine.test(name) && name !== '' ? name.slice(0, nameMost) : uniqueID;
  const fields = { displayName, description: uniqueID };
  const audited = { action: 'device.create', object: key.deviceID, detail: { tracker: uniqueID } };
  await services.db.write([
    lockAccount(accountID),
    auditEntry(services, actor, { ...audited, onlyIf: isCreatable(key) }),
    ...insertDevice(key, { createdS: Math.floor(nowMs / 1000), fields, isForeign: true }),
    insertTracker({ ...key, uniqueID, serverDeviceID, fetchedMs: nowMs - earlierMs }),
  ]);
  const made = await findTracker(services.db, scope, uniqueID);
  if (made !== null) return made;
  if ((await findDevice(services.db, key)) === null) throw await fullAccount(services, accountID);
  throw new AppError(
    'conflict',
    `The tracker ${uniqueID} needs the device id ${key.deviceID}, which is taken`,
    {
      hint: 'It is a unit of Fleetward, or a tracker with nearly the same name. Change the identifier of the tracker at its server.',
    },
  );
}

/**
 * The device of a tracker that a server sends; made when the account takes new ones.
 * @param isAdding whether it does.
 * @throws AppError `not_found` when there is none and none is made; what `addTracker` throws.
 */
export async function trackerFor(
  services: ApiServices,
  actor: Actor,
  { named, isAdding }: { readonly named: NamedTracker; readonly isAdding: () => Promise<boolean> },
): Promise<TrackerRow> {
  const { db } = services;
  const { uniqueID, serverDeviceID } = named;
  const known = await findTracker(db, actor.caller.scope, uniqueID);
  if (known === null) {
    if (await isAdding()) return addTracker(services, actor, named);
    throw new AppError('not_found', `There is no tracker ${JSON.stringify(uniqueID)}`, {
      hint: 'An administrator lets the account add trackers at their first position: call setTrackerSettings with addsTrackers.',
    });
  }
  if (serverDeviceID !== null && known.serverDeviceID !== serverDeviceID)
    await db.write([setServerDevice(known.deviceNo, serverDeviceID)]);
  return known;
}

interface Submission {
  readonly events: readonly BareEvent[];
  /** Null: the content of each event is its identity. */
  readonly identity: string | null;
  /** False: fetched later. */
  readonly isContact: boolean;
}

/** What became of a record: new events, or none of them was new. */
interface Taken {
  readonly stored: number;
  readonly repeated: number;
}

/** Stores the events; they are durable when it resolves. @throws AppError `not_found` after a deletion, `storage`, `conflict`. */
export async function submitEvents(
  { ingest }: Pick<ApiServices, 'ingest'>,
  device: DeviceRef,
  { events, identity, isContact }: Submission,
): Promise<Taken> {
  const key =
    identity === null ? undefined : createHash('sha256').update(identity).digest('hex').slice(0, 16);
  const forwarded = key === undefined ? undefined : { key, isContact };
  const outcomes = await Promise.all(
    events.map((event) => ingest.submit(device, Buffer.from(JSON.stringify(event)), [], forwarded)),
  );
  let stored = 0;
  for (const outcome of outcomes) {
    if (outcome.kind === 'gone') throw new AppError('not_found', 'The device was deleted meanwhile');
    if (outcome.kind === 'stored') stored += outcome.fresh.length;
  }
  return { stored, repeated: events.length - stored };
}

/** Keeps a record that can never be read, so that its sender need not repeat it. @throws AppError `conflict` when it is full. */
export async function keepUnread(
  { ingest }: Pick<ApiServices, 'ingest'>,
  device: DeviceRef,
  sent: unknown,
): Promise<void> {
  const payload = Buffer.from(JSON.stringify(sent));
  const reason = 'the record of the tracker has no time';
  const outcome = await ingest.quarantine(device, { verb: 'events', payload, reason });
  if (outcome.kind === 'gone') throw new AppError('not_found', 'The device was deleted meanwhile');
}
