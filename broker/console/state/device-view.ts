// What addresses say of devices: filters, tabs, dialogs and picked ones. A separate file, as the router loads it at the start. Pure.
import type { Settings } from '../../../src/core/settings/settings.ts';

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

/** The service's own rule for the id of a device, a user and a group. */
const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
export const isID = (text: string): boolean => idPattern.test(text);
