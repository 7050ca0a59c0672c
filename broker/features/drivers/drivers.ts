// Drivers over HTTP: the list with the keys that belong to no driver, a change with all keys of a driver, the end of one. Names of drivers
// are personal data: the list is for users who see the whole account. A trip names its drivers to users who see the vehicle.
import { type Static, Type } from 'typebox';
import { keyForm } from '../../../src/core/driver-key.ts';
import { AppError } from '../../../src/core/errors.ts';
import { linePatternSource, namePatternSource } from '../../../src/core/ids.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { type Actor, auditEntry } from '../../api/base/audit-entry.ts';
import { type Caller } from '../../api/base/caller.ts';
import { invalidAt, linesText, lineText } from '../../api/base/input-members.ts';
import { operation, type Pages } from '../../api/base/operation.ts';
import { envelope, epoch, ok, text } from '../../api/base/shapes.ts';
import { roleCovers } from '../../core/accounts/session.ts';
import { isConflict, isDataFault } from '../../core/store-faults.ts';
import {
  allSpans,
  countDrivers,
  type DriverRow,
  endSpan,
  eraseDriver,
  findDriver,
  leaveDriver,
  listDrivers,
  listVersion,
  putDriver,
  putSpans,
  raiseVersion,
  spansOf,
} from './driver-statements.ts';
import { covers, type KeySpan, type OwnedSpan, planKeys } from './key-spans.ts';
import { type SeenKey, seenKeys, seenLimits } from './seen-keys.ts';

/** Most drivers of one account, and spans of keys of one driver. */
const most = { drivers: 2000, keys: 50 } as const;
const driversPerPage = 200;

const keySpan = Type.Object({
  keyID: text('Id of the key; hex digits of an iButton or RFID tag in upper case'),
  startTime: epoch('Since when it belongs to the driver; 0 = from the first record on'),
  endTime: epoch('From then on it no longer does; 0 = it still does'),
});

const driver = Type.Object({
  driverID: text('Identifier of the driver'),
  driverDisplayName: text('Name'),
  phone: text('Telephone number; may be empty'),
  note: text('Note; may be empty'),
  keys: Type.Array(keySpan, { description: 'By key and time' }),
  leftTime: epoch('When the driver left; 0 = still drives'),
  lastDeviceID: text(
    `Device that named one of the keys last, of the last ${seenLimits.days} days; empty: none did`,
  ),
  lastTime: epoch('When it did; 0 = none did'),
  auditObject: text('Names the driver in the audit log, which keeps no name'),
});
type DriverView = Static<typeof driver>;

const unknownKey = Type.Object({
  keyID: text('Id of the key'),
  deviceID: text('Device that reported it last'),
  timestamp: epoch('When it did'),
  isRefused: Type.Boolean({ description: 'It is not on the list of keys of that vehicle' }),
});

const driverID = Type.String({
  pattern: namePatternSource,
  description:
    'Name of the driver as an identifier: 1 to 64 characters of any script, no control characters, no space at either end',
});

const seconds = (ms: number | null): number => Math.floor((ms ?? 0) / 1000);
const nowOf = ({ clock }: ApiServices): number => Math.round(clock.utcMs());

/** @throws AppError `forbidden` for a caller who is limited to groups or devices. */
function needWholeAccount({ scope }: Caller): void {
  if (scope.limitedTo === null) return;
  throw new AppError(
    'forbidden',
    'You see the devices of your groups only, and drivers are of the whole account',
    {
      hint: 'Trips of the devices that you see name their drivers.',
    },
  );
}

const unknownDriver = (id: string): AppError =>
  new AppError('not_found', `There is no driver ${JSON.stringify(id)}`);

function viewDriver(row: DriverRow, spans: readonly OwnedSpan[], last: SeenKey | undefined): DriverView {
  return {
    driverID: row.driverID,
    driverDisplayName: row.displayName,
    phone: row.phone,
    note: row.note,
    keys: spans.map(({ keyID, fromMs, untilMs }) => ({
      keyID,
      startTime: seconds(fromMs),
      endTime: seconds(untilMs),
    })),
    leftTime: seconds(row.leftMs),
    lastDeviceID: last?.deviceID ?? '',
    lastTime: seconds(last?.atMs ?? null),
    auditObject: String(row.driverNo),
  };
}

interface Known {
  readonly spans: ReadonlyMap<number, readonly OwnedSpan[]>;
  readonly last: ReadonlyMap<number, SeenKey>;
  readonly unknown: readonly SeenKey[];
}

function groupedBy<K>(spans: readonly OwnedSpan[], keyOf: (span: OwnedSpan) => K) {
  const groups = new Map<K, OwnedSpan[]>();
  for (const span of spans) {
    const known = groups.get(keyOf(span));
    if (known === undefined) groups.set(keyOf(span), [span]);
    else known.push(span);
  }
  return groups;
}

/** Keys with their owners, and where they were reported last. */
async function readKeys({ archive }: ApiServices, accountID: string, nowMs: number): Promise<Known> {
  const all = await allSpans(archive, accountID);
  const byKey = groupedBy(all, ({ keyID }) => keyID);
  const last = new Map<number, SeenKey>();
  const unknown: SeenKey[] = [];
  for (const seen of await seenKeys(archive, accountID, nowMs)) {
    const owner = byKey.get(seen.keyID)?.find((span) => covers(span, seen.atMs));
    if (owner === undefined) unknown.push(seen);
    else if (!last.has(owner.driverNo)) last.set(owner.driverNo, seen);
  }
  return { spans: groupedBy(all, ({ driverNo }) => driverNo), last, unknown };
}

async function* allDrivers({ archive }: ApiServices, accountID: string, known: Known): Pages<DriverView> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: readonly DriverRow[] = await listDrivers(archive, accountID, {
      after,
      limit: driversPerPage,
    });
    yield rows.map((row) =>
      viewDriver(row, known.spans.get(row.driverNo) ?? [], known.last.get(row.driverNo)),
    );
    after = rows.length < driversPerPage ? undefined : rows.at(-1)?.driverID;
  }
}

const exampleDriver: DriverView = {
  driverID: 'ann',
  driverDisplayName: 'Ann Tremblay',
  phone: '+1 416 555 0142',
  note: '',
  keys: [{ keyID: '3F0000001A2B3C01', startTime: 0, endTime: 0 }],
  leftTime: 0,
  lastDeviceID: 'truck-17',
  lastTime: 1763683200,
  auditObject: '734029118',
};

const getDrivers = operation({
  id: 'getDrivers',
  method: 'GET',
  path: '/driver/getdrivers/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Drivers',
  summary: 'All drivers of the account, and keys that belong to none',
  description: `Every driver in the order of ids, those who left included, each with the spans of time in which a key was theirs
and where a key was reported last. \`unknownKeys\` are the keys that belonged to no driver when a vehicle reported them
last, the newest first, of the newest ${seenLimits.reports} reports of each kind (DRIVER_IDENTIFIED, DRIVER_UNKNOWN) of the last ${seenLimits.days} days. A caller who is
limited to groups or devices answers 422 \`forbidden\`: to them trips name the drivers of the devices that they see.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    drivers: Type.Array(driver, { description: 'In the order of driver ids' }),
    unknownKeys: Type.Array(unknownKey, { description: 'The newest first' }),
  }),
  errors: [],
  effects: false,
  examples: {
    result: {
      drivers: [exampleDriver],
      unknownKeys: [{ keyID: '0A00B1C2D3', deviceID: 'truck-17', timestamp: 1763680000, isRefused: false }],
    },
  },
  async run({ caller }, services) {
    needWholeAccount(caller);
    const { accountID } = caller;
    const known = await readKeys(services, accountID, nowOf(services));
    return {
      ...ok,
      drivers: allDrivers(services, accountID, known),
      unknownKeys: known.unknown.map(({ keyID, deviceID, atMs, isRefused }) => ({
        keyID,
        deviceID,
        timestamp: seconds(atMs),
        isRefused,
      })),
    };
  },
});

const driverBody = Type.Object(
  {
    driverID,
    driverDisplayName: Type.Optional(lineText(128, 'Name; a new driver needs one')),
    phone: Type.Optional(lineText(64, 'Telephone number; empty for none')),
    note: Type.Optional(linesText(500, 'Note; empty for none')),
    keys: Type.Optional(
      Type.Array(
        Type.Object(
          {
            keyID: Type.String({
              minLength: 1,
              maxLength: 64,
              pattern: linePatternSource,
              description:
                'Id of the key; separators and letter case of hex digits (10 or 16 of them) do not matter',
            }),
            startTime: Type.Optional(
              epoch(
                'Since when; 0 = from the first record on. Without it since the end of the last owner, or the first record',
              ),
            ),
            endTime: Type.Optional(epoch('From then on no longer; 0 = still')),
          },
          { additionalProperties: false },
        ),
        { maxItems: most.keys, description: 'All keys of the driver, past ones included' },
      ),
    ),
    takesOver: Type.Optional(
      Type.Boolean({ description: 'Ends the span of another driver where one of `keys` begins' }),
    ),
  },
  { additionalProperties: false },
);
type DriverBody = Static<typeof driverBody>;

/** Retries of a change when another request changed the list in between. */
const triesMost = 5;

/** Plans a change on what is stored, and again when that was changed meanwhile. */
async function inTurn(
  services: ApiServices,
  accountID: string,
  plan: () => Promise<Parameters<ApiServices['db']['write']>[0]>,
): Promise<void> {
  for (let tries = 0; tries < triesMost; tries++) {
    const version = await listVersion(services.db, accountID);
    try {
      await services.db.write([raiseVersion(accountID, version), ...(await plan())]);
      return;
    } catch (thrown) {
      // PostgreSQL carries the whole batch out before the version counts: a stale one may violate a key first.
      if (!isConflict(thrown) && !isDataFault(thrown)) throw thrown;
    }
  }
  throw new AppError('unavailable', 'The drivers were changed by other requests during all attempts', {
    retryAfterS: 1,
  });
}

/** For the audit log: keys and times, no name, telephone number or note, which an erasure could not take out of it. */
const keysOf = (spans: readonly KeySpan[]) =>
  spans.map(({ keyID, fromMs, untilMs }) => ({ keyID, from: seconds(fromMs), until: seconds(untilMs) }));

async function planUpdate(services: ApiServices, actor: Actor, sent: DriverBody) {
  const { db, entropy } = services;
  const { accountID } = actor.caller;
  const known = await findDriver(db, accountID, sent.driverID);
  const texts = {
    displayName: (sent.driverDisplayName ?? known?.displayName ?? '').trim(),
    phone: sent.phone ?? known?.phone ?? '',
    note: sent.note ?? known?.note ?? '',
  };
  if (texts.displayName === '') throw invalidAt('/driverDisplayName', 'is missing: a driver needs a name');
  if (known === null && (await countDrivers(db, accountID)) >= most.drivers)
    throw new AppError('conflict', `The account has ${most.drivers} drivers, which is the most`);
  const driverNo = known?.driverNo ?? Math.floor(entropy.fraction() * 2 ** 48);
  const key = { accountID, driverID: sent.driverID, driverNo };
  const keyIDs = [...new Set((sent.keys ?? []).map(({ keyID }) => keyForm(keyID)))];
  const spans = keyIDs.length === 0 ? [] : await spansOf(db, accountID, keyIDs);
  const plan = planKeys(sent.keys ?? [], {
    others: spans.filter((one) => one.driverNo !== driverNo),
    nowMs: nowOf(services),
    takesOver: sent.takesOver === true,
  });
  const detail = sent.keys === undefined ? {} : { keys: keysOf(plan.spans), ended: keysOf(plan.ended) };
  return [
    auditEntry(services, actor, {
      action: known === null ? 'driver.create' : 'driver.update',
      object: String(driverNo),
      detail,
    }),
    putDriver(key, texts),
    ...(sent.keys === undefined
      ? []
      : [...plan.ended.map((one) => endSpan(accountID, one)), ...putSpans(key, plan.spans)]),
  ];
}

const change = operation({
  id: 'driverUpdate',
  method: 'POST',
  path: '/driver/driverupdate/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: false },
  tag: 'Drivers',
  summary: 'Create a driver, or change one with all keys',
  description: `Creates the driver when the account has none of that id; otherwise changes the given members and leaves the
others. \`keys\` are all spans of the driver, and replace those of before. Records keep the id of the key; a name is found by the key and the
time of the record, so a key that is handed to another driver renames nothing of the past.

A key belongs to one driver at a time: one that is another driver's then answers 422 \`conflict\` and changes nothing. With \`takesOver\` the
other driver's span ends where the sent one begins. Spans of one key that overlap, begin in the future or end before they begin answer
422 \`invalid_content\`. A change of a driver who left brings the driver back. At most ${most.drivers} drivers, each with ${most.keys} spans. The audit log has the keys,
never a name, telephone number or note.`,
  params: Type.Object({}),
  body: driverBody,
  result: Type.Object(envelope),
  errors: ['conflict', 'invalid_content', 'unavailable'],
  effects: true,
  examples: {
    body: {
      driverID: 'ann',
      driverDisplayName: 'Ann Tremblay',
      phone: '+1 416 555 0142',
      keys: [{ keyID: '3f:00:00:00:1a:2b:3c:01' }],
    },
  },
  async run({ body, caller, source }, services) {
    needWholeAccount(caller);
    await inTurn(services, caller.accountID, () => planUpdate(services, { caller, source }, body));
    return ok;
  },
});

const remove = operation({
  id: 'deleteDriver',
  method: 'POST',
  path: '/driver/deletedriver/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: false },
  tag: 'Drivers',
  summary: 'End a driver, or erase one for good',
  description: `The keys of the driver are no longer theirs from now on, and \`leftTime\` says so; what was driven before keeps the name.
With \`erase\`, for administrators, name, telephone number, note and spans are deleted for good: records, trips and reports show the bare id of the
key from then on. Backups that were made before still have them. An unknown driver answers 404.`,
  params: Type.Object({}),
  body: Type.Object(
    { driverID, erase: Type.Optional(Type.Boolean({ description: 'Deletes what is known of the driver' })) },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found', 'unavailable'],
  effects: true,
  examples: { body: { driverID: 'bob' } },
  async run({ body, caller, source }, services) {
    needWholeAccount(caller);
    const isErased = body.erase === true;
    if (isErased && !roleCovers(caller.role, 'admin'))
      throw new AppError('forbidden', 'Only an administrator erases a driver', {
        hint: 'Without `erase` the driver leaves, and the past keeps the name.',
      });
    await inTurn(services, caller.accountID, async () => {
      const known = await findDriver(services.db, caller.accountID, body.driverID);
      if (known === null) throw unknownDriver(body.driverID);
      const action = isErased ? 'driver.erase' : 'driver.leave';
      return [
        auditEntry(services, { caller, source }, { action, object: String(known.driverNo) }),
        ...(isErased ? [eraseDriver(known.driverNo)] : leaveDriver(known.driverNo, nowOf(services))),
      ];
    });
    return ok;
  },
});

export const driverOperations = [getDrivers, change, remove] as const;
