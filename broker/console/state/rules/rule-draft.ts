// A notification rule as the form holds it, and what the form sends. Pure.
import type { Language } from '../../../../src/core/words/languages.ts';
import type { Body, Result } from '../../api/operations.ts';

export type Rule = Result<'getRules'>['rules'][number];
export type OccurrenceKind = Rule['kinds'][number];
export type Trial = Result<'tryRule'>;
export type Delivery = Result<'getDeliveries'>['deliveries'][number];

/** Choice of events: none, alerts of the inbox, all that raise an alarm, or chosen codes. */
export const eventChoices = ['none', 'alerts', 'alarms', 'codes'] as const;
export type EventChoice = (typeof eventChoices)[number];
export const alarmChoices = ['none', 'critical', 'high', 'low'] as const;
export type AlarmChoice = (typeof alarmChoices)[number];
export const pushChoices = ['none', 'all', 'users'] as const;
export type PushChoice = (typeof pushChoices)[number];

export interface RuleDraft {
  readonly id: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly events: EventChoice;
  readonly codes: readonly string[];
  readonly kinds: readonly OccurrenceKind[];
  /** Minutes, as typed. */
  readonly offlineAfter: string;
  readonly devices: readonly string[];
  readonly groups: readonly string[];
  /** Seconds, as typed. */
  readonly silence: string;
  readonly isQuiet: boolean;
  /** `HH:MM`, as typed. */
  readonly quietFrom: string;
  readonly quietTo: string;
  readonly timeZone: string;
  /** 1 Monday to 7 Sunday. */
  readonly weekdays: readonly string[];
  readonly exceptUrgent: boolean;
  readonly webhook: string;
  readonly rotateSecret: boolean;
  /** Mailboxes with commas between them, as typed. */
  readonly emails: string;
  readonly language: Language;
  readonly push: PushChoice;
  readonly users: readonly string[];
  readonly alarm: AlarmChoice;
  /** Seconds, as typed; empty: the rule notifies of events. */
  readonly escalates: string;
}

export const weekdays = ['1', '2', '3', '4', '5', '6', '7'] as const;

function eventsOf(statusCodes: Rule['statusCodes']): Pick<RuleDraft, 'events' | 'codes'> {
  if (typeof statusCodes === 'string') return { events: statusCodes, codes: [] };
  return { events: statusCodes.length === 0 ? 'none' : 'codes', codes: statusCodes.map(String) };
}

function pushOf(push: Rule['push']): Pick<RuleDraft, 'push' | 'users'> {
  if (push === null) return { push: 'none', users: [] };
  return push.userIDs === undefined ? { push: 'all', users: [] } : { push: 'users', users: push.userIDs };
}

/**
 * @param rule null: a new one, about alarms.
 * @param timeZone of the quiet hours that are switched on in the form. @param language of the mails of a new one.
 */
export function draftOf(rule: Rule | null, timeZone: string, language: Language): RuleDraft {
  const quiet = rule?.quietHours ?? null;
  return {
    id: rule?.ruleID ?? '',
    name: rule?.ruleDisplayName ?? '',
    isActive: rule?.isActive ?? true,
    ...eventsOf(rule?.statusCodes ?? 'alarms'),
    kinds: rule?.kinds ?? [],
    offlineAfter: String((rule?.offlineAfterS ?? 900) / 60),
    devices: rule?.devices ?? [],
    groups: rule?.groups ?? [],
    silence: String(rule?.silenceS ?? 300),
    isQuiet: quiet !== null,
    quietFrom: quiet?.from ?? '22:00',
    quietTo: quiet?.to ?? '06:00',
    timeZone: quiet?.timeZone ?? timeZone,
    weekdays: quiet?.weekdays?.map(String) ?? weekdays,
    exceptUrgent: quiet?.exceptUrgent ?? true,
    webhook: rule?.webhook?.url ?? '',
    rotateSecret: false,
    emails: rule?.email?.addresses.join(', ') ?? '',
    language: rule?.language ?? language,
    ...pushOf(rule?.push ?? null),
    alarm: rule?.alarm?.priority ?? 'none',
    escalates: rule?.escalatesAfterS == null ? '' : String(rule.escalatesAfterS),
  };
}

const listed = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter((one) => one !== ''))];

/** A whole number within its bounds; null for another text. */
function wholeOf(text: string, least: number, most: number): number | null {
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : null;
}

/** Minutes, with digits after the decimal sign where the rule has them, as whole seconds; null for another text. */
function offlineAfterOf(text: string): number | null {
  const seconds = /^\d{1,6}([.,]\d{1,6})?$/.test(text.trim())
    ? Math.round(Number(text.replace(',', '.')) * 60)
    : Number.NaN;
  return seconds >= 60 && seconds <= 2_592_000 ? seconds : null;
}

export type DraftFault =
  | 'silence'
  | 'offlineAfter'
  | 'escalates'
  | 'quietFrom'
  | 'quietTo'
  | 'weekdays'
  | 'subject'
  | 'separate'
  | 'channel';

const isTime = (text: string): boolean => /^([01]\d|2[0-3]):[0-5]\d$/.test(text);

/** Faults that the form can detect and the service would refuse. */
export function faultsOf(draft: RuleDraft): ReadonlySet<DraftFault> {
  const { events, codes, kinds, isQuiet, alarm, escalates } = draft;
  const hasChannel =
    draft.webhook !== '' ||
    draft.emails.trim() !== '' ||
    draft.push === 'all' ||
    (draft.push === 'users' && draft.users.length > 0);
  const faults: readonly (DraftFault | false)[] = [
    wholeOf(draft.silence, 0, 86_400) === null && 'silence',
    offlineAfterOf(draft.offlineAfter) === null && 'offlineAfter',
    escalates !== '' && wholeOf(escalates, 10, 86_400) === null && 'escalates',
    isQuiet && !isTime(draft.quietFrom) && 'quietFrom',
    isQuiet && !isTime(draft.quietTo) && 'quietTo',
    isQuiet && draft.weekdays.length === 0 && 'weekdays',
    kinds.length === 0 && (events === 'none' || (events === 'codes' && codes.length === 0)) && 'subject',
    kinds.length > 0 && (alarm !== 'none' || escalates !== '') && 'separate',
    !hasChannel && (alarm === 'none' || escalates !== '') && 'channel',
  ];
  return new Set(faults.filter((fault) => fault !== false));
}

/** The whole rule, as the service replaces it. @param draft without faults. */
export function bodyOf(draft: RuleDraft): Body<'updateRule'> {
  const { events, name, webhook } = draft;
  const emails = listed(draft.emails);
  return {
    ruleID: draft.id,
    ...(name.trim() === '' ? {} : { ruleDisplayName: name.trim() }),
    isActive: draft.isActive,
    statusCodes: events === 'none' ? [] : events === 'codes' ? draft.codes.map(Number) : events,
    kinds: [...draft.kinds],
    offlineAfterS: offlineAfterOf(draft.offlineAfter) ?? 900,
    devices: [...draft.devices],
    groups: [...draft.groups],
    silenceS: wholeOf(draft.silence, 0, 86_400) ?? 300,
    quietHours: draft.isQuiet
      ? {
          timeZone: draft.timeZone,
          from: draft.quietFrom,
          to: draft.quietTo,
          weekdays: weekdays.filter((day) => draft.weekdays.includes(day)).map(Number),
          exceptUrgent: draft.exceptUrgent,
        }
      : null,
    webhook: webhook === '' ? null : { url: webhook },
    email: emails.length === 0 ? null : { addresses: emails },
    language: draft.language,
    push: draft.push === 'none' ? null : draft.push === 'all' ? {} : { userIDs: [...draft.users] },
    alarm: draft.alarm === 'none' ? null : { priority: draft.alarm },
    escalatesAfterS: draft.escalates === '' ? null : wholeOf(draft.escalates, 10, 86_400),
    ...(draft.rotateSecret ? { rotateSecret: true } : {}),
  };
}
