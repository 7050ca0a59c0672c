// Checks each line of an import file: its cells against the schema, its device against the fleet, its uniqueid against all
// others. Writes nothing.
import { setImmediate as turn } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { type DeviceFields, type DeviceRow, listDevices } from '../../store/devices/devices.ts';
import type { CsvRow } from '../answers/csv.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Caller } from '../base/caller.ts';
import { createChecker } from '../base/request.ts';
import {
  descriptionText,
  fieldsOf,
  given,
  newDeviceID,
  settingMembers,
  shortText,
  uniqueNumber,
} from './device-members.ts';

const lineShape = Type.Object(
  {
    deviceID: newDeviceID,
    uniqueid: Type.Optional(uniqueNumber),
    sms: Type.Optional(shortText('Telephone number of the unit')),
    deviceDescription: Type.Optional(descriptionText),
    deviceDriver: Type.Optional(shortText('Driver')),
    ...settingMembers,
  },
  { additionalProperties: false },
);
type Line = Static<typeof lineShape>;

const checker = createChecker({ params: Type.Object({}), body: lineShape });
const columnNames = Object.keys(lineShape.properties);
const numberColumns: readonly string[] = ['uniqueid', 'maxPassengers'];
/** Lines checked, and devices read, before others have their turn. */
const atOnce = 200;

export interface CheckedLine {
  readonly line: number;
  readonly deviceID: string;
  /** Fields to write: of an existing device only changes. */
  readonly fields: DeviceFields;
  readonly action: 'create' | 'update' | 'unchanged' | 'error';
  /** What is wrong; empty when nothing is. */
  readonly message: string;
}

/** A single line: its content, or its faults. */
export interface ReadLine {
  readonly line: number;
  readonly deviceID: string;
  readonly fields: DeviceFields;
  readonly fault: string | null;
}

const columnOf = (head: string): string =>
  columnNames.find((name) => name.toLowerCase() === head.toLowerCase()) ?? head;

function needHeader(header: CsvRow | undefined): readonly string[] {
  // Spreadsheets keep empty columns at the end, and people write heads as they like.
  const heads = header?.cells.map((cell) => cell.trim()) ?? [];
  const last = heads.findLastIndex((head) => head !== '');
  const names = heads.slice(0, last + 1).map(columnOf);
  const refuse = (message: string): never => {
    throw new AppError('invalid_content', message, {
      details: [{ pointer: '/csv', message }],
      hint: `The columns are ${columnNames.join(', ')}.`,
    });
  };
  if (!names.includes('deviceID')) return refuse('the first line names no column deviceID');
  const unknown = names.find((name) => !columnNames.includes(name));
  if (unknown !== undefined) return refuse(`the column ${JSON.stringify(unknown.slice(0, 64))} is not known`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return refuse(`the column ${twice} stands twice`);
  return names;
}

/** A cell that is no whole number stays text, so the schema names the fault. */
const valueOf = (name: string, cell: string): string | number =>
  numberColumns.includes(name) && /^[0-9]{1,16}$/.test(cell) ? Number(cell) : cell;

const fieldsOfLine = (line: Line): DeviceFields => ({
  ...given({
    uniqueID: line.uniqueid?.toString(),
    sms: line.sms,
    description: line.deviceDescription,
    driver: line.deviceDriver,
  }),
  ...fieldsOf(line),
});

function faultOf(thrown: unknown): string {
  if (!(thrown instanceof AppError) || thrown.details.length === 0) return messageOf(thrown);
  return thrown.details.map(({ pointer, message }) => `${pointer.slice(1)} ${message}`).join('; ');
}

function readLine(names: readonly string[], { line, cells: written }: CsvRow): ReadLine {
  const isEmptyBeyond = written.slice(names.length).every((cell) => cell.trim() === '');
  const cells = isEmptyBeyond ? written.slice(0, names.length) : written;
  const deviceID = cells[names.indexOf('deviceID')]?.trim() ?? '';
  if (cells.length !== names.length) {
    return { line, deviceID, fields: {}, fault: `has ${cells.length} cells instead of ${names.length}` };
  }
  const entries = names.flatMap((name, at) => {
    const cell = cells[at]?.trim() ?? '';
    return cell === '' ? [] : [[name, valueOf(name, cell)] as const];
  });
  try {
    // The checker gives back what it was given, checked against this very schema.
    const checked = checker.readBody(Object.fromEntries(entries)) as Line;
    return { line, deviceID: checked.deviceID, fields: fieldsOfLine(checked), fault: null };
  } catch (thrown) {
    return { line, deviceID, fields: {}, fault: faultOf(thrown) };
  }
}

/** @throws AppError `invalid_content` when the header is wrong or there is no line. */
export async function readLines(rows: readonly CsvRow[]): Promise<readonly ReadLine[]> {
  const [header, ...others] = rows;
  const names = needHeader(header);
  if (others.length === 0) throw new AppError('invalid_content', 'The file has no line below its header');
  const lines: ReadLine[] = [];
  for (const row of others) {
    lines.push(readLine(names, row));
    if (lines.length % atOnce === 0) await turn();
  }
  return lines;
}

/** What of the fleet the file is judged by. */
export interface Fleet {
  /** The devices that the file names. */
  readonly devices: ReadonlyMap<string, DeviceRow>;
  /** uniqueid -> device, of the whole account. */
  readonly holders: ReadonlyMap<string, string>;
}

/** Reads the fleet in pages. */
export async function readFleet(
  { db }: Pick<ApiServices, 'db'>,
  caller: Caller,
  lines: readonly ReadLine[],
): Promise<Fleet> {
  const wanted = new Set(lines.map(({ deviceID }) => deviceID));
  const devices = new Map<string, DeviceRow>();
  const holders = new Map<string, string>();
  let after = '';
  for (;;) {
    const page = await listDevices(db, caller.scope, { after, limit: atOnce });
    for (const row of page) {
      if (row.uniqueID !== '') holders.set(row.uniqueID, row.deviceID);
      if (wanted.has(row.deviceID)) devices.set(row.deviceID, row);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < atOnce) return { devices, holders };
    after = last.deviceID;
  }
}

/** Fields that differ from the device. */
const changesOf = (row: DeviceRow, fields: DeviceFields): DeviceFields =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => row[name as keyof DeviceFields] !== value),
  );

/** Devices of each uniqueid once the file is written; two are a conflict. */
function claimsOf(lines: readonly ReadLine[], fleet: Fleet): ReadonlyMap<string, readonly string[]> {
  const claims = new Map<string, string[]>();
  const claiming = new Set<string>();
  for (const { deviceID, fields, fault } of lines) {
    if (fault !== null || fields.uniqueID === undefined) continue;
    claiming.add(deviceID);
    claims.set(fields.uniqueID, [...(claims.get(fields.uniqueID) ?? []), deviceID]);
  }
  for (const [uniqueID, deviceID] of fleet.holders) {
    const claimed = claims.get(uniqueID);
    // A device that takes another number in this file gives its old one up.
    if (claimed !== undefined && !claiming.has(deviceID)) claimed.push(deviceID);
  }
  return claims;
}

/** What each line would do. */
export function judge(lines: readonly ReadLine[], fleet: Fleet): readonly CheckedLine[] {
  const claims = claimsOf(lines, fleet);
  const firstLine = new Map<string, number>();
  return lines.map(({ line, deviceID, fields, fault }) => {
    const error = (message: string): CheckedLine => ({ line, deviceID, fields, action: 'error', message });
    if (fault !== null) return error(fault);
    const first = firstLine.get(deviceID);
    if (first !== undefined) return error(`deviceID ${deviceID} stands on line ${first} already`);
    firstLine.set(deviceID, line);
    const other = claims.get(fields.uniqueID ?? '')?.find((holder) => holder !== deviceID);
    if (other !== undefined) return error(`uniqueid ${fields.uniqueID} belongs to device ${other}`);
    const row = fleet.devices.get(deviceID);
    if (row === undefined) return { line, deviceID, fields, action: 'create', message: '' };
    const changes = changesOf(row, fields);
    const action = Object.keys(changes).length === 0 ? 'unchanged' : 'update';
    return { line, deviceID, fields: changes, action, message: '' };
  });
}
