// Reads of the command ledger, and the withdrawal of a command. A user who sees the device sees its commands.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { type CommandRow, findCommand, listCommands } from '../../store/commands/commands.ts';
import { findVisibleDevice } from '../../store/devices/devices.ts';
import { exampleVerdict } from '../answers/examples.ts';
import type { ApiServices } from '../base/api-services.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { pageMembers, pageOf, pageQuery, pageSize, pageText, parsePageCursor } from '../base/paging.ts';
import { envelope, ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';
import {
  type CommandRecordView,
  commandAnswer,
  commandRecord,
  commandRecordAnswer,
  viewCommand,
  viewCommandRecord,
} from './command-view.ts';

const exampleID = '5f0c6b0e9d1f4a3f8e7d6c5b4a392817';

const exampleRecord: CommandRecordView = {
  commandID: exampleID,
  deviceID: 'truck-17',
  feature: 'enginecutoff',
  state: '1',
  pendingState: '1',
  commandState: 'armed',
  expires: 1763769600,
  approvalID: '',
  detail: 'Ignition is on',
  verdict: exampleVerdict,
  hint: 'Switch the ignition off once the vehicle stands; if it is off, turn it on and off once',
  reason: 'stolen',
  issuer: 'dispatch',
  approver: '',
  cancelledBy: '',
  hasEnded: false,
  issued: 1763683200,
  updated: 1763683205,
  reported: 1763683204,
};

/** @throws AppError `not_found`, also for a command of a device outside of the caller's scope. */
async function needCommand(services: ApiServices, caller: Caller, commandID: string): Promise<CommandRow> {
  const row = await findCommand(services.db, { accountID: caller.accountID, commandID });
  const device = row === null ? null : await findVisibleDevice(services.db, caller.scope, row.deviceID);
  if (row === null || device === null) {
    throw new AppError('not_found', `There is no command ${JSON.stringify(commandID)}`);
  }
  return row;
}

const commandID = Type.String({ minLength: 1, maxLength: 64, description: 'The command' });

const get = operation({
  id: 'getCommand',
  method: 'GET',
  path: '/command/get/{commandID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Commands',
  summary: 'One command',
  description: `All that the ledger knows of a command or firmware job: its state, who asked for it and who approved it, and why it
waits: \`detail\` as a sentence, \`verdict\` as rules with what the vehicle saw of each, \`hint\` what can be done. Of a cut or an
unlock that is confirmed, \`verdict\` is the proof that it was carried out on. Trackers of other makes may send a sentence
only: then \`verdict\` is null. \`confirmed\` is the report of the vehicle that it has read its relay back; nothing else
means that it has acted.`,
  params: Type.Object({ commandID }),
  body: null,
  result: commandRecordAnswer,
  errors: ['not_found'],
  effects: false,
  examples: { params: { commandID: exampleID }, result: exampleRecord },
  async run({ params, caller }, services) {
    return { ...viewCommandRecord(await needCommand(services, caller, params.commandID)), ...ok };
  },
});

const list = operation({
  id: 'listCommands',
  method: 'GET',
  path: '/command/list/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Commands',
  summary: 'Commands of a device',
  description: `Commands and firmware jobs of the device, newest first, finished ones too. ${pageText} Cuts that wait for a second user are not commands yet: see
\`listApprovals\`.`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  query: Type.Object(pageQuery, { additionalProperties: false }),
  body: null,
  result: Type.Object({
    ...envelope,
    commands: Type.Array(commandRecord, { description: 'Newest first' }),
    ...pageMembers,
  }),
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { result: { commands: [exampleRecord] } },
  async run({ params, query, caller }, services) {
    const { deviceNo } = await needDevice(services, caller, params.deviceID);
    const limit = pageSize(query.limit);
    const place = parsePageCursor(query.cursor);
    const before = place === null ? null : { issuedMs: place.atMs, commandID: place.id };
    const rows = await listCommands(services.db, { deviceNo, before, limit: limit + 1 });
    const { page, more, next } = pageOf(rows, limit, (row) => `${row.issuedMs}-${row.commandID}`);
    return { ...ok, commands: page.map(viewCommandRecord), more, next };
  },
});

const cancel = operation({
  id: 'cancelCommand',
  method: 'POST',
  path: '/command/cancel/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Commands',
  summary: 'Withdraw a command',
  description: `A command that never left ends at once as \`cancelled\`. One that has left is withdrawn at the vehicle, which decides:
until it answers, \`commandState\` stays what it was. A command that executes or has ended answers 422 \`conflict\`, but
for a firmware job that executes; withdrawing twice is no error. Withdrawing does not undo what was done: to release an engine send \`enginecutoff\` 0.`,
  params: Type.Object({}),
  body: Type.Object({ commandID }, { additionalProperties: false }),
  result: commandAnswer,
  errors: ['not_found', 'conflict'],
  effects: true,
  isOrder: true,
  examples: {
    body: { commandID: exampleID },
    result: {
      commandID: exampleID,
      deviceID: 'truck-17',
      feature: 'enginecutoff',
      state: '1',
      pendingState: null,
      commandState: 'cancelled',
      expires: 1763769600,
      approvalID: '',
      verdict: null,
    },
  },
  async run({ body, caller, source, arrivedUs }, services) {
    const row = await needCommand(services, caller, body.commandID);
    const { accountID, userID: issuer } = caller;
    const withdrawn = await services.ledger.cancel({
      accountID,
      commandID: row.commandID,
      issuer,
      arrivedUs,
      record: (audited) => auditEntry(services, { caller, source }, audited),
    });
    return viewCommand(withdrawn);
  },
});

export const commandRecordOperations = [get, list, cancel] as const;
