// Alarms as users see them: the queue and its history, one alarm with what was done with it, and the summary above.
import { Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import { type Alarm, type AlarmState, alarmLimits, openStates, viewAlarm } from '../../core/alarms/alarm.ts';
import { type AlarmPriority } from '../../core/notifications/alarm-kinds.ts';
import { escalates } from '../../core/notifications/notification-rules.ts';
import { type AlarmSummary, readSummary } from '../../store/alarms/alarm-summary.ts';
import {
  type AlarmFilter,
  listActivity,
  listAlarmEvents,
  listNewestAlarms,
  listQueue,
  queueRankOf,
} from '../../store/alarms/alarms.ts';
import { decidedRules } from '../../store/alarms/escalations.ts';
import { listAlarmDeliveries } from '../../store/notifications/deliveries.ts';
import { groupsOf, listRules } from '../../store/notifications/rules.ts';
import { viewAlarmDelivery } from '../answers/delivery-view.ts';
import type { ApiServices } from '../base/api-services.ts';
import { operation } from '../base/operation.ts';
import { pageMembers, pageOf, pageQuery, pageSize, parsePageCursor } from '../base/paging.ts';
import { envelope, ok } from '../base/shapes.ts';
import {
  type AlarmDetail,
  alarmDetail,
  alarmParams,
  alarmRecord,
  exampleAlarm,
  needAlarm,
} from './alarm-shapes.ts';

const listed = (choices: string): string => `^(${choices})(,(${choices})){0,9}$`;
const epochText = (description: string) => Type.String({ pattern: '^[0-9]{1,11}$', description });

const filterQuery = {
  state: Type.Optional(
    Type.String({
      pattern: listed('open|new|taken|shelved|closed'),
      description:
        '`new`, `taken`, `shelved`, `closed`, or `open` for the first three, with commas between them; `open` without it',
    }),
  ),
  deviceID: Type.Optional(Type.String({ pattern: idPatternSource, description: 'Only of this device' })),
  statusCode: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,5}(,[0-9]{1,5}){0,99}$',
      description: 'Only of these kinds: status codes with commas between them',
    }),
  ),
  priority: Type.Optional(
    Type.String({
      pattern: listed('critical|high|low'),
      description: '`critical`, `high`, `low`, with commas between them',
    }),
  ),
  owner: Type.Optional(Type.String({ pattern: idPatternSource, description: 'Only what this user has' })),
  from: Type.Optional(epochText('Opened then or later (epoch seconds)')),
  to: Type.Optional(epochText('Opened then or before (epoch seconds)')),
  sort: Type.Optional(
    Type.Enum(['newest', 'queue'], {
      description:
        '`newest`: the newest first, unless given; `queue`: by priority, then new before taken before shelved, then the oldest first; of open alarms only',
    }),
  ),
};

const splitList = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : text.split(',');

function statesOf(text: string | undefined): readonly AlarmState[] {
  const choices = new Set(splitList(text ?? 'open'));
  // The pattern admits no other values.
  return [...choices].flatMap((choice) => (choice === 'open' ? openStates : [choice as AlarmState]));
}

const startMs = (seconds: string | undefined): number | null =>
  seconds === undefined ? null : Number(seconds) * 1000;

const invalid = (member: string, message: string): AppError =>
  new AppError('invalid_content', `${member} ${message}`, {
    details: [{ pointer: `/${member}`, message }],
  });

/** The number of the alarm that a cursor of this order names; null from the start. @throws AppError `invalid_content`. */
function cursorOf(text: string | undefined, order: 'n' | 'q') {
  const place = parsePageCursor(text);
  if (place === null) return null;
  const [, digits = ''] = new RegExp(`^${order}([0-9]{1,15})$`).exec(place.id) ?? [];
  if (digits === '') throw invalid('cursor', 'must be `next` of the page before, of the same `sort`');
  return { rank: place.atMs, alarmNo: Number(digits) };
}

const list = operation({
  id: 'listAlarms',
  method: 'GET',
  path: '/alarm/alarms/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Alarms',
  summary: 'The queue of alarms, and its history',
  description: `Our addition. Alarms of the devices that the caller sees. An alarm is one object for all users of the account: \`new\`, \`taken\` by one of
them, \`shelved\` until a time, or \`closed\` with a reason. An event raises one, or repeats the open alarm of its device and
kind (status code; for crossings of a geozone the zone too): \`count\` grows, and nothing else changes. After the closing the
next event raises another.

**Alarms are raised by** every alert of the inbox (a crossing of a geozone only where \`geozoneAlarmEntry\` or \`geozoneAlarmExit\` is on), by impact, relays that are not as ordered or broken, wrong service
codes, jamming, lost I/O boards and events, faults of the unit and suspect positions, and by each event of a rule with
\`alarm\`. An open alarm of low priority that has no owner closes by itself when its condition has ended (reason \`ended\`;
crossings do not). Whose owner can no longer handle it (suspended, deleted, another role, another group) becomes new.

Open alarms only unless \`state\` says otherwise. \`?limit=\` (1 to 500, 100 without it) gives that many; while \`more\` is true pass
\`next\` back as \`?cursor=\` with the same filters. An account has at most ${alarmLimits.openOfAccount.toLocaleString('en')} open alarms and a device ${alarmLimits.openOfDevice}: beyond
them only critical ones are opened, and the others are in the inbox. Closed alarms are kept for 90 days and up to 100,000 of an account.`,
  params: Type.Object({}),
  query: Type.Object({ ...pageQuery, ...filterQuery }, { additionalProperties: false }),
  body: null,
  result: Type.Object({
    ...envelope,
    alarms: Type.Array(alarmRecord, { description: 'In the order of `sort`' }),
    ...pageMembers,
  }),
  errors: ['invalid_content'],
  effects: false,
  examples: { result: { alarms: [exampleAlarm] } },
  async run({ query, caller }, { db }) {
    const limit = pageSize(query.limit);
    const filter: AlarmFilter = {
      scope: caller.scope,
      states: statesOf(query.state),
      deviceID: query.deviceID ?? null,
      statusCodes: splitList(query.statusCode).map(Number),
      // The pattern admits no other values.
      priorities: splitList(query.priority) as readonly AlarmPriority[],
      owner: query.owner ?? null,
      fromMs: startMs(query.from),
      toMs: query.to === undefined ? null : Number(query.to) * 1000 + 999,
    };
    if (query.sort === 'queue') {
      if (filter.states.includes('closed')) throw invalid('sort', 'is `queue` for open alarms only');
      const after = cursorOf(query.cursor, 'q') ?? { rank: -1, alarmNo: 0 };
      const rows = await listQueue(db, filter, { after, limit: limit + 1 });
      const { page, more, next } = pageOf(rows, limit, (row) => `${queueRankOf(row)}-q${row.alarmNo}`);
      return { ...ok, alarms: page.map(viewAlarm), more, next };
    }
    const before = cursorOf(query.cursor, 'n')?.alarmNo ?? Number.MAX_SAFE_INTEGER;
    const rows = await listNewestAlarms(db, filter, { before, limit: limit + 1 });
    const { page, more, next } = pageOf(rows, limit, (row) => `0-n${row.alarmNo}`);
    return { ...ok, alarms: page.map(viewAlarm), more, next };
  },
});

/** The rule that will escalate an alarm next, if it is not taken. */
async function nextEscalation({ db }: ApiServices, alarm: Alarm): Promise<AlarmDetail['nextEscalation']> {
  if (alarm.state !== 'new') return null;
  const [rules, groups, decided] = await Promise.all([
    listRules(db, [alarm.accountID]),
    groupsOf(db, [alarm.deviceNo]),
    decidedRules(db, [alarm.alarmNo]),
  ]);
  const [next] = rules
    .flatMap((rule) =>
      rule.escalatesAfterS !== null &&
      decided.get(alarm.alarmNo)?.has(rule.ruleNo) !== true &&
      escalates(rule, alarm, groups.get(alarm.deviceNo) ?? [])
        ? [{ rule, atMs: alarm.untakenMs + rule.escalatesAfterS * 1000 }]
        : [],
    )
    .sort((one, other) => one.atMs - other.atMs);
  if (next === undefined) return null;
  const { push, displayName } = next.rule;
  const userIDs = push === null || push.userIDs === 'all' ? [] : [...push.userIDs];
  return { at: Math.floor(next.atMs / 1000), ruleDisplayName: displayName, userIDs };
}

const get = operation({
  id: 'getAlarm',
  method: 'GET',
  path: '/alarm/alarm/{alarmID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Alarms',
  summary: 'One alarm with what was done with it',
  description: `Our addition. The alarm with its notes and changes, its newest events, to whom they were sent, and the rule that will escalate it next
if it stays without an owner. An alarm of a device that the caller does not see answers 404, like one that is not there.`,
  params: alarmParams,
  body: null,
  result: alarmDetail,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: {
    params: { alarmID: '4712' },
    result: {
      ...exampleAlarm,
      activity: [{ at: 1763683260, actor: 'service', action: 'escalate', other: 'night-watch', text: '' }],
      events: [{ eventID: 'b1:2', timestamp: 1763683200 }],
      deliveries: [
        {
          channel: 'email',
          target: 'dispatch@example.com',
          state: 'sent',
          created: 1763683201,
          ended: 1763683202,
        },
      ],
      nextEscalation: { at: 1763683320, ruleDisplayName: 'night-watch', userIDs: ['dispatch'] },
    },
  },
  async run({ params, caller }, services) {
    const alarm = await needAlarm(services, caller, params.alarmID);
    const { accountID, alarmNo } = alarm;
    const [activity, events, deliveries, ahead] = await Promise.all([
      listActivity(services.db, alarmNo),
      listAlarmEvents(services.db, alarmNo),
      listAlarmDeliveries(services.db, { accountID, alarmNo, limit: alarmLimits.deliveries }),
      nextEscalation(services, alarm),
    ]);
    return {
      ...viewAlarm(alarm),
      activity: activity.map(({ atMs, actor, action, other, text }) => ({
        at: Math.floor(atMs / 1000),
        actor,
        action,
        other,
        text,
      })),
      events: events.map(({ eventID, timestampMs }) => ({
        eventID,
        timestamp: epochSeconds(timestampMs),
      })),
      deliveries: deliveries.map((row) => viewAlarmDelivery(row, caller.role !== 'viewer')),
      nextEscalation: ahead,
      ...ok,
    };
  },
});

const number = (description: string) => Type.Integer({ minimum: 0, description });
const byPriority = (description: string) =>
  Type.Object(
    {
      total: number('All of them'),
      critical: number('Critical ones'),
      high: number('High ones'),
      low: number('Low ones'),
    },
    { description },
  );

function counted(of: AlarmSummary['open']['new']) {
  return { total: of.critical + of.high + of.low, ...of };
}

const summary = operation({
  id: 'getAlarmSummary',
  method: 'GET',
  path: '/alarm/summary/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Alarms',
  summary: 'How many alarms are open, come in and wait',
  description: `Our addition. Counts of the alarms of the devices that the caller sees: open ones by state and priority, closed ones since \`since\`
(24 hours without it), how long alarms waited for their first owner in the last hour, and how many were opened in each ten
minutes of the last two hours. One person can handle about one alarm in ten minutes over long, ten in a peak (EEMUA 191, ISA-18.2).`,
  params: Type.Object({}),
  query: Type.Object(
    { since: Type.Optional(epochText('Count alarms that were closed then or later (epoch seconds)')) },
    { additionalProperties: false },
  ),
  body: null,
  result: Type.Object({
    ...envelope,
    new: byPriority('Without an owner'),
    taken: byPriority('With an owner'),
    shelved: byPriority('On the shelf'),
    closed: number('Closed since `since`'),
    oldestUntaken: number(
      'Since when the oldest alarm without an owner has waited (epoch seconds); 0: there is none',
    ),
    taken1h: Type.Object(
      {
        count: number('Alarms'),
        medianS: Type.Number({
          description: 'Median of the time to the first owner, in seconds; 0 without any',
        }),
        longestS: Type.Number({ description: 'Longest time to the first owner, in seconds; 0 without any' }),
      },
      { description: 'Alarms that got their first owner in the last hour' },
    ),
    opened10min: Type.Array(Type.Integer(), {
      description: 'Alarms opened in each ten minutes of the last two hours, the newest last',
    }),
  }),
  errors: ['invalid_content'],
  effects: false,
  examples: {
    result: {
      new: { total: 3, critical: 1, high: 1, low: 1 },
      taken: { total: 2, critical: 0, high: 1, low: 1 },
      shelved: { total: 1, critical: 0, high: 0, low: 1 },
      closed: 14,
      oldestUntaken: 1763683201,
      taken1h: { count: 5, medianS: 38, longestS: 161 },
      opened10min: [0, 1, 0, 2, 1, 0, 0, 4, 1, 2, 1, 3],
    },
  },
  async run({ query, caller }, { db, clock }) {
    const nowMs = Math.round(clock.utcMs());
    const closedSinceMs = startMs(query.since) ?? nowMs - 24 * 3_600_000;
    const found = await readSummary(db, { scope: caller.scope, nowMs, closedSinceMs });
    const { takenAfterMs: takings } = found;
    const inSeconds = (ms: number | undefined): number => Math.round((ms ?? 0) / 100) / 10;
    return {
      ...ok,
      new: counted(found.open.new),
      taken: counted(found.open.taken),
      shelved: counted(found.open.shelved),
      closed: found.closed,
      oldestUntaken: Math.floor((found.oldestUntakenMs ?? 0) / 1000),
      taken1h: {
        count: takings.length,
        medianS: inSeconds(takings[Math.floor(takings.length / 2)]),
        longestS: inSeconds(takings.at(-1)),
      },
      opened10min: [...found.rate],
    };
  },
});

export const alarmOperations = [list, get, summary] as const;
