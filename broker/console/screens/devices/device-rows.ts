// Devices as the list shows and finds them. Pure.
import { presenceOf } from '../../../../src/core/presence.ts';
import type { DeviceFilter } from '../../state/device-view.ts';

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

/** Digits that the service takes as a number without loss. */
export const isHardwareNumber = (text: string): boolean =>
  text === '' || (/^[0-9]{1,16}$/.test(text) && Number.isSafeInteger(Number(text)));
