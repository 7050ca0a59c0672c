// What the wallboard shows of alarms and orders, and which tokens it takes. Pure functions of the console.
import { describe, expect, it } from 'vitest';
import type { Alarm } from '../../broker/console/api/operations.ts';
import type { Vehicle } from '../../broker/console/state/fleet.ts';
import { vehicleOf } from '../../broker/console/state/fleet-messages.ts';
import {
  boardAlarms,
  boardOrders,
  parseBoardToken,
  refusalOf,
  rowsMost,
  type TokenEntry,
} from '../../broker/console/state/wallboard/board-view.ts';
import type { FleetPending } from '../../src/core/events/fleet-row.ts';
import { fleetRow, pendingChange, rowAlone } from '../support/http/fleet-row.ts';

describe('the wallboard', () => {
  const alarmOf = (change: Partial<Alarm>): Alarm =>
    ({ alarmID: '1', priority: 'high', alarmState: 'new', opened: 1, ...change }) as Alarm;

  it('shows new and taken alarms, the most urgent first, and counts the others', () => {
    const all = [
      alarmOf({ alarmID: '1', priority: 'low' }),
      alarmOf({ alarmID: '2', alarmState: 'shelved' }),
      alarmOf({ alarmID: '3', alarmState: 'taken', priority: 'critical' }),
      ...Array.from({ length: 9 }, (_, at) => alarmOf({ alarmID: String(at + 10), priority: 'critical' })),
    ];
    const { shown, count, shelved } = boardAlarms(all);
    expect(shown).toHaveLength(rowsMost.alarms);
    expect(shown.every(({ priority, alarmState }) => priority === 'critical' && alarmState === 'new')).toBe(
      true,
    );
    expect([count, shelved]).toEqual([11, 1]);
  });

  it('shows each order that waits, cuts and restores, cargo locked and unlocked', () => {
    const of = (...pending: readonly FleetPending[]): Vehicle =>
      vehicleOf(fleetRow({ pending: pending.length === 0 ? null : pending }), rowAlone);
    expect(boardOrders([of()])).toEqual([]);
    const both = of(
      pendingChange({ commandState: 'approval' }),
      pendingChange({ feature: 'cargoaccess', state: '0', commandState: 'sent' }),
    );
    expect(boardOrders([both]).map(({ asked, state, vehicleName }) => [asked, state, vehicleName])).toEqual([
      ['cut', 'approval', 'van-01'],
      ['lock', 'sent', 'van-01'],
    ]);
    expect(boardOrders([of(pendingChange({ state: '0' }))])[0]?.asked).toBe('restore');
  });

  it('takes a token that may read and nothing else', () => {
    const entry = (change: Partial<TokenEntry>): TokenEntry =>
      ({ kind: 'api', scopes: ['read'], ...change }) as TokenEntry;
    expect(refusalOf(entry({}))).toBeNull();
    expect(refusalOf(entry({ kind: 'login' }))).toBe('login');
    expect(refusalOf(undefined)).toBe('login');
    expect(refusalOf(entry({ scopes: ['read', 'command'] }))).toBe('scopes');
    expect(refusalOf(entry({ scopes: ['write'] }))).toBe('scopes');
  });

  it('reads a whole token as it was pasted, or from an address, and nothing else', () => {
    const random = 'a1'.repeat(32);
    const expected = { token: `acme%7Cscreens%7C${random}`, accountID: 'acme', userID: 'screens' };
    for (const text of [
      expected.token,
      ` ${expected.token}\n`,
      `#${expected.token}`,
      `acme|screens|${random}`,
    ])
      expect(parseBoardToken(text)).toEqual(expected);
    for (const text of ['', '#', 'acme', `share-${random}`, expected.token.slice(0, -1), `acme%7C${random}`])
      expect(parseBoardToken(text)).toBeNull();
  });
});
