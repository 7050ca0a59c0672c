// Text messages between users and vehicles. A message to a vehicle is kept until the vehicle confirms it. A message from a
// vehicle is an event; each user marks it as read.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { hexId } from '../../../src/core/ids.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { type Actor, auditEntry } from '../../api/base/audit-entry.ts';
import { type Caller } from '../../api/base/caller.ts';
import { invalidAt } from '../../api/base/input-members.ts';
import { operation } from '../../api/base/operation.ts';
import {
  pageMembers,
  pageOf,
  pageQuery,
  pageSize,
  pageText,
  parsePageCursor,
} from '../../api/base/paging.ts';
import { envelope, epoch, numberOrDigits, ok } from '../../api/base/shapes.ts';
import { needDevice } from '../../api/base/visible-device.ts';
import { type MessageRow, waitingMost } from '../../store/commands/messages.ts';
import type { DeviceRow } from '../../store/devices/devices.ts';
import { lastEventNo } from '../../store/slices/slices.ts';
import {
  insertMessage,
  isWritten,
  listMessages,
  markRead,
  messageLimits,
  trimMessages,
  unreadMessages,
} from './message-statements.ts';

const vehicleMessage = Type.Object({
  messageNo: Type.Integer({ description: 'Grows; pass the highest one to `readMessages`' }),
  deviceID: Type.String({ description: 'The vehicle that wrote' }),
  message: Type.String({ description: 'The text' }),
  timestamp: epoch('When it was written, by the clock of the vehicle'),
});

const getMessages = operation({
  id: 'getMessages',
  method: 'GET',
  path: '/notificationqueue/getMessages/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Messages',
  summary: 'Unread messages of vehicles',
  description: `Messages of the vehicles that the caller sees, which the caller has not marked as read, from the last 30 days, oldest first and
at most 500; \`more\` true: there are further ones. Reading changes nothing: \`readMessages\` marks them, for this user alone. A
message of a vehicle is an event with status code 4392 and the text in the attribute \`message\`.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    messages: Type.Array(vehicleMessage, { description: 'Oldest first' }),
    more: Type.Boolean({ description: 'Whether there are further ones' }),
  }),
  errors: [],
  effects: false,
  examples: {
    result: {
      messages: [
        { messageNo: 4711, deviceID: 'truck-17', message: 'Dock 4 is closed', timestamp: 1763683200 },
      ],
      more: false,
    },
  },
  async run({ caller }, services) {
    const most = 500;
    const sinceMs = services.clock.utcMs() - messageLimits.shownMs;
    const rows = await unreadMessages(services.db, {
      user: caller,
      scope: caller.scope,
      sinceMs,
      limit: most + 1,
    });
    return { ...ok, messages: rows.slice(0, most), more: rows.length > most };
  },
});

const readMessages = operation({
  id: 'readMessages',
  method: 'POST',
  path: '/notificationqueue/readmessages/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'write', ofDevices: false },
  tag: 'Messages',
  summary: 'Mark messages of vehicles as read',
  description: `Everything up to \`upTo\`, a \`messageNo\` of \`getMessages\`, counts as read by the calling user from now on. A smaller
number than before changes nothing.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      upTo: numberOrDigits('Highest `messageNo` read'),
    },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: [],
  effects: true,
  examples: { body: { upTo: 4711 } },
  async run({ body, caller }, services) {
    await services.db.write([markRead(caller, Number(body.upTo), await lastEventNo(services.db))]);
    return ok;
  },
});

const queued = Type.Object({
  messageID: Type.String({ description: 'Names the message' }),
  deviceID: Type.String({ description: 'The vehicle' }),
});

interface OutgoingMessage {
  readonly devices: readonly DeviceRow[];
  readonly text: string;
}

interface MessageBody {
  readonly deviceID?: string;
  readonly deviceIDs?: readonly string[];
  readonly message?: string;
}

/** Null for a body that asks for nothing. @throws AppError `not_found`, `invalid_content`. */
async function readMessage(
  services: ApiServices,
  caller: Caller,
  body: MessageBody,
): Promise<OutgoingMessage | null> {
  const { deviceID, deviceIDs = [], message } = body;
  const ids = [...new Set([...(deviceID === undefined ? [] : [deviceID]), ...deviceIDs])];
  if (ids.length === 0 && message === undefined) return null;
  if (message === undefined) throw invalidAt('/message', 'is missing');
  if (ids.length === 0) throw invalidAt('/deviceID', 'is missing: name deviceID or deviceIDs');
  const devices: DeviceRow[] = [];
  for (const id of ids) devices.push(await needDevice(services, caller, id));
  return { devices, text: message };
}

async function write(services: ApiServices, actor: Actor, { devices, text }: OutgoingMessage) {
  const { db, clock, entropy, ledger, log } = services;
  const sentMs = Math.round(clock.utcMs());
  const { userID: sender } = actor.caller;
  const wanted = devices.map((device) => ({ device, messageID: hexId(entropy.bytes(16)) }));
  const results = await db.write(
    wanted.flatMap(({ device: { deviceNo, deviceID }, messageID }) => [
      insertMessage({ messageID, deviceNo, text, sender, sentMs }),
      auditEntry(services, actor, {
        action: 'message.send',
        object: deviceID,
        detail: { messageID },
        onlyIf: isWritten(messageID),
      }),
      trimMessages(deviceNo),
    ]),
  );
  const isNew = (at: number): boolean => results[at * 3]?.changes === 1;
  const sent = wanted.filter((_one, at) => isNew(at));
  for (const { device } of sent) {
    // It is recorded: what cannot be sent now goes out on the next connect.
    await ledger.sendMessages(device).catch((thrown: unknown) => {
      log.warn('message_not_sent', { deviceID: device.deviceID, reason: messageOf(thrown) });
    });
  }
  return {
    messages: sent.map(({ device, messageID }) => ({ messageID, deviceID: device.deviceID })),
    refused: wanted.filter((_one, at) => !isNew(at)).map(({ device }) => device.deviceID),
  };
}

const setMessages = operation({
  id: 'setMessages',
  method: 'POST',
  path: '/notificationqueue/setMessages/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Messages',
  summary: 'Write to vehicles',
  description: `Sends \`message\` (1 to ${messageLimits.text} characters) to \`deviceID\`, or to each of \`deviceIDs\` (up to
${messageLimits.devices}; both may be given, each vehicle gets it once). An empty object is accepted and does nothing. One without
the other answers 422; a device that the caller does not see answers 404, and then nothing is sent to any.

The answer means that the message is kept, not that the vehicle has it: it is delivered signed, at once or when the vehicle
connects within 7 days, and \`sentMessages\` shows when the vehicle confirmed it (event 4393 Message_Received). At most
${waitingMost} messages wait for a vehicle: those that have so many are listed in \`refused\`, and when all have, the answer is
422 \`conflict\`. Texts stand in no log and in no audit entry of the service.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: Type.Optional(Type.String({ maxLength: 64, description: 'The vehicle' })),
      deviceIDs: Type.Optional(
        Type.Array(Type.String({ maxLength: 64 }), {
          maxItems: messageLimits.devices,
          description: 'Several vehicles',
        }),
      ),
      message: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: messageLimits.text,
          pattern: '^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f]*$',
          description: 'The text; line feeds are its only control characters',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    messages: Type.Array(queued, { description: 'What was kept' }),
    refused: Type.Array(Type.String(), { description: 'Vehicles for which too many messages wait' }),
  }),
  errors: ['not_found', 'invalid_content', 'conflict'],
  effects: true,
  examples: {
    body: { deviceID: 'truck-17', message: 'Please call the depot' },
    result: {
      messages: [{ messageID: '3a5c7e90b1d24f68a0c2e4f6081a3b5d', deviceID: 'truck-17' }],
      refused: [],
    },
  },
  async run({ body, caller, source }, services) {
    const message = await readMessage(services, caller, body);
    if (message === null) return { ...ok, messages: [], refused: [] };
    const outcome = await write(services, { caller, source }, message);
    if (outcome.messages.length > 0) return { ...ok, ...outcome };
    throw new AppError('conflict', `${waitingMost} messages wait already for each of these vehicles`);
  },
});

const sentMessage = Type.Object({
  messageID: Type.String({ description: 'Names the message' }),
  message: Type.String({ description: 'The text' }),
  sender: Type.String({ description: 'User who wrote it' }),
  sent: epoch('When it was written'),
  expires: epoch('Not delivered after this'),
  delivered: epoch('When the vehicle confirmed it; 0 until then'),
});

function viewSent(row: MessageRow): Static<typeof sentMessage> {
  return {
    messageID: row.messageID,
    message: row.text,
    sender: row.sender,
    sent: epochSeconds(row.sentMs),
    expires: epochSeconds(row.expiresMs),
    delivered: epochSeconds(row.deliveredMs),
  };
}

const sentMessages = operation({
  id: 'sentMessages',
  method: 'GET',
  path: '/notificationqueue/sentmessages/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Messages',
  summary: 'What was written to a vehicle',
  description: `Messages to the vehicle (the newest ${messageLimits.kept} are kept), newest first, each with the time at which the vehicle confirmed it. ${pageText}`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  query: Type.Object(pageQuery, { additionalProperties: false }),
  body: null,
  result: Type.Object({
    ...envelope,
    messages: Type.Array(sentMessage, { description: 'Newest first' }),
    ...pageMembers,
  }),
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: {
    result: {
      messages: [
        {
          messageID: '3a5c7e90b1d24f68a0c2e4f6081a3b5d',
          message: 'Please call the depot',
          sender: 'dispatch',
          sent: 1763683200,
          expires: 1764288000,
          delivered: 1763683205,
        },
      ],
    },
  },
  async run({ params, query, caller }, services) {
    const { deviceNo } = await needDevice(services, caller, params.deviceID);
    const limit = pageSize(query.limit);
    const before = parsePageCursor(query.cursor)?.atMs ?? null;
    const rows = await listMessages(services.db, { deviceNo, before, limit: limit + 1 });
    const { page, more, next } = pageOf(rows, limit, (row) => `${row.messageNo}-m`);
    return { ...ok, messages: page.map(viewSent), more, next };
  },
});

export const messageOperations = [getMessages, readMessages, setMessages, sentMessages] as const;
