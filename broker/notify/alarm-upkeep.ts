// Automatic handling of alarms: ends shelving, closes alarms whose condition has ended, and requeues alarms without their
// owner. Every change carries its condition, an audit entry and its activity.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log, Statement } from '../../src/ports.ts';
import { type Alarm, serviceActor } from '../core/alarms/alarm.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { insertAudit } from '../store/accounts/audit.ts';
import {
  type AlarmActor,
  abandon,
  type Change,
  changeAlarm,
  closeEnded,
  unshelve,
} from '../store/alarms/alarm-changes.ts';
import { abandonedAlarms, endedAlarms, shelvesToEnd } from '../store/alarms/alarm-upkeep.ts';

export interface AlarmUpkeepOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** False while another process does it; absent: there is none. */
  readonly isOurs?: () => boolean;
}

export interface AlarmUpkeep {
  /** Alarms were raised, repeated or ended. */
  wake(): void;
  /** Does all that is due; for tests. */
  runAll(): Promise<void>;
  close(): Promise<void>;
}

const periodMs = 1000;
/** Several events make one run. */
const gatherMs = 20;
/** Period of the check that every owner still exists. */
const ownersPeriodMs = 5000;
const restFactor = 3;

const service: AlarmActor = { userID: serviceActor, scope: null, isAdmin: true };

function statementsOf(alarm: Alarm, change: Change, nowMs: number): readonly Statement[] {
  const { alarmNo, version, accountID, deviceID, statusCode } = alarm;
  const { action, other = '', text = '' } = change;
  const audited = {
    accountID,
    atMs: nowMs,
    actor: serviceActor,
    source: '',
    action: `alarm.${action}`,
    object: String(alarmNo),
    detail: { deviceID, statusCode, ...(other === '' ? {} : { other }), ...(text === '' ? {} : { text }) },
  };
  return changeAlarm({ alarmNo, version }, { actor: service, change, nowMs }, (onlyIf) =>
    insertAudit(audited, onlyIf),
  );
}

/** Starts the work, until `close`. */
export function createAlarmUpkeep(options: AlarmUpkeepOptions): AlarmUpkeep {
  const { db, clock, log, isOurs } = options;
  const state = { isClosed: false };
  const mayGoOn = (): boolean => !state.isClosed && isOurs?.() !== false;
  let ownersMs = Number.NEGATIVE_INFINITY;

  /** Changes what a read finds until it finds nothing, or nothing of it could be changed. */
  const changeAll = async (
    find: (nowMs: number) => Promise<readonly Alarm[]>,
    changeOf: (alarm: Alarm, nowMs: number) => Change,
  ): Promise<void> => {
    for (let changes = 1; changes > 0 && mayGoOn(); ) {
      const nowMs = Math.round(clock.utcMs());
      const alarms = await find(nowMs);
      if (alarms.length === 0) return;
      const results = await db.write(
        alarms.flatMap((alarm) => statementsOf(alarm, changeOf(alarm, nowMs), nowMs)),
      );
      changes = results.reduce((sum, result) => sum + result.changes, 0);
    }
  };
  const isOver = ({ shelvedUntilMs }: Alarm, nowMs: number): boolean => (shelvedUntilMs ?? 0) <= nowMs;
  const changeDue = async (): Promise<void> => {
    await changeAll(
      () => endedAlarms(db),
      (_alarm, nowMs) => closeEnded(service, nowMs),
    );
    await changeAll(
      (nowMs) => shelvesToEnd(db, nowMs),
      (alarm, nowMs) => unshelve(nowMs, isOver(alarm, nowMs) ? 'The time is over' : 'Raised again'),
    );
    if (clock.monoMs() - ownersMs < ownersPeriodMs) return;
    ownersMs = clock.monoMs();
    await changeAll(
      () => abandonedAlarms(db),
      ({ owner }, nowMs) => abandon(nowMs, owner),
    );
  };
  const run = async (): Promise<number> => {
    if (isOurs?.() === false) return periodMs;
    await changeDue().catch((thrown: unknown) =>
      log.error('alarm_upkeep_failed', { reason: messageOf(thrown) }),
    );
    return periodMs;
  };
  const task = createPeriodicTask({ clock, firstMs: periodMs, gatherMs, pauseFactor: restFactor, run });
  return {
    wake: () => task.wake(),
    runAll() {
      ownersMs = Number.NEGATIVE_INFINITY;
      return task.runNow();
    },
    async close() {
      state.isClosed = true;
      await task.close();
    },
  };
}
