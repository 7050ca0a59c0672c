// Whom an event is told to: rules of the account, one notice an episode by event time, quiet hours, late events. Pure, and
// the same whatever the order of arrival; where it is in doubt it tells once too often rather than never.
import { activationCodes } from './activation.ts';
import { isQuiet, type QuietHours } from './quiet-hours.ts';
import { counterOf, isUrgent, subjectOf } from './status-episodes.ts';

export type Channel = 'webhook' | 'email' | 'push';

export interface Rule {
  readonly ruleNo: number;
  readonly ruleID: string;
  readonly isActive: boolean;
  /** `alerts`: the codes of the activation summary. */
  readonly statusCodes: 'alerts' | readonly number[];
  /** Both empty: every device of the account. */
  readonly devices: readonly string[];
  readonly groups: readonly string[];
  readonly silenceS: number;
  readonly quietHours: QuietHours | null;
  readonly webhook: { readonly url: string } | null;
  /** Addresses; the word `device` stands for the device's own. */
  readonly email: { readonly addresses: readonly string[] } | null;
  readonly push: { readonly userIDs: 'all' | readonly string[] } | null;
}

export interface Happening {
  readonly deviceNo: number;
  readonly deviceID: string;
  readonly statusCode: number;
  readonly geozoneID: string;
  readonly commandID: string | null;
  /** Event time; that of receipt when the vehicle's clock cannot be right. */
  readonly atMs: number;
  readonly isLate: boolean;
  /** Nobody asked to be told of it: only a rule that names its code tells. */
  readonly isUnasked: boolean;
}

/** What was told of one episode's kind: event times that were told, and times of the counter-event. */
export interface Episode {
  readonly firedMs: readonly number[];
  readonly endedMs: readonly number[];
}

export interface Firing {
  readonly rule: Rule;
  readonly channels: readonly Channel[];
}

interface Circumstances {
  /** Groups of the device. */
  readonly groups: readonly string[];
  /** By `episodeKey`; changed by what is decided. */
  readonly episodes: Map<string, Episode>;
  readonly nowMs: number;
}

/** An event that arrives this much after it happened is late. */
export const lateAfterMs = 15 * 60 * 1000;

/** Times kept of one kind of episode; the oldest are forgotten. */
const timesMost = 32;

const alertCodes: ReadonlySet<number> = new Set(activationCodes);

/** True for the codes of the activation summary that somebody asked for: each is in the inbox without any rule. */
export function isAlert({ statusCode, isUnasked }: Pick<Happening, 'statusCode' | 'isUnasked'>): boolean {
  return alertCodes.has(statusCode) && !isUnasked;
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

const nothingTold: Episode = { firedMs: [], endedMs: [] };

/** True when an event belongs to no episode that was told: none told within the silence without an end in between. */
export function isNews({ firedMs, endedMs }: Episode, atMs: number, silenceMs: number): boolean {
  return firedMs.every((told) => {
    if (Math.abs(told - atMs) >= silenceMs) return true;
    const [first, last] = told < atMs ? [told, atMs] : [atMs, told];
    return endedMs.some((end) => first <= end && end <= last);
  });
}

function withTime(times: readonly number[], atMs: number): readonly number[] {
  if (times.includes(atMs)) return times;
  return [...times, atMs].sort((one, other) => one - other).slice(-timesMost);
}

/** True when the rule is about this event of this device. */
function isAbout(rule: Rule, happening: Happening, groups: readonly string[]): boolean {
  if (!rule.isActive) return false;
  const { deviceID, statusCode } = happening;
  const isNamed = rule.statusCodes === 'alerts' ? isAlert(happening) : rule.statusCodes.includes(statusCode);
  if (!isNamed) return false;
  if (rule.devices.length === 0 && rule.groups.length === 0) return true;
  return rule.devices.includes(deviceID) || rule.groups.some((group) => groups.includes(group));
}

/** The ways that are open now: quiet hours are for people, and a late push would only startle, unless it is urgent. */
function openChannels(rule: Rule, happening: Happening, nowMs: number): readonly Channel[] {
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
function noteEnd(rule: Rule, happening: Happening, { groups, episodes }: Circumstances): void {
  const { deviceNo, atMs } = happening;
  const statusCode = counterOf(happening.statusCode);
  // What nobody asked to be told of ends what was told all the same.
  if (statusCode === null || !isAbout(rule, { ...happening, statusCode, isUnasked: false }, groups)) return;
  const subject = subjectOf(happening);
  const key = episodeKey({ ruleNo: rule.ruleNo, deviceNo, statusCode, subject });
  const { firedMs, endedMs } = episodes.get(key) ?? nothingTold;
  episodes.set(key, { firedMs, endedMs: withTime(endedMs, atMs) });
}

/** What each rule makes of an event. Notes in `episodes` what was told and what has ended. */
export function decideFirings(
  rules: readonly Rule[],
  happening: Happening,
  circumstances: Circumstances,
): readonly Firing[] {
  const { groups, episodes, nowMs } = circumstances;
  const { deviceNo, statusCode, atMs } = happening;
  const subject = subjectOf(happening);
  return rules.flatMap((rule): readonly Firing[] => {
    noteEnd(rule, happening, circumstances);
    if (!isAbout(rule, happening, groups)) return [];
    const key = episodeKey({ ruleNo: rule.ruleNo, deviceNo, statusCode, subject });
    const episode = episodes.get(key) ?? nothingTold;
    const channels = openChannels(rule, happening, nowMs);
    if (channels.length === 0 || !isNews(episode, atMs, rule.silenceS * 1000)) return [];
    episodes.set(key, { ...episode, firedMs: withTime(episode.firedMs, atMs) });
    return [{ rule, channels }];
  });
}
