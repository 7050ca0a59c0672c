// The content of a notification as JSON, for programs: inbox, webhooks and push. Its mail is in `notice-mail.ts`. Pure.
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { statusText } from '../../../src/core/events/status-codes.ts';
import { kindText, type OccurrenceKind } from './occurrence-kinds.ts';
import { isUrgent } from './status-episodes.ts';

/** What a notice of the account about one of its users says; such a notice is for its administrators. */
export const userTopics = {
  unconfirmed: 'User waits for confirmation',
  confirmed: 'User confirmed as second person',
  password_off: 'Password for commands switched off',
  approval_off_asked: 'User asks to switch off the second person for engine cuts',
  approval_off: 'Second person for engine cuts switched off',
} as const;

export type UserTopic = keyof typeof userTopics;

/** The topic of that name; null for none. */
export function parseTopic(name: string | null): UserTopic | null {
  return name !== null && Object.hasOwn(userTopics, name) ? (name as UserTopic) : null;
}

/** What an event, or a notice of the account, in the inbox says. */
export interface InboxEntry {
  readonly notificationNo: number;
  readonly deviceID: string;
  readonly deviceName: string;
  readonly statusCode: number;
  readonly timestampMs: number;
  readonly receivedMs: number;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly geozoneID: string;
  readonly commandID: string | null;
  readonly commandState: string | null;
  readonly isLate: boolean;
  /** Null for an event and for an occurrence. */
  readonly topic: UserTopic | null;
  /** Null for an event and for a notice of the account. */
  readonly kind: OccurrenceKind | null;
  /** Approval, enrolment code or serial of a certificate that an occurrence is about; else empty. */
  readonly objectID: string;
  /** When the approval's waiting or the certificate ends; else null. */
  readonly endsMs: number | null;
  /** The user that a notice of the account is about, or who asked for what an occurrence is about or decided; else empty. */
  readonly userID: string;
  /** The alarm that the event raised or repeated; null without one. */
  readonly alarmNo: number | null;
}

/** An entry that a rule creates. */
export interface Notice extends InboxEntry {
  readonly accountID: string;
  readonly ruleID: string;
  /** Round of its alarm that the rule escalates; 0: it notifies of the event. */
  readonly escalation: number;
}

/** What happened, for people. */
function whatOf({ topic, kind, statusCode }: InboxEntry): string {
  if (kind !== null) return kindText(kind);
  return topic === null ? statusText(statusCode) : userTopics[topic];
}

/** `event`, `account`, or the kind of occurrence. */
const kindOf = ({ topic, kind }: InboxEntry): OccurrenceKind | 'event' | 'account' =>
  kind ?? (topic === null ? 'event' : 'account');

/** An entry as programs read it, from the inbox and from a webhook. Members are only ever added. */
export function viewEntry(entry: InboxEntry) {
  return {
    notificationID: String(entry.notificationNo),
    kind: kindOf(entry),
    deviceID: entry.deviceID,
    deviceDisplayName: entry.deviceName,
    statusCode: entry.statusCode,
    statusDescription: whatOf(entry),
    userID: entry.userID,
    timestamp: epochSeconds(entry.timestampMs),
    creationTime: epochSeconds(entry.receivedMs),
    latitude: entry.latitude ?? 0,
    longitude: entry.longitude ?? 0,
    isPositionValid: entry.latitude !== null && entry.longitude !== null,
    geozoneID: entry.geozoneID,
    commandID: entry.commandID,
    commandState: entry.commandState,
    objectID: entry.objectID,
    ends: epochSeconds(entry.endsMs),
    late: entry.isLate,
    alarmID: String(entry.alarmNo ?? ''),
  };
}

/** The body of a webhook. */
export function webhookBody(notice: Notice): string {
  const { ruleID, accountID, escalation } = notice;
  return JSON.stringify({ ...viewEntry(notice), ruleID, accountID, escalated: escalation > 0 });
}

/** The body of a test: all members of a notice about no device, and `test`. */
export function webhookTestBody(given: {
  readonly accountID: string;
  readonly ruleID: string;
  readonly atMs: number;
}): string {
  const { accountID, ruleID, atMs } = given;
  const notice: Notice = {
    notificationNo: 0,
    deviceID: '',
    deviceName: '',
    statusCode: 0,
    timestampMs: atMs,
    receivedMs: atMs,
    latitude: null,
    longitude: null,
    geozoneID: '',
    commandID: null,
    commandState: null,
    isLate: false,
    topic: null,
    kind: null,
    objectID: '',
    endsMs: null,
    escalation: 0,
    alarmNo: null,
    userID: '',
    accountID,
    ruleID,
  };
  const described = { ...viewEntry(notice), statusDescription: 'Test' };
  return JSON.stringify({ ...described, ruleID, accountID, escalated: false, test: true });
}

/** Longest name in a message; a push message must fit one record of 4096 bytes. */
const pushNameMost = 128;

/** Cut between characters, never inside of a surrogate pair. */
export const shorten = (text: string): string => Array.from(text).slice(0, pushNameMost).join('');

/** The message to a service worker. No position: it shows on locked screens. */
export function pushBody(notice: Notice): string {
  return JSON.stringify({
    notificationID: String(notice.notificationNo),
    kind: kindOf(notice),
    deviceID: notice.deviceID,
    deviceDisplayName: shorten(notice.deviceName),
    statusCode: notice.statusCode,
    statusDescription: whatOf(notice),
    userID: notice.userID,
    timestamp: epochSeconds(notice.timestampMs),
    creationTime: epochSeconds(notice.receivedMs),
    urgent: notice.topic !== null || isUrgent(notice.statusCode),
    late: notice.isLate,
    alarmID: String(notice.alarmNo ?? ''),
    escalated: notice.escalation > 0,
  });
}
