// Unreadable payloads of vehicles: content, time and reason. Operators with the device in their scope may read them. Administrators
// take them in again after a repair, or drop them, with an audit entry.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { decodeEvents } from '../../../src/core/wire/wire.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import { operation } from '../../api/base/operation.ts';
import { numberedPage, numberedQuery, pageMembers, pageText } from '../../api/base/paging.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { needDevice } from '../../api/base/visible-device.ts';
import { lockAccount } from '../../store/accounts/accounts.ts';
import {
  dropEntries,
  findEntry,
  holdsEntries,
  listEntries,
  listQuarantine,
  type QuarantineEntry,
  type QuarantineRow,
  quarantineBytesMost,
  quarantineMost,
} from '../../store/events/quarantine.ts';

const members = {
  quarantineID: Type.String({ description: 'Grows with every payload; decimal text' }),
  deviceID: Type.String({ description: 'The device' }),
  topic: Type.String({ description: 'MQTT topic that it came on' }),
  received: Type.Integer({ minimum: 0, description: 'When it came in (epoch seconds)' }),
  reason: Type.String({ description: 'What was wrong with it' }),
  bytes: Type.Integer({ minimum: 0, description: 'Length of the payload' }),
} as const;
const entry = Type.Object(members);
type EntryView = Static<typeof entry>;

const example: EntryView = {
  quarantineID: '12',
  deviceID: 'truck-17',
  topic: 'fw/1/acme/truck-17/events',
  received: 1763683200,
  reason: 'not JSON',
  bytes: 5,
};

const view = (row: QuarantineEntry): EntryView => ({
  quarantineID: String(row.quarantineNo),
  deviceID: row.deviceID,
  topic: row.topic,
  received: Math.floor(row.receivedMs / 1000),
  reason: row.reason,
  bytes: row.bytes,
});

const kept = `What could not be read is accepted, so that the vehicle does not send it for ever, and kept as long as events are: a whole
payload as it came, or of a batch the events that could not be read. Nothing falls out of a full quarantine (${quarantineMost} entries of a
device, or ${quarantineBytesMost / 1024 / 1024} MiB): from then on what cannot be read of that device is not acknowledged.`;

const list = operation({
  id: 'listQuarantine',
  method: 'GET',
  path: '/device/quarantine/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'read', ofDevices: false },
  tag: 'Devices',
  summary: 'Payloads that could not be read',
  description: `Our addition. Entries of the devices that the caller sees, or with \`?deviceID=\` of one of them, newest first, without the
payloads: see \`getQuarantined\`. ${pageText} ${kept}`,
  params: Type.Object({}),
  query: Type.Object(
    {
      ...numberedQuery,
      deviceID: Type.Optional(Type.String({ maxLength: 64, description: 'The device' })),
    },
    { additionalProperties: false },
  ),
  body: null,
  result: Type.Object({
    ...envelope,
    payloads: Type.Array(entry, { description: 'Newest first' }),
    ...pageMembers,
  }),
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { result: { payloads: [example] } },
  async run({ query, caller }, services) {
    const deviceID = query.deviceID ?? null;
    if (deviceID !== null) await needDevice(services, caller, deviceID);
    const { page, more, next } = await numberedPage(query, {
      read: (span) => listEntries(services.archive, caller.scope, { deviceID, ...span }),
      numberOf: (row) => row.quarantineNo,
    });
    return { ...ok, payloads: page.map(view), more, next };
  },
});

const get = operation({
  id: 'getQuarantined',
  method: 'GET',
  path: '/device/quarantine/{quarantineID}/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'read', ofDevices: false },
  tag: 'Devices',
  summary: 'One payload that could not be read',
  description: `Our addition. The payload as it came, in base64. An entry of a device that the caller does not see answers 404, like
one that is not there.`,
  params: Type.Object({
    quarantineID: Type.String({ pattern: '^[0-9]{1,15}$', description: 'The entry' }),
  }),
  body: null,
  result: Type.Object({
    ...members,
    payload: Type.String({ description: 'The bytes in base64 (RFC 4648 section 4)' }),
    ...envelope,
  }),
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { params: { quarantineID: '12' }, result: { ...example, payload: 'e25vdA==', bytes: 4 } },
  async run({ params: { quarantineID }, caller }, services) {
    const row = await findEntry(services.db, caller.scope, Number(quarantineID));
    if (row === null) throw new AppError('not_found', `There is no payload ${quarantineID} in quarantine`);
    return { ...view(row), payload: Buffer.from(row.payload).toString('base64'), ...ok };
  },
});

const drop = operation({
  id: 'dropQuarantined',
  method: 'POST',
  path: '/device/dropquarantine/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Drop payloads that could not be read',
  description: `Our addition. Drops one entry of the device, or without \`quarantineID\` all of them, for good. The audit log keeps who
did it. An entry that is not there answers 404; a device without any answers \`dropped\` 0 and nothing is recorded.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: Type.String({ description: 'The device' }),
      quarantineID: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$', description: 'The entry' })),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({ dropped: Type.Integer({ minimum: 0, description: 'Entries' }), ...envelope }),
  errors: ['not_found'],
  effects: true,
  examples: { body: { deviceID: 'truck-17' }, result: { dropped: 1 } },
  async run({ body: { deviceID, quarantineID }, caller, source }, services) {
    await needDevice(services, caller, deviceID);
    const { accountID } = caller;
    const quarantineNo = quarantineID === undefined ? null : Number(quarantineID);
    const selection = { accountID, deviceID, quarantineNo };
    const detail = { quarantineID: quarantineID ?? 'all' };
    const audited = { action: 'quarantine.drop', object: deviceID, detail, onlyIf: holdsEntries(selection) };
    const results = await services.db.write([
      lockAccount(accountID),
      auditEntry(services, { caller, source }, audited),
      dropEntries(selection),
    ]);
    const dropped = results[2]?.changes ?? 0;
    if (dropped === 0 && quarantineID !== undefined) {
      throw new AppError('not_found', `There is no payload ${quarantineID} of ${deviceID} in quarantine`);
    }
    return { dropped, ...ok };
  },
});

/** Entries that one call takes in. */
const takenMost = 100;

/** True when something of it can be read today, and the rest, if any, is kept as an entry of its own. */
function isReadable({ topic, payload }: QuarantineRow): boolean {
  if (!topic.endsWith('/events')) return false;
  const decoded = decodeEvents(payload);
  return decoded.ok && decoded.rejected?.payload !== null;
}

const retry = operation({
  id: 'retryQuarantined',
  method: 'POST',
  path: '/device/retryquarantine/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Take in payloads that could not be read',
  description: `Our addition. After a mend, of the service or by a newer release: reads the entries of the device again, or with
\`quarantineID\` one of them, oldest first and at most ${takenMost} a call, and stores the events that can be read now, as if the
device sent them; they notify, raise alarms and change states as late ones do. What was stored leaves the quarantine: \`taken\` entries. What still cannot be
read stays: \`left\` entries. The call may be repeated: an event is stored once. It is no sign of life of the device.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: Type.String({ description: 'The device' }),
      quarantineID: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$', description: 'The entry' })),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    taken: Type.Integer({ minimum: 0, description: 'Entries that are stored now' }),
    left: Type.Integer({ minimum: 0, description: 'Entries that are still in quarantine' }),
    ...envelope,
  }),
  errors: ['not_found', 'conflict', 'unavailable'],
  effects: true,
  examples: { body: { deviceID: 'truck-17' }, result: { taken: 1, left: 0 } },
  async run({ body: { deviceID, quarantineID }, caller, source }, services) {
    const { deviceNo } = await needDevice(services, caller, deviceID);
    const { accountID } = caller;
    const all = await listQuarantine(services.db, { accountID, deviceID, limit: quarantineMost });
    const asked = all.filter(
      (row) => quarantineID === undefined || row.quarantineNo === Number(quarantineID),
    );
    if (asked.length === 0 && quarantineID !== undefined) {
      throw new AppError('not_found', `There is no payload ${quarantineID} of ${deviceID} in quarantine`);
    }
    let taken = 0;
    for (const { quarantineNo, payload } of asked.toReversed().filter(isReadable).slice(0, takenMost)) {
      const detail = { quarantineID: String(quarantineNo) };
      const entry = auditEntry(
        services,
        { caller, source },
        { action: 'quarantine.retry', object: deviceID, detail },
      );
      const outcome = await services.ingest.submit({ accountID, deviceID, deviceNo }, payload, [entry]);
      if (outcome.kind !== 'stored') continue;
      await services.db.write([dropEntries({ accountID, deviceID, quarantineNo })]);
      taken += 1;
    }
    const left = await listQuarantine(services.db, { accountID, deviceID, limit: quarantineMost });
    return { taken, left: left.length, ...ok };
  },
});

export const quarantineOperations = [list, get, drop, retry] as const;
