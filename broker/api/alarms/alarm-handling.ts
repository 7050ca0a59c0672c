// A user's changes of an alarm: statements with their audit entry, and reasons of refusals. A change is conditional: of
// two concurrent requests one succeeds, and the error of the other names the owner of the alarm.
import { AppError } from '../../../src/core/errors.ts';
import type { Statement } from '../../../src/ports.ts';
import type { Alarm } from '../../core/alarms/alarm.ts';
import { type AlarmActor, type Change, changeAlarm } from '../../store/alarms/alarm-changes.ts';
import type { ApiServices } from '../base/api-services.ts';
import { auditEntry } from '../base/audit-entry.ts';
import type { Caller } from '../base/caller.ts';
import { invalidAt } from '../base/input-members.ts';
import { needAlarm, viewAnswer } from './alarm-shapes.ts';

/** The request that a change belongs to. */
export interface AlarmRequest {
  readonly caller: Caller;
  readonly source: string;
}

export interface Target {
  /** As a number or in digits. */
  readonly alarmID: string | number;
  readonly version?: number;
}

export const nowOf = ({ clock }: ApiServices): number => Math.round(clock.utcMs());

export function actorOf({ userID, scope, role }: Caller): AlarmActor {
  return { userID, scope, isAdmin: role === 'admin' };
}

/** Where an alarm stands, for people. */
function standingOf({ state, owner, closedBy, shelvedBy }: Alarm): string {
  switch (state) {
    case 'new':
      return 'it has no owner';
    case 'taken':
      return `${JSON.stringify(owner)} has it`;
    case 'shelved':
      return `${JSON.stringify(shelvedBy)} shelved it`;
    case 'closed':
      return `${JSON.stringify(closedBy)} closed it`;
  }
}

/** Reason why a change was not made, from the present state. */
export function refusalOf(alarm: Alarm, { version }: Target): AppError {
  if (version !== undefined && version !== alarm.version) {
    return new AppError(
      'conflict',
      `The alarm ${alarm.alarmNo} was changed meanwhile: it has version ${alarm.version}, not ${version}; ${standingOf(alarm)}`,
      { hint: 'Read it again, and decide on its present state.' },
    );
  }
  return new AppError(
    'conflict',
    `The alarm ${alarm.alarmNo} cannot be changed like this: ${standingOf(alarm)}`,
    {
      hint: 'getAlarm shows its state. Its owner or an administrator can release it; takeOver takes it from another user.',
    },
  );
}

export interface Made {
  readonly target: Target;
  readonly change: Change;
  /** Of the audit entry, beside device and status code. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The statements of one change by a user. */
export function statementsOf(
  services: ApiServices,
  request: AlarmRequest,
  alarm: Alarm,
  made: Made,
): readonly Statement[] {
  const { target, change, detail = {} } = made;
  const { alarmNo, deviceID, statusCode } = alarm;
  const audited = {
    action: `alarm.${change.action}`,
    object: String(alarmNo),
    detail: { deviceID, statusCode, ...detail },
  };
  return changeAlarm(
    { alarmNo, version: target.version ?? null },
    { actor: actorOf(request.caller), change, nowMs: nowOf(services) },
    (onlyIf) => auditEntry(services, request, { ...audited, onlyIf }),
  );
}

/** Changes one alarm. @throws AppError `not_found`, `conflict`. */
export async function changeOne(services: ApiServices, request: AlarmRequest, made: Made) {
  const { alarmID } = made.target;
  const alarm = await needAlarm(services, request.caller, alarmID);
  const results = await services.db.write(statementsOf(services, request, alarm, made));
  const now = await needAlarm(services, request.caller, alarmID);
  if (results.at(-1)?.changes !== 1) throw refusalOf(now, made.target);
  return viewAnswer(now);
}

/** @throws AppError `invalid_content` for `other` without a text. */
export function needReason({ reason, text }: { readonly reason: string; readonly text?: string }): void {
  if (reason !== 'other' || (text ?? '').trim() !== '') return;
  throw invalidAt('/text', 'is required with the reason other');
}
