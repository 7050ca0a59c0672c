// A report by mail as the form holds it, and what the form sends. Pure.
import { isLanguage, type Language } from '../../../../src/core/words/languages.ts';
import type { Body, Result } from '../../api/operations.ts';
import { isZone } from '../account/measures.ts';

export type Schedule = Result<'getReportSchedules'>['schedules'][number];

export const mailedKinds = ['summary', 'trips', 'stops', 'alarms', 'decisions'] as const;
export const periods = ['yesterday', 'lastWeek', 'lastMonth'] as const;
export const everies = ['day', 'week', 'month'] as const;
export const weekdays = ['1', '2', '3', '4', '5', '6', '7'] as const;

const recipientsMost = 10;

export interface ScheduleDraft {
  readonly id: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly kind: Schedule['kind'];
  readonly vehicles: readonly string[];
  readonly groups: readonly string[];
  readonly period: Schedule['period'];
  readonly every: Schedule['every'];
  readonly weekday: (typeof weekdays)[number];
  /** As typed, like the others below. */
  readonly monthDay: string;
  readonly time: string;
  readonly timeZone: string;
  readonly language: Language;
  /** Mailboxes with commas between them. */
  readonly recipients: string;
}

/** @param schedule null: a new one. @param reader whose zone, language and mailbox a new one begins with. */
export function draftOf(
  schedule: Schedule | null,
  reader: { readonly timeZone: string; readonly language: string; readonly mailbox: string },
): ScheduleDraft {
  return {
    id: schedule?.scheduleID ?? '',
    name: schedule?.scheduleDisplayName ?? '',
    isActive: schedule?.isActive ?? true,
    kind: schedule?.kind ?? 'summary',
    vehicles: schedule?.devices ?? [],
    groups: schedule?.groups ?? [],
    period: schedule?.period ?? 'lastWeek',
    every: schedule?.every ?? 'week',
    weekday: weekdays.find((day) => day === String(schedule?.weekday)) ?? '1',
    monthDay: String(schedule?.monthDay ?? 1),
    time: schedule?.time ?? '06:30',
    timeZone: schedule?.timeZone ?? reader.timeZone,
    language: schedule?.language ?? (isLanguage(reader.language) ? reader.language : 'en'),
    recipients: schedule?.recipients.join(', ') ?? reader.mailbox,
  };
}

const listed = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter((one) => one !== ''))];

const isMailbox = (text: string): boolean => /^[^@\s]+@[^@\s]+$/.test(text) && text.length <= 254;

export type ScheduleFault = 'time' | 'monthDay' | 'recipients' | 'timeZone';

/** Faults that the form can detect and the service would refuse. */
export function faultsOf(draft: ScheduleDraft): ReadonlySet<ScheduleFault> {
  const mailboxes = listed(draft.recipients);
  const day = /^\d{1,2}$/.test(draft.monthDay) ? Number(draft.monthDay) : 0;
  const faults: readonly (ScheduleFault | false)[] = [
    !/^([01]\d|2[0-3]):[0-5]\d$/.test(draft.time) && 'time',
    draft.every === 'month' && (day < 1 || day > 31) && 'monthDay',
    (mailboxes.length === 0 || mailboxes.length > recipientsMost || !mailboxes.every(isMailbox)) &&
      'recipients',
    !isZone(draft.timeZone) && 'timeZone',
  ];
  return new Set(faults.filter((fault) => fault !== false));
}

/** The whole schedule, as the service replaces it. @param draft without faults. */
export function bodyOf(draft: ScheduleDraft): Body<'updateReportSchedule'> {
  const { name, every } = draft;
  return {
    scheduleID: draft.id,
    ...(name.trim() === '' ? {} : { scheduleDisplayName: name.trim() }),
    isActive: draft.isActive,
    kind: draft.kind,
    devices: [...draft.vehicles],
    groups: [...draft.groups],
    period: draft.period,
    every,
    weekday: Number(draft.weekday),
    ...(every === 'month' ? { monthDay: Number(draft.monthDay) } : {}),
    time: draft.time,
    timeZone: draft.timeZone,
    language: draft.language,
    recipients: listed(draft.recipients),
  };
}
