// Device screens and their address: list, tabs, and progress of an enrolment. Pure.
import { presenceOf } from '../../../src/core/presence.ts';
import type { Settings } from '../../../src/core/settings/settings.ts';
import type { Result } from '../api/operations.ts';

export const deviceFilters = ['all', 'online', 'offline', 'never'] as const;
export type DeviceFilter = (typeof deviceFilters)[number];

export const deviceTabs = ['details', 'enrol', 'settings', 'unreadable'] as const;
export type DeviceTab = (typeof deviceTabs)[number];

/** Times without any sign of life, each more than. */
export const silences = ['hour', 'day', 'week'] as const;
export type Silence = (typeof silences)[number];

/** As many devices as one request deletes. */
export const pickedMost = 100;

/** The devices that are picked, as they stand in the address: ids with commas between. */
export const parsePicked = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : [...new Set(text.split(',').filter(isID))].slice(0, pickedMost);

/** Tables of settings in the order in which they are shown. */
export const settingTables = [
  'reporting',
  'alarms',
  'fuel',
  'zones',
  'link',
  'diagnostics',
  'driver',
] as const satisfies readonly (keyof Settings)[];

/** Dialogs over the list and over one device. */
export const listDialogs = ['create', 'import', 'delete', 'group', 'cut'] as const;
export const deviceDialogs = ['secret', 'delete', 'code', 'end', 'drop'] as const;

/** What of a device the list asks for. */
export const deviceListFields =
  'deviceDisplayName,deviceDescription,deviceDriver,deviceUnique,deviceLastHeartbeat';

/** A device as the list shows it. */
export interface DeviceRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly driver: string;
  /** Hardware number; empty: none. */
  readonly unique: string;
  /** Null until it is known. */
  readonly isOnline: boolean | null;
  /** Epoch seconds; 0: the unit never sent anything. */
  readonly heartbeatS: number;
}

export const matchesDevice = (row: DeviceRow, filter: DeviceFilter): boolean =>
  filter === 'all' || presenceOf(row) === filter;

export function findsDevice({ id, name, description, driver, unique }: DeviceRow, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return (
    wanted === '' || [id, name, description, driver, unique].some((one) => one.toLowerCase().includes(wanted))
  );
}

/** The service's own rule for the id of a device, a user and a group. */
const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
export const isID = (text: string): boolean => idPattern.test(text);

/** Digits that the service takes as a number without loss. */
export const isHardwareNumber = (text: string): boolean =>
  text === '' || (/^[0-9]{1,16}$/.test(text) && Number.isSafeInteger(Number(text)));

export type EnrolmentCode = Result<'getEnrolmentCodes'>['codes'][number];
type Health = Pick<Result<'diagnostic'>, 'lastHello' | 'features' | 'sensors'>;

/** Progress of an enrolment: three steps, each with the time it was reached; null: not yet. */
export interface EnrolmentSteps {
  readonly used: number | null;
  readonly connected: number | null;
  /** With the first connection the unit names what is fitted; null too when it names nothing. */
  readonly fitted: number | null;
  /** The unit connected and named neither a relay nor an input. */
  readonly isBare: boolean;
}

/** @param health null until it is known. A connection before the use of the code was another unit's, or this one's under its old secret. */
export function enrolmentSteps(code: EnrolmentCode, health: Health | null): EnrolmentSteps {
  const used = code.usedOn;
  const hasConnected = used !== null && health !== null && health.lastHello >= used;
  const isFitted = hasConnected && health.features.length + health.sensors.length > 0;
  return {
    used,
    connected: hasConnected ? health.lastHello : null,
    fitted: isFitted ? health.lastHello : null,
    isBare: hasConnected && !isFitted,
  };
}

/** The command that an installer types at the vehicle. */
export const enrolCommand = (origin: string, code: string): string =>
  `fleetward-agent enrol --broker ${origin} --code ${code}`;
