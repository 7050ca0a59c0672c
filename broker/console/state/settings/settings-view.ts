// The settings of vehicles as a form shows them: each with its limits, where its value comes from, and what a change does. Pure.
import type { SettingsChange } from '../../../../src/core/settings/change.ts';
import {
  overlaySettings,
  type Settings,
  settingsSchema,
  standardSettings,
} from '../../../../src/core/settings/settings.ts';
import { type Quantity, type System, type Unit, unitOf } from '../account/measures.ts';
import { shownLimit, storedValue, typedValue } from './typed-amount.ts';

export type SettingTable = keyof Settings;
export type SettingValue = number | boolean | string;

/** Unit of a number; `share` is stored as a fraction and shown in percent. */
export type SettingUnit =
  | 's'
  | 'm'
  | 'kmh'
  | 'volts'
  | 'degrees'
  | 'percent'
  | 'share'
  | 'megabytes'
  | 'litres'
  | 'perSecond'
  | 'rpm'
  | 'people';

export interface Setting {
  /** Table and member with a slash between, as in the faults of the service: `/reporting/movingS`. */
  readonly pointer: string;
  readonly table: SettingTable;
  readonly name: string;
  /** Null: a switch or a text. */
  readonly number: { readonly low: number; readonly high: number; readonly unit: SettingUnit } | null;
  /** Most characters of a text; null: it is none. */
  readonly textMost: number | null;
  /** Without any choice; null: there is none. */
  readonly standard: SettingValue | null;
}

/** By the end of the name, the first that fits. */
const unitEnds: readonly (readonly [end: RegExp, unit: SettingUnit])[] = [
  [/PerS$/, 'perSecond'],
  [/(Fraction|PerHour|^lowHysteresis)$/, 'share'],
  [/Kmh$/, 'kmh'],
  [/Rpm$/, 'rpm'],
  [/Deg$/, 'degrees'],
  [/Percent$/, 'percent'],
  [/Mb$/, 'megabytes'],
  [/Most$/, 'people'],
  [/S$/, 's'],
  [/M$/, 'm'],
  [/V$/, 'volts'],
  [/L$/, 'litres'],
];

type Member = Readonly<{
  type?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  default?: SettingValue;
}>;

function settingOf(table: SettingTable, name: string, member: Member): Setting {
  const { type, minimum = 0, maximum = 0, maxLength = 0, default: standard = null } = member;
  const unit = unitEnds.find(([end]) => end.test(name))?.[1] ?? 'people';
  return {
    pointer: `/${table}/${name}`,
    table,
    name,
    number: type === 'number' || type === 'integer' ? { low: minimum, high: maximum, unit } : null,
    textMost: type === 'string' ? maxLength : null,
    standard,
  };
}

/** The settings of one table in the order of its schema. */
export const settingsOf = (table: SettingTable): readonly Setting[] =>
  Object.entries(settingsSchema.properties[table].properties).map(([name, member]) =>
    settingOf(table, name, member as Member),
  );

const all: readonly Setting[] = Object.keys(settingsSchema.properties).flatMap((table) =>
  settingsOf(table as SettingTable),
);

/** What was chosen for a setting; undefined: nothing. */
export function chosenIn(choice: SettingsChange, { table, name }: Setting): SettingValue | undefined {
  return (choice[table] as Readonly<Record<string, SettingValue>> | undefined)?.[name];
}

/** Typed texts by pointer; an empty text chooses nothing. */
export type SettingsDraft = Readonly<Record<string, string>>;

const isQuantity = (unit: SettingUnit): unit is SettingUnit & Quantity =>
  unit === 'kmh' || unit === 'm' || unit === 'litres';

/** The unit in which a reader sees a setting. */
export const readerUnit = (unit: SettingUnit, system: System): SettingUnit | Unit =>
  isQuantity(unit) ? unitOf(unit, system) : unit;

/** The limits of a number as a reader sees them. */
export const readerLimits = (
  { low, high, unit }: NonNullable<Setting['number']>,
  system: System,
): readonly [low: number, high: number] => {
  if (isQuantity(unit)) return [shownLimit(low, 'low', unit, system), shownLimit(high, 'high', unit, system)];
  const scale = unit === 'share' ? 100 : 1;
  return [low * scale, high * scale];
};

/** A value as it is typed; empty without one. A number has a decimal point in every language. */
export function typedOf({ number }: Setting, value: SettingValue | undefined, system: System): string {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string' || number === null) return String(value);
  if (isQuantity(number.unit)) return typedValue(value, number.unit, system);
  return String(number.unit === 'share' ? Number((value * 100).toPrecision(12)) : value);
}

/** NaN for what is no number; the limits are judged by `faultsOf`. */
function parseSetting({ number, textMost }: Setting, text: string, system: System): SettingValue {
  if (textMost !== null) return text.trim();
  if (number === null) return text === 'on';
  const typed = text.trim().replace(',', '.');
  const value = /^-?\d{1,12}(\.\d{1,6})?$/.test(typed) ? Number(typed) : Number.NaN;
  if (isQuantity(number.unit)) return storedValue(value, number.unit, system);
  return number.unit === 'share' ? value / 100 : value;
}

/** What is typed for a setting. The text of a value that is known already is that value, to the last bit. */
function readSetting(
  setting: Setting,
  text: string,
  known: readonly (SettingValue | undefined)[],
  system: System,
): SettingValue {
  const same = known.find((value) => value !== undefined && typedOf(setting, value, system) === text.trim());
  return same ?? parseSetting(setting, text, system);
}

/** The whole choice with the draft laid over it, as the service takes it. */
export function withDraft(choice: SettingsChange, draft: SettingsDraft, system: System): SettingsChange {
  const tables: Record<string, Record<string, SettingValue>> = {};
  for (const setting of all) {
    const text = draft[setting.pointer];
    const chosen = chosenIn(choice, setting);
    const known = [chosen, setting.standard ?? undefined];
    const value =
      text === undefined ? chosen : text === '' ? undefined : readSetting(setting, text, known, system);
    if (value !== undefined) (tables[setting.table] ??= {})[setting.name] = value;
  }
  return tables;
}

/** Pointers of what the service would refuse: the same code judges here. */
export function faultsOf(choice: SettingsChange): ReadonlySet<string> {
  const verdict = overlaySettings(standardSettings, choice);
  return new Set(verdict.kind === 'ok' ? [] : verdict.faults.map(({ pointer }) => pointer));
}

export interface SettingChange {
  readonly setting: Setting;
  /** Undefined: not chosen. */
  readonly before: SettingValue | undefined;
  readonly after: SettingValue | undefined;
}

/** Differences between two choices, in the order of the tables. */
export const changesBetween = (before: SettingsChange, after: SettingsChange): readonly SettingChange[] =>
  all
    .map((setting) => ({ setting, before: chosenIn(before, setting), after: chosenIn(after, setting) }))
    .filter((change) => change.before !== change.after);

/** Numbers whose 0 stops a watch of the vehicle. */
const watches: ReadonlySet<string> = new Set(
  [
    'enRouteS',
    'dormantS',
    'idleS',
    'idleExcessS',
    'speedingKmh',
    'towMotionS',
    'powerCutV',
    'lowSupplyV',
    'lowBackupV',
    'jamS',
  ].map((name) => `/alarms/${name}`),
);
const watchSwitches: ReadonlySet<string> = new Set([
  '/alarms/towing',
  '/alarms/breachLocked',
  '/fuel/enabled',
]);

/**
 * Reason why a change needs a confirmation: `watch` stops an alarm, `zones` decides when a zone acts, which may cut the engine;
 * null: none.
 */
export function lookOf({ setting, after }: SettingChange): 'watch' | 'zones' | null {
  if (setting.table === 'zones') return 'zones';
  const stops =
    (watches.has(setting.pointer) && after === 0) || (watchSwitches.has(setting.pointer) && after === false);
  return stops ? 'watch' : null;
}
