// Decides which rules notify of an event: one notification per episode by event time, quiet hours, late events. Pure, and
// independent of the order of arrival; in doubt it notifies once too often rather than never.

import type { Language } from '../../../src/core/words/languages.ts';
import { activationCodes } from '../events/activation.ts';
import { aheadMostMs } from '../events/projection.ts';
import { type AlarmPriority, moreUrgent, priorityOf } from './alarm-kinds.ts';
import type { OccurrenceKind } from './occurrence-kinds.ts';
import { isQuiet, type QuietHours } from './quiet-hours.ts';
import { type CrossingNotice, counterOf, isUrgent, subjectOf } from './status-episodes.ts';

export type Channel = 'webhook' | 'email' | 'push';

export interface Rule {
  readonly ruleNo: number;
  readonly ruleID: string;
  readonly isActive: boolean;
  /** `alerts`: the codes of the activation summary; `alarms`: the codes that raise an alarm by themselves. */
  readonly statusCodes: 'alerts' | 'alarms' | readonly number[];
  /** Occurrences that the rule notifies of, besides events. */
  readonly kinds: readonly OccurrenceKind[];
  /** How long a device must be offline before the rule notifies of it. */
  readonly offlineAfterS: number;
  /** Both empty: every device of the account. */
  readonly devices: readonly string[];
  readonly groups: readonly string[];
  readonly silenceS: number;
  readonly quietHours: QuietHours | null;
  readonly webhook: { readonly url: string } | null;
  /** Addresses; `device` stands for the device's own. */
  readonly email: { readonly addresses: readonly string[] } | null;
  /** Of its mails. */
  readonly language: Language;
  readonly push: { readonly userIDs: 'all' | readonly string[] } | null;
  /** The alarm that its events raise. */
  readonly alarm: { readonly priority: AlarmPriority } | null;
  /** It notifies of alarms that had no owner for this long, in place of events; null: of events. */
  readonly escalatesAfterS: number | null;
}

export interface RuleEvent {
  readonly deviceNo: number;
  readonly deviceID: string;
  readonly statusCode: number;
  readonly geozoneID: string;
  readonly commandID: string | null;
  /** Event time; that of receipt when the vehicle's clock cannot be right. */
  readonly atMs: number;
  readonly isLate: boolean;
  /** What a crossing becomes, `nothing`: only a rule that names its code notifies. Null for any other event. */
  readonly crossing: CrossingNotice | null;
}

/** What was sent of one kind of episode: event times that were sent, and times of the counter-event. */
export interface Episode {
  readonly firedMs: readonly number[];
  readonly endedMs: readonly number[];
}

export interface Firing {
  readonly rule: Rule;
  readonly channels: readonly Channel[];
}

/** What is known beside the event or occurrence. */
export interface Circumstances {
  /** Groups of the device. */
  readonly groups: readonly string[];
  /** By `episodeKey`; changed by what is decided. */
  readonly episodes: Map<string, Episode>;
  readonly nowMs: number;
}

/** An event that arrives this much after it happened is late. */
export const lateAfterMs = 15 * 60 * 1000;

/**
 * When an event counts as having happened, and whether it came late. A vehicle's clock that runs more than a day ahead is not believed:
 * then the time of receipt counts.
 */
export function ruleTimeOf({
  timestampMs,
  receivedMs,
}: {
  readonly timestampMs: number;
  readonly receivedMs: number;
}): Pick<RuleEvent, 'atMs' | 'isLate'> {
  const atMs = timestampMs > receivedMs + aheadMostMs ? receivedMs : timestampMs;
  return { atMs, isLate: receivedMs - atMs > lateAfterMs };
}

/** Times kept of one kind of episode; the oldest are forgotten. */
const timesMost = 32;

const alertCodes: ReadonlySet<number> = new Set(activationCodes);

/** True for codes of the activation summary and crossings that their zone asks for: each is in the inbox without any rule. */
export function isAlert({ statusCode, crossing }: Pick<RuleEvent, 'statusCode' | 'crossing'>): boolean {
  return crossing === null ? alertCodes.has(statusCode) : crossing !== 'nothing';
}

/** Names one kind of episode. */
export function episodeKey(key: {
  readonly ruleNo: number;
  readonly deviceNo: number;
  readonly statusCode: number;
  readonly subject: string;
}): string {
  return `${key.ruleNo} ${key.deviceNo} ${key.statusCode} ${key.subject}`;
}

/** The episode of what was never sent. */
export const nothingSent: Episode = { firedMs: [], endedMs: [] };

/** True when an event belongs to no episode that was sent: none sent within the silence without an end in between. */
export function isOutsideSilence({ firedMs, endedMs }: Episode, atMs: number, silenceMs: number): boolean {
  return firedMs.every((firedAtMs) => {
    if (Math.abs(firedAtMs - atMs) >= silenceMs) return true;
    const [first, last] = firedAtMs < atMs ? [firedAtMs, atMs] : [atMs, firedAtMs];
    return endedMs.some((end) => first <= end && end <= last);
  });
}

/** The times and one more, in order; the oldest are forgotten. */
export function withTime(times: readonly number[], atMs: number): readonly number[] {
  if (times.includes(atMs)) return times;
  return [...times, atMs].sort((one, other) => one - other).slice(-timesMost);
}

/** True for a code that raises an alarm by itself; for a crossing only where it is to be one. */
function isAlarmKind({ statusCode, crossing }: Pick<RuleEvent, 'statusCode' | 'crossing'>): boolean {
  return priorityOf(statusCode) !== null && (crossing ?? 'alarm') === 'alarm';
}

function namesCode({ statusCodes }: Rule, happening: RuleEvent): boolean {
  switch (statusCodes) {
    case 'alerts':
      return isAlert(happening);
    case 'alarms':
      return isAlarmKind(happening);
    default:
      return statusCodes.includes(happening.statusCode);
  }
}

/** True when the rule is about this device. @param groups of the device. */
export function isOfDevice(
  { devices, groups: named }: Rule,
  deviceID: string,
  groups: readonly string[],
): boolean {
  if (devices.length === 0 && named.length === 0) return true;
  return devices.includes(deviceID) || named.some((group) => groups.includes(group));
}

/** True when the rule is about this event of this device. */
export function isAbout(rule: Rule, happening: RuleEvent, groups: readonly string[]): boolean {
  return rule.isActive && namesCode(rule, happening) && isOfDevice(rule, happening.deviceID, groups);
}

/** The ways that are open now: quiet hours are for people, and a late push would only startle, unless it is urgent. */
export function openChannels(
  rule: Rule,
  happening: Pick<RuleEvent, 'statusCode' | 'isLate'>,
  nowMs: number,
): readonly Channel[] {
  const isPressing = isUrgent(happening.statusCode);
  const hours = rule.quietHours;
  const isPeace = hours !== null && !(hours.exceptUrgent && isPressing) && isQuiet(hours, nowMs);
  const channels: readonly (Channel | null)[] = [
    rule.webhook === null ? null : 'webhook',
    rule.email === null || isPeace ? null : 'email',
    rule.push === null || isPeace || (happening.isLate && !isPressing) ? null : 'push',
  ];
  return channels.filter((channel) => channel !== null);
}

/** Notes in the rule's episodes that this event ends what its counter-code began. */
function recordEnd(rule: Rule, happening: RuleEvent, { groups, episodes }: Circumstances): void {
  const { deviceNo, atMs } = happening;
  const statusCode = counterOf(happening.statusCode);
  if (statusCode === null) return;
  // A crossing that nothing becomes of still ends an episode.
  const crossing = happening.crossing === null ? null : 'alarm';
  if (!isAbout(rule, { ...happening, statusCode, crossing }, groups)) return;
  const subject = subjectOf(happening);
  const key = episodeKey({ ruleNo: rule.ruleNo, deviceNo, statusCode, subject });
  const { firedMs, endedMs } = episodes.get(key) ?? nothingSent;
  episodes.set(key, { firedMs, endedMs: withTime(endedMs, atMs) });
}

/** What each rule makes of an event. Records in `episodes` what was sent and what has ended. */
export function decideFirings(
  rules: readonly Rule[],
  happening: RuleEvent,
  circumstances: Circumstances,
): readonly Firing[] {
  const { groups, episodes, nowMs } = circumstances;
  const { deviceNo, statusCode, atMs } = happening;
  const subject = subjectOf(happening);
  return rules.flatMap((rule): readonly Firing[] => {
    if (rule.escalatesAfterS !== null) return [];
    recordEnd(rule, happening, circumstances);
    if (!isAbout(rule, happening, groups)) return [];
    const key = episodeKey({ ruleNo: rule.ruleNo, deviceNo, statusCode, subject });
    const episode = episodes.get(key) ?? nothingSent;
    const channels = openChannels(rule, happening, nowMs);
    if (channels.length === 0 || !isOutsideSilence(episode, atMs, rule.silenceS * 1000)) return [];
    episodes.set(key, { ...episode, firedMs: withTime(episode.firedMs, atMs) });
    return [{ rule, channels }];
  });
}

/** The priority of the alarm that an event raises, by itself or by a rule; null: it raises none. */
export function alarmPriorityOf(
  rules: readonly Rule[],
  happening: RuleEvent,
  groups: readonly string[],
): AlarmPriority | null {
  const own = isAlarmKind(happening) ? priorityOf(happening.statusCode) : null;
  return rules.reduce(
    (most, rule) =>
      rule.alarm !== null && isAbout(rule, happening, groups) ? moreUrgent(most, rule.alarm.priority) : most,
    own,
  );
}

/** An alarm as a rule judges it. */
export interface RuleAlarm {
  readonly deviceNo: number;
  readonly deviceID: string;
  readonly statusCode: number;
}

/** True when the rule escalates this alarm; `alarms` names every alarm. */
export function escalates(rule: Rule, alarm: RuleAlarm, groups: readonly string[]): boolean {
  if (rule.escalatesAfterS === null) return false;
  const { statusCode } = alarm;
  const statusCodes = rule.statusCodes === 'alarms' ? [statusCode] : rule.statusCodes;
  const happening = { ...alarm, geozoneID: '', commandID: null, atMs: 0, isLate: false, crossing: null };
  return isAbout({ ...rule, statusCodes }, happening, groups);
}

/** The channels over which a rule escalates an alarm now: quiet hours hold back as they do for events. */
export function escalationChannels(rule: Rule, alarm: RuleAlarm, nowMs: number): readonly Channel[] {
  return openChannels(rule, { statusCode: alarm.statusCode, isLate: false }, nowMs);
}
