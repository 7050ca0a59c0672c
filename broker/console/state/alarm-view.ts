// The lists of alarms that the screen can show, and what a user may do with one. Pure.
import type { Alarm } from '../api/operations.ts';

/** Characters of a note. */
export const noteMost = 1000;

export const alarmFilters = ['open', 'new', 'taken', 'shelved', 'closed'] as const;
export type AlarmFilter = (typeof alarmFilters)[number];

export function matchesAlarm({ alarmState }: Alarm, filter: AlarmFilter): boolean {
  return filter === 'open' ? alarmState !== 'closed' : alarmState === filter;
}

/** The two clocks differ by less than this all the time, s. */
const clockFaultS = 60;

/**
 * Compares the vehicle's time of the first event with the service's opening time, which orders and ages alarms. `ahead`:
 * impossible, as nothing happens after its receipt.
 */
export function beganOf({ firstTimestamp, opened }: Alarm): 'then' | 'earlier' | 'ahead' {
  if (Math.abs(firstTimestamp - opened) <= clockFaultS) return 'then';
  return firstTimestamp < opened ? 'earlier' : 'ahead';
}

export interface AlarmRights {
  readonly canTake: boolean;
  readonly canAssign: boolean;
  readonly canRelease: boolean;
  readonly canShelve: boolean;
  readonly canUnshelve: boolean;
  readonly canClose: boolean;
  readonly canNote: boolean;
}

/** Offered actions; the service decides. @param role `viewer`, `operator` or `admin`; '' until it is known. */
export function rightsOf(alarm: Alarm, userID: string, role: string): AlarmRights {
  const mayHandle = role === 'operator' || role === 'admin';
  const isOwn = alarm.owner === userID || role === 'admin';
  const { alarmState } = alarm;
  return {
    canTake: mayHandle && alarmState === 'new',
    canAssign: mayHandle && (alarmState === 'new' || (alarmState === 'taken' && isOwn)),
    canRelease: mayHandle && alarmState === 'taken' && isOwn,
    canShelve: mayHandle && (alarmState === 'new' || (alarmState === 'taken' && isOwn)),
    canUnshelve: mayHandle && alarmState === 'shelved',
    canClose: mayHandle && alarmState !== 'closed' && (alarmState !== 'taken' || isOwn),
    canNote: mayHandle,
  };
}
