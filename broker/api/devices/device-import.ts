// Import of many devices from a CSV file: every line is checked before anything is written, and either all lines are
// written or none. It never guesses the meaning of a line.
import { setImmediate as turn } from 'node:timers/promises';
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import type { Statement } from '../../../src/ports.ts';
import { isDataFault } from '../../core/store-faults.ts';
import { lockAccount } from '../../store/accounts/accounts.ts';
import { clearUniqueIDs, type ImportRow, insertBare, updateMany } from '../../store/devices/device-import.ts';
import { freeDevices, needRoom } from '../../store/devices/device-limit.ts';
import { readCsv } from '../answers/csv.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { operation, type Pages } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { fullAccount, settingMembers } from './device-members.ts';
import { type CheckedLine, judge, readFleet, readLines } from './import-lines.ts';

const linesMost = 10_000;
const faultsShown = 50;
const linesPerPage = 500;

/** What becomes of a line. */
export const lineMembers = {
  line: Type.Integer({ description: 'Line of the file' }),
  deviceID: Type.String({ description: 'The device; empty when the line names none' }),
  action: Type.Enum(['create', 'update', 'unchanged', 'error'], { description: 'What would happen' }),
  message: Type.String({ description: 'What is wrong; empty when nothing is' }),
} as const;
const lineView = Type.Object(lineMembers);

export type Plan = readonly CheckedLine[];

const countOf = (plan: Plan, action: CheckedLine['action']): number =>
  plan.filter((line) => line.action === action).length;

/** Members of the answer beside the lines. */
export const countMembers = {
  created: Type.Integer({ description: 'Lines that create a device' }),
  updated: Type.Integer({ description: 'Lines that change a device' }),
  unchanged: Type.Integer({ description: 'Lines that say what is there already' }),
  failed: Type.Integer({ description: 'Lines at fault; always 0 when something was written' }),
} as const;

/** How many lines do what. */
export function countsOf(plan: Plan) {
  return {
    created: countOf(plan, 'create'),
    updated: countOf(plan, 'update'),
    unchanged: countOf(plan, 'unchanged'),
    failed: countOf(plan, 'error'),
  };
}

/** @throws AppError `invalid_content` that lists the first lines at fault. */
function needNoFault(plan: Plan): void {
  const faults = plan.filter(({ action }) => action === 'error');
  if (faults.length === 0) return;
  throw new AppError('invalid_content', `${faults.length} of ${plan.length} lines are wrong`, {
    details: faults.slice(0, faultsShown).map(({ line, message }) => ({
      pointer: '/csv',
      message: `line ${line}: ${message}`,
    })),
    hint: 'Nothing was written. With ?dryRun=true the answer says for every line what would happen.',
  });
}

/** The devices that a plan creates. */
export const createdBy = (plan: Plan): readonly string[] =>
  plan.filter(({ action }) => action === 'create').map(({ deviceID }) => deviceID);

/**
 * Writes what the plan says, all of it or nothing.
 * @param further statements of the same batch, after the devices.
 * @throws AppError `invalid_content` for a line at fault, `conflict`.
 */
export async function writePlan(
  services: ApiServices,
  actor: Actor,
  { plan, further = [] }: { readonly plan: Plan; readonly further?: readonly Statement[] },
): Promise<void> {
  needNoFault(plan);
  const { accountID } = actor.caller;
  const atMs = Math.round(services.clock.utcMs());
  const toRow = ({ deviceID, fields }: CheckedLine): ImportRow => ({ deviceID, fields });
  const created = plan.filter(({ action }) => action === 'create').map(toRow);
  const changed = plan.filter(({ action }) => action === 'update').map(toRow);
  const moved = changed.filter(({ fields }) => fields.uniqueID !== undefined).map(({ deviceID }) => deviceID);
  if (created.length + changed.length === 0) return;
  const { failed: _none, ...counts } = countsOf(plan);
  const inserts = [
    ...clearUniqueIDs(accountID, moved),
    ...insertBare(accountID, created, Math.floor(atMs / 1000)),
  ];
  await turn();
  const updates = updateMany(accountID, [...created, ...changed]);
  await turn();
  try {
    await services.db.write([
      lockAccount(accountID),
      auditEntry(services, actor, { action: 'device.import', object: '', detail: counts }),
      ...inserts,
      ...updates,
      ...further,
      needRoom(accountID),
    ]);
  } catch (thrown) {
    if (!isDataFault(thrown)) throw thrown;
    const room = await freeDevices(services.db, accountID);
    if (room !== null && room.count + created.length > room.limit)
      throw await fullAccount(services, accountID);
    throw new AppError('conflict', 'A uniqueid of the file was given to another device meanwhile', {
      hint: 'Nothing was written. Send the file again.',
    });
  }
}

async function* pagesOf(plan: Plan): Pages<Pick<CheckedLine, 'line' | 'deviceID' | 'action' | 'message'>> {
  for (let start = 0; start < plan.length; start += linesPerPage) {
    yield plan
      .slice(start, start + linesPerPage)
      .map(({ line, deviceID, action, message }) => ({ line, deviceID, action, message }));
    await turn();
  }
}

/**
 * Reads a file and judges each line; writes nothing.
 * @throws AppError `forbidden` for a caller who does not see the whole account, `invalid_content` for another kind of file.
 */
export async function planOf(
  services: ApiServices,
  caller: Caller,
  file: { readonly csv: string; readonly linesMost: number },
): Promise<Plan> {
  if (caller.scope.limitedTo !== null) {
    throw new AppError('forbidden', 'You see the devices of your groups only, and so cannot import', {
      hint: 'Ask an administrator of the account.',
    });
  }
  const rows = await readLines(await readCsv(file.csv, file.linesMost + 1));
  const fleet = await readFleet(services, caller, rows);
  await turn();
  const plan = judge(rows, fleet);
  await turn();
  return plan;
}

/** Asks for a check only. */
export const dryRunQuery = {
  dryRun: Type.Optional(Type.Enum(['true', 'false'], { description: '`true`: check and write nothing' })),
} as const;

const importDevices = operation({
  id: 'importDevices',
  method: 'POST',
  path: '/device/import/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: false },
  tag: 'Devices',
  summary: 'Create and change many devices from CSV',
  description: `An addition to the interface: creates and changes up to ${linesMost} devices. Send the file as it is with
\`Content-Type: text/csv\`, or as the member \`csv\` of a JSON object; at most 1 MiB.

The first line names the columns as the members of createdevice and of settings are called, in any order; \`deviceID\` must
be among them: \`deviceID\`, \`uniqueid\`, \`sms\`, \`deviceDescription\`, \`deviceDriver\`,
${Object.keys(settingMembers)
  .map((name) => `\`${name}\``)
  .join(
    ', ',
  )}. Any other column is refused. Cells follow RFC 4180 (quotes, line breaks within quotes, UTF-8, a byte order
mark is passed over); the separator is the comma, or the semicolon when the first line has semicolons and no comma. Spaces
at the ends of a cell are dropped.

A line whose device is there changes what its cells name, any other creates the device. **An empty cell changes nothing.**
Devices may exchange their \`uniqueid\` within one file. A device named twice is an error.

**All or nothing:** one line at fault, or more devices than the account may have, and nothing is written (422); the first
${faultsShown} faults are in \`errors\` with their line. With \`?dryRun=true\` nothing is written in any case, and \`lines\` says
of each line what would happen; otherwise \`lines\` is empty. Who sees the devices of some groups only cannot import (422
\`forbidden\`).`,
  params: Type.Object({}),
  query: Type.Object(dryRunQuery, { additionalProperties: false }),
  body: Type.Object({ csv: Type.String({ description: 'The file' }) }, { additionalProperties: false }),
  textBody: { mediaType: 'text/csv', member: 'csv' },
  result: Type.Object({
    ...envelope,
    ...countMembers,
    lines: Type.Array(lineView, { description: 'With `dryRun`: every line; otherwise empty' }),
  }),
  errors: ['conflict', 'forbidden'],
  effects: true,
  examples: {
    body: { csv: 'deviceID,uniqueid,deviceDriver\r\nvan-3,490154203237526,M. Roy\r\n' },
    result: { created: 1, updated: 0, unchanged: 0, failed: 0, lines: [] },
  },
  async run({ body, query, caller, source }, services) {
    const plan = await planOf(services, caller, { csv: body.csv, linesMost });
    const isDry = query.dryRun === 'true';
    if (!isDry) await writePlan(services, { caller, source }, { plan });
    return { ...ok, ...countsOf(plan), lines: isDry ? pagesOf(plan) : [] };
  },
});

export const deviceImportOperations = [importDevices] as const;
