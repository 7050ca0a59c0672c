// What a report by mail is about and when it comes, in words.

import type { reportWords } from '../../../../build/words/report.ts';
import type { scheduleWords } from '../../../../build/words/schedule.ts';
import type { Schedule } from '../../state/reports/schedule-draft.ts';
import type { WordsWith } from '../../words/word-set.ts';

export type ScheduleWords = WordsWith<[typeof scheduleWords, typeof reportWords]>;

/** A moment in the time zone of a schedule, with that zone. */
export function dueText(seconds: number, timeZone: string, { locale }: ScheduleWords): string {
  const options = { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' } as const;
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone });
  return `${format.format(new Date(seconds * 1000))} (${timeZone})`;
}

/** `Trips, the week before, from Monday`. */
export const aboutText = ({ kind, period }: Schedule, { reports, schedules }: ScheduleWords): string =>
  [reports.kinds[kind], schedules.periods[period]].join(' · ');

/** `Every week, Monday, 06:30`. */
export function recurrenceText(schedule: Schedule, { schedules: texts }: ScheduleWords): string {
  const { every, weekday, monthDay, time } = schedule;
  const weekdays: Readonly<Record<number, string>> = texts.weekdays;
  const day =
    every === 'week'
      ? [weekdays[weekday] ?? '']
      : every === 'month'
        ? [texts.onDay({ day: String(monthDay) })]
        : [];
  return [texts.everies[every], ...day, time].join(' · ');
}

/** What became of the last one: so many of its mails in each state, or why there is none. */
export function lastText({ isAsked, lastResult }: Schedule, words: ScheduleWords): string {
  const { schedules: texts } = words;
  if (isAsked) return texts.asked;
  if (lastResult === null) return texts.never;
  if (lastResult.reason !== '') return texts.result.reasons[lastResult.reason];
  const states = [...new Set(lastResult.mails.map(({ state }) => state))];
  return states.map((state) => texts.result.states[state]).join(', ') || texts.result.states.sent;
}
