// An alarm as the service handles it: states, limits, and the record that listings, the live stream and changes answer
// with. Pure.
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { statusText } from '../../../src/core/events/status-codes.ts';
import type { AlarmPriority } from '../notifications/alarm-kinds.ts';

export const openStates = ['new', 'taken', 'shelved'] as const;
export const alarmStates = [...openStates, 'closed'] as const;
export type AlarmState = (typeof alarmStates)[number];

/** Why people close an alarm. */
export const closeReasons = ['resolved', 'false_alarm', 'expected', 'test', 'duplicate', 'other'] as const;
/** `ended`: by the service, because the condition had ended. */
export type CloseReason = (typeof closeReasons)[number] | 'ended';

/** What was done with an alarm. `removed_owner`: by the service, because the owner can no longer handle it. */
export type AlarmAction =
  | 'take'
  | 'release'
  | 'assign'
  | 'shelve'
  | 'unshelve'
  | 'close'
  | 'note'
  | 'escalate'
  | 'removed_owner';

export const alarmLimits = {
  /** Open alarms of a device, and of an account; what is critical and concerns no geozone is opened beyond them. */
  openOfDevice: 100,
  openOfAccount: 20_000,
  /** Notes of an alarm, and characters of one. */
  notes: 50,
  noteCharacters: 1000,
  /** Activity kept of an alarm besides its notes; the audit log has all of it. */
  activity: 150,
  /** Newest events linked to an alarm; `count` has all of them. */
  events: 100,
  /** Newest deliveries shown with an alarm. */
  deliveries: 100,
  /** Longest time on the shelf. */
  shelvedS: 24 * 3600,
  /** Alarms changed by one call. */
  atOnce: 100,
} as const;

/** Actor of what the service does with an alarm by itself. */
export const serviceActor = 'service';

export interface Alarm {
  readonly alarmNo: number;
  readonly accountID: string;
  readonly deviceNo: number;
  readonly deviceID: string;
  readonly deviceName: string;
  /** Mailboxes of the device, with commas between them. */
  readonly notifyEmail: string;
  readonly statusCode: number;
  readonly priority: AlarmPriority;
  readonly closesItself: boolean;
  readonly state: AlarmState;
  /** '' without one. */
  readonly owner: string;
  readonly version: number;
  readonly changedMs: number;
  readonly openedMs: number;
  readonly firstTakenMs: number | null;
  readonly untakenMs: number;
  readonly untakenRound: number;
  readonly count: number;
  readonly firstEventID: string;
  readonly firstMs: number;
  readonly lastEventNo: number;
  readonly lastEventID: string;
  readonly lastMs: number;
  readonly receivedMs: number;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly geozoneID: string;
  readonly commandID: string | null;
  readonly commandState: string | null;
  readonly isLate: boolean;
  readonly endedMs: number | null;
  readonly shelvedUntilMs: number | null;
  readonly shelvedBy: string;
  readonly closedMs: number | null;
  readonly closedBy: string;
  readonly closeReason: string;
  readonly note: string;
  readonly notes: number;
  readonly escalations: number;
  readonly escalatedMs: number | null;
}

/** The record of an alarm for clients: times in epoch seconds, 0 for what has not happened. */
export function viewAlarm(alarm: Alarm) {
  return {
    alarmID: String(alarm.alarmNo),
    version: alarm.version,
    deviceID: alarm.deviceID,
    deviceDisplayName: alarm.deviceName,
    statusCode: alarm.statusCode,
    statusDescription: statusText(alarm.statusCode),
    priority: alarm.priority,
    alarmState: alarm.state,
    owner: alarm.owner,
    opened: epochSeconds(alarm.openedMs),
    changed: epochSeconds(alarm.changedMs),
    firstTaken: epochSeconds(alarm.firstTakenMs),
    untakenSince: alarm.state === 'new' ? epochSeconds(alarm.untakenMs) : 0,
    count: alarm.count,
    firstEventID: alarm.firstEventID,
    firstTimestamp: epochSeconds(alarm.firstMs),
    lastEventID: alarm.lastEventID,
    lastTimestamp: epochSeconds(alarm.lastMs),
    creationTime: epochSeconds(alarm.receivedMs),
    isPositionValid: alarm.latitude !== null && alarm.longitude !== null,
    latitude: alarm.latitude ?? 0,
    longitude: alarm.longitude ?? 0,
    geozoneID: alarm.geozoneID,
    commandID: alarm.commandID,
    commandState: alarm.commandState,
    late: alarm.isLate,
    ended: epochSeconds(alarm.endedMs),
    shelvedUntil: epochSeconds(alarm.shelvedUntilMs),
    shelvedBy: alarm.shelvedBy,
    closed: epochSeconds(alarm.closedMs),
    closedBy: alarm.closedBy,
    closeReason: alarm.closeReason,
    note: alarm.note,
    notes: alarm.notes,
    escalations: alarm.escalations,
    escalated: epochSeconds(alarm.escalatedMs),
  };
}
export type AlarmView = ReturnType<typeof viewAlarm>;
