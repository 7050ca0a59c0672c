// State of the wallboard, from alarms and vehicles, and its check of the token. Pure.
import type { Alarm, Result } from '../../api/operations.ts';
import type { Vehicle, WaitingOrder } from '../fleet.ts';
import { compareAlarms } from '../fleet-messages.ts';

/** Rows that can be read from five metres; the rest is a number. */
export const rowsMost = { alarms: 6, orders: 3 } as const;

interface BoardAlarms {
  /** New and taken ones, the most urgent first. */
  readonly shown: readonly Alarm[];
  readonly count: number;
  readonly shelved: number;
}

export function boardAlarms(open: Iterable<Alarm>): BoardAlarms {
  const all = [...open];
  const waiting = all.filter(({ alarmState }) => alarmState === 'new' || alarmState === 'taken');
  return {
    shown: waiting.toSorted(compareAlarms).slice(0, rowsMost.alarms),
    count: waiting.length,
    shelved: all.filter(({ alarmState }) => alarmState === 'shelved').length,
  };
}

export interface BoardOrder extends WaitingOrder {
  readonly vehicleID: string;
  readonly vehicleName: string;
}

/** Orders that wait, by name of the vehicle. */
export function boardOrders(vehicles: Iterable<Vehicle>): readonly BoardOrder[] {
  return [...vehicles]
    .filter(({ orders }) => orders.length > 0)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap(({ id, name, orders }) =>
      orders.map((order) => ({ ...order, vehicleID: id, vehicleName: name })),
    );
}

export interface BoardToken {
  readonly token: string;
  readonly accountID: string;
  readonly userID: string;
}

/**
 * A token as it was pasted, or as it stands in the fragment of an address.
 * @returns null for what is no whole token.
 */
export function parseBoardToken(text: string): BoardToken | null {
  const plain = text.trim().replace(/^#/, '').replaceAll('|', '%7C');
  const [, accountID, userID] = /^([^%\s]{1,64})%7C([^%\s]{1,64})%7C[0-9a-f]{64}$/.exec(plain) ?? [];
  return accountID === undefined || userID === undefined ? null : { token: plain, accountID, userID };
}

export type TokenEntry = Result<'getTokens'>['tokens'][number];

/** Reason why a wallboard refuses a token; null: it may read and nothing else. */
export function refusalOf(own: TokenEntry | undefined): 'login' | 'scopes' | null {
  if (own?.kind !== 'api') return 'login';
  return own.scopes.length === 1 && own.scopes[0] === 'read' ? null : 'scopes';
}

/** The end of its token is said so many seconds before. */
export const expiryNoticeS = 14 * 86_400;
