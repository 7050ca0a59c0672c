// Shapes of report schedules in requests and answers, and their checks beyond the schema.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import { languageName, lineText, timeZone } from '../../api/base/input-members.ts';
import { faultCodes, viewFault } from '../../core/notifications/delivery-fault.ts';
import { mailboxSource } from '../../core/notifications/delivery-targets.ts';
import { reportPeriods } from '../../core/reports/due-times.ts';
import {
  mailedKinds,
  missReasons,
  type ScheduleDefinition,
  scheduleLimits,
  stopReasons,
} from './core/report-schedule.ts';
import type { MailDelivery } from './report-mails.ts';
import type { ScheduleRow } from './report-schedules.ts';

const strict = { additionalProperties: false } as const;
const id = (description: string) => Type.String({ pattern: idPatternSource, description });
const ids = (maxItems: number, description: string) =>
  Type.Array(Type.String({ maxLength: 64 }), { maxItems, uniqueItems: true, description });
const epoch = (description: string) => Type.Integer({ description: `${description} (epoch seconds)` });

const kind = Type.Enum([...mailedKinds], {
  description:
    '`summary`: sums of each vehicle; `trips`, `stops`, `alarms`; `decisions`: cuts that asked for a second person',
});
const devices = ids(scheduleLimits.devices, 'Ids of vehicles');
const groups = ids(
  scheduleLimits.groups,
  'Ids of groups; with no `devices` either: every vehicle that the owner sees',
);
const period = Type.Enum([...reportPeriods], {
  description: 'The day before, the week before from Monday to Sunday, or the month before, in `timeZone`',
});
const every = Type.Enum(['day', 'week', 'month'], { description: 'How often it is due' });
const weekday = Type.Integer({ minimum: 1, maximum: 7, description: 'Of a week: 1 Monday to 7 Sunday' });
const monthDay = Type.Integer({
  minimum: 1,
  maximum: 31,
  description: 'Of a month; in a shorter month its last day',
});
const time = Type.String({
  pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
  description: '`HH:MM` in `timeZone`',
});
const language = languageName('Of mail and file');
const recipients = Type.Array(Type.String({ maxLength: 254, pattern: mailboxSource }), {
  minItems: 1,
  maxItems: scheduleLimits.recipients,
  uniqueItems: true,
  description: 'Mailboxes',
});
const displayName = 'Name for people; the id without it';
const active = 'False: none is mailed; true without it';

/** What is sent. */
export const scheduleBody = Type.Object(
  {
    scheduleID: id('1 to 64 of `A-Z a-z 0-9 _ -`'),
    scheduleDisplayName: Type.Optional(lineText(128, displayName)),
    isActive: Type.Optional(Type.Boolean({ description: active })),
    kind,
    devices: Type.Optional(devices),
    groups: Type.Optional(groups),
    period,
    every,
    weekday: Type.Optional(weekday),
    monthDay: Type.Optional(monthDay),
    time,
    timeZone,
    language: Type.Optional(language),
    recipients,
  },
  strict,
);

const mailed = Type.Object({
  target: Type.String({ description: 'Mailbox' }),
  state: Type.Enum(['pending', 'sent', 'dead'], { description: '`dead`: given up' }),
  ended: epoch('When it was sent or given up; 0 while it is pending'),
  lastErrorCode: Type.Enum(['', ...faultCodes], {
    description: 'Why the last attempt failed; empty when it did not',
  }),
  lastErrorDetail: Type.String({ description: 'Status or code of a connection; empty without one' }),
});

const lastResult = Type.Object({
  at: epoch('When it was made or given up'),
  due: epoch('When it was due or asked for'),
  reason: Type.Enum(['', ...stopReasons, ...missReasons], {
    description: 'Why nothing was mailed; empty when something was',
  }),
  rows: Type.Integer({ description: 'Rows of the report' }),
  withoutFile: Type.Enum(['', 'rows', 'bytes'], {
    description: 'Why no file was attached: too many rows, or too large; empty when one was',
  }),
  mails: Type.Array(mailed, { description: 'One for each recipient; empty after 30 days' }),
});

/** What is shown. */
export const scheduleRecord = Type.Object({
  scheduleID: id('The schedule'),
  scheduleDisplayName: Type.String({ description: displayName }),
  owner: Type.String({ description: 'User who made it, and whose rights decide what it contains' }),
  isActive: Type.Boolean({ description: active }),
  stopped: Type.Enum(['', ...stopReasons], {
    description: 'Why the service stopped it until its owner saves it again; empty when it did not',
  }),
  kind,
  devices,
  groups,
  period,
  every,
  weekday,
  monthDay,
  time,
  timeZone,
  language,
  recipients,
  changed: epoch('Last change'),
  nextDue: epoch('When it is due next; 0: off or stopped'),
  isAsked: Type.Boolean({ description: 'One was asked for and is not made yet' }),
  lastResult: Type.Union([lastResult, Type.Null()], { description: 'Null before the first' }),
});
type ScheduleView = Static<typeof scheduleRecord>;

export const exampleBody: Static<typeof scheduleBody> = {
  scheduleID: 'weekly-trips',
  scheduleDisplayName: 'Trips of the week',
  kind: 'trips',
  groups: [],
  devices: ['truck-17'],
  period: 'lastWeek',
  every: 'week',
  weekday: 1,
  time: '06:30',
  timeZone: 'America/Toronto',
  language: 'en',
  recipients: ['dispatch@example.com'],
};

export const exampleSchedule: ScheduleView = {
  scheduleID: 'weekly-trips',
  scheduleDisplayName: 'Trips of the week',
  owner: 'admin',
  isActive: true,
  stopped: '',
  kind: 'trips',
  devices: ['truck-17'],
  groups: [],
  period: 'lastWeek',
  every: 'week',
  weekday: 1,
  monthDay: 1,
  time: '06:30',
  timeZone: 'America/Toronto',
  language: 'en',
  recipients: ['dispatch@example.com'],
  changed: 1763683200,
  nextDue: 1763983800,
  isAsked: false,
  lastResult: {
    at: 1763379002,
    due: 1763379000,
    reason: '',
    rows: 37,
    withoutFile: '',
    mails: [
      {
        target: 'dispatch@example.com',
        state: 'sent',
        ended: 1763379004,
        lastErrorCode: '',
        lastErrorDetail: '',
      },
    ],
  },
};

/** What stands in the schedule, with the defaults for what was not sent. */
export function definitionOf(body: Static<typeof scheduleBody>): ScheduleDefinition {
  return {
    displayName: body.scheduleDisplayName ?? body.scheduleID,
    isActive: body.isActive ?? true,
    kind: body.kind,
    devices: body.devices ?? [],
    groups: body.groups ?? [],
    period: body.period,
    recurrence: {
      every: body.every,
      weekday: body.weekday ?? 1,
      monthDay: body.monthDay ?? 1,
      time: body.time,
      timeZone: body.timeZone,
    },
    language: body.language ?? 'en',
    recipients: body.recipients,
  };
}

/** @param mails deliveries of the last mail. */
export function viewSchedule(row: ScheduleRow, mails: readonly MailDelivery[]): ScheduleView {
  const { definition, lastMs } = row;
  const { recurrence } = definition;
  return {
    scheduleID: row.scheduleID,
    scheduleDisplayName: definition.displayName,
    owner: row.owner,
    isActive: definition.isActive,
    stopped: row.stopped,
    kind: definition.kind,
    devices: [...definition.devices],
    groups: [...definition.groups],
    period: definition.period,
    ...recurrence,
    language: definition.language,
    recipients: [...definition.recipients],
    changed: epochSeconds(row.changedMs),
    nextDue: epochSeconds(row.nextMs),
    isAsked: row.askedMs !== null,
    lastResult:
      lastMs === null
        ? null
        : {
            at: epochSeconds(lastMs),
            due: epochSeconds(row.lastDueMs),
            reason: row.lastFault,
            rows: row.lastRows,
            withoutFile: row.lastCut,
            mails: mails.map(({ target, state, endedMs, fault }) => {
              const { code, detail } = viewFault(fault);
              return {
                target,
                state,
                ended: epochSeconds(endedMs),
                lastErrorCode: code,
                lastErrorDetail: detail,
              };
            }),
          },
  };
}
