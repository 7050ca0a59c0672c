// Which rules notify of an event: once an episode whatever the order of arrival, never in quiet hours unless it is urgent.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { definitionOf } from '../../broker/api/notifications/rule-shapes.ts';
import {
  alarmPriorityOf,
  decideFirings,
  type Episode,
  isAlert,
  isOutsideSilence,
  lateAfterMs,
  type Rule,
  type RuleEvent,
} from '../../broker/core/notifications/notification-rules.ts';
import { isQuiet, type QuietHours } from '../../broker/core/notifications/quiet-hours.ts';
import { counterOf, crossingNotice } from '../../broker/core/notifications/status-episodes.ts';
import { zoneSwitches } from '../../src/core/geo/geozone.ts';
import { isTimeZone } from '../../src/core/zoned-time.ts';

const panic = 63553;
const panicOff = 63554;
const arrive = 61968;
const ignitionOn = 62465;
const secondMs = 1000;
const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 10, 20, 12, 0);

const rule: Rule = {
  ruleNo: 1,
  ruleID: 'r1',
  isActive: true,
  statusCodes: [panic, arrive, ignitionOn],
  kinds: [],
  offlineAfterS: 900,
  devices: [],
  groups: [],
  silenceS: 300,
  quietHours: null,
  webhook: { url: 'https://hooks.example.com' },
  email: { addresses: ['a@example.com'] },
  language: 'en',
  push: { userIDs: 'all' },
  alarm: null,
  escalatesAfterS: null,
};

const happening: RuleEvent = {
  deviceNo: 7,
  deviceID: 'truck-17',
  statusCode: panic,
  geozoneID: '',
  commandID: null,
  atMs: startMs,
  isLate: false,
  crossing: null,
};

/** Decides events in the order given; each as [seconds after the start, changes]. */
function decide(
  rules: readonly Rule[],
  events: readonly (readonly [atS: number, changes?: Partial<RuleEvent>])[],
  nowMs = startMs,
) {
  const episodes = new Map<string, Episode>();
  return events.map(([atS, changes = {}]) => {
    const one = { ...happening, atMs: startMs + atS * secondMs, ...changes };
    return decideFirings(rules, one, { groups: ['north'], episodes, nowMs }).map(
      ({ rule: { ruleID }, channels }) => [ruleID, ...channels],
    );
  });
}

const all = [['r1', 'webhook', 'email', 'push']];

describe('a rule', () => {
  it('notifies of the codes that it names, of the devices or groups that it names', () => {
    const only = (changes: Partial<Rule>) => decide([{ ...rule, ...changes }], [[0]])[0];
    expect(only({})).toEqual(all);
    expect(only({ devices: ['truck-17'] })).toEqual(all);
    expect(only({ devices: ['truck-18'] })).toEqual([]);
    expect(only({ devices: ['truck-18'], groups: ['north'] })).toEqual(all);
    expect(only({ groups: ['south'] })).toEqual([]);
    expect(only({ statusCodes: 'alerts' })).toEqual(all);
    expect(only({ statusCodes: [ignitionOn] })).toEqual([]);
    expect(only({ isActive: false })).toEqual([]);
    expect(only({ webhook: null, push: null })).toEqual([['r1', 'email']]);
  });

  it('notifies of an episode once, and again when the silence is over', () => {
    expect(decide([rule], [[0], [1], [299], [300], [301]])).toEqual([all, [], [], all, []]);
    expect(decide([{ ...rule, silenceS: 0 }], [[0], [0], [1]])).toEqual([all, all, all]);
  });

  it('notifies again after the event that ends it', () => {
    const off = { statusCode: panicOff };
    expect(decide([rule], [[0], [10, off], [20], [30]])).toEqual([all, [], all, []]);
    // The end comes in late, after the second beginning; the third is notified then.
    expect(decide([rule], [[0], [20], [10, off], [21]])).toEqual([all, [], [], all]);
  });

  it('ignores a crossing without an alert, unless it names the code; that ends an episode all the same', () => {
    const alerts: Rule = { ...rule, statusCodes: 'alerts' };
    const into = { statusCode: arrive, geozoneID: 'yard' };
    const out = { statusCode: 62000, geozoneID: 'yard', crossing: 'nothing' } as const;
    expect(decide([alerts], [[0, { ...into, crossing: 'nothing' }]])).toEqual([[]]);
    expect(decide([rule], [[0, { ...into, crossing: 'nothing' }]])).toEqual([all]);
    expect(
      decide(
        [alerts],
        [
          [0, into],
          [10, out],
          [20, into],
        ],
      ),
    ).toEqual([all, [], all]);
  });

  // Code, the zone's wish at the crossing, and the zone's switches now ('-': the account has no such zone).
  it.each<[number, boolean | undefined, string, string | null]>([
    [arrive, false, 'alertEntry alarmEntry', 'nothing'],
    [arrive, true, 'alertEntry', 'notification'],
    [arrive, true, 'alertEntry alarmEntry', 'alarm'],
    [arrive, true, 'alertEntry alarmExit', 'notification'],
    [arrive, undefined, 'alertEntry alarmEntry', 'alarm'],
    [arrive, undefined, 'alertEntry', 'notification'],
    [arrive, undefined, 'alertExit', 'nothing'],
    [arrive, true, '-', 'alarm'],
    [arrive, undefined, '-', 'alarm'],
    [arrive, false, '-', 'nothing'],
    [62_000, true, 'alertExit alarmExit', 'alarm'],
    [62_000, true, 'alertExit alarmEntry', 'notification'],
    [61_971, true, 'alarmEntry', 'alarm'],
    [61_971, undefined, 'alertEntry', 'notification'],
    [61_971, undefined, '-', 'nothing'],
    [62_003, true, 'alertExit', 'notification'],
    [panic, false, 'alertEntry', null],
  ])('makes of a crossing %i with alert %s in a zone with "%s": %s', (statusCode, alert, zone, wanted) => {
    const attributes = alert === undefined ? null : { alert };
    const switches = zone === '-' ? null : zoneSwitches.filter((name) => zone.includes(name));
    const crossing = crossingNotice({ statusCode, attributes }, switches);
    expect(crossing).toBe(wanted);
    const event = { ...happening, statusCode, crossing, geozoneID: 'yard' };
    const isAlarm = wanted === 'alarm' || wanted === null;
    expect(alarmPriorityOf([], event, []) !== null).toBe(isAlarm);
    expect(isAlert(event)).toBe(wanted !== 'nothing');
    const named = (statusCodes: Rule['statusCodes']) => decide([{ ...rule, statusCodes }], [[0, event]])[0];
    expect([named('alerts'), named('alarms'), named([statusCode])]).toEqual([
      wanted === 'nothing' ? [] : all,
      isAlarm ? all : [],
      all,
    ]);
  });

  it('keeps devices, zones and commands apart', () => {
    const at = (geozoneID: string) => ({ statusCode: arrive, geozoneID });
    expect(
      decide(
        [rule],
        [
          [0, at('depot')],
          [1, at('harbour')],
          [2, at('depot')],
        ],
      ),
    ).toEqual([all, all, []]);
    expect(decide([rule], [[0], [1, { deviceNo: 8 }]])).toEqual([all, all]);
  });

  it('notifies of a late event by push only when it is urgent', () => {
    const late = { isLate: true };
    expect(decide([rule], [[0, { ...late, statusCode: ignitionOn }]])).toEqual([
      [['r1', 'webhook', 'email']],
    ]);
    expect(decide([rule], [[0, late]])).toEqual([all]);
    expect(lateAfterMs).toBe(900_000);
  });

  it('is silent by night towards people, but for panic, tamper and loss of power', () => {
    const quietHours: QuietHours = {
      timeZone: 'UTC',
      from: '10:00',
      to: '14:00',
      weekdays: [1, 2, 3, 4, 5, 6, 7],
      exceptUrgent: true,
    };
    const quiet = { ...rule, quietHours };
    expect(decide([quiet], [[0]])).toEqual([all]);
    expect(decide([quiet], [[0, { statusCode: ignitionOn }]])).toEqual([[['r1', 'webhook']]]);
    const strict = { ...quiet, quietHours: { ...quietHours, exceptUrgent: false } };
    expect(decide([strict], [[0]])).toEqual([[['r1', 'webhook']]]);
  });

  it('of an unknown time zone has no quiet hours, and does not stop the others', () => {
    const quietHours = {
      timeZone: 'Mars/Olympus',
      from: '00:00',
      to: '00:00',
      weekdays: [5],
      exceptUrgent: false,
    };
    expect(decide([{ ...rule, quietHours }], [[0]])).toEqual([all]);
  });

  it('that was held back in quiet hours counts as not sent: the next one is sent', () => {
    const quietHours = { timeZone: 'UTC', from: '10:00', to: '12:01', weekdays: [5], exceptUrgent: false };
    const quiet = { ...rule, webhook: null, quietHours };
    const episodes = new Map<string, Episode>();
    const at = (atMs: number) =>
      decideFirings([quiet], { ...happening, atMs }, { groups: [], episodes, nowMs: atMs }).length;
    expect([at(startMs), at(startMs + 60_000), at(startMs + 61_000)]).toEqual([0, 1, 0]);
  });
});

describe('a panic', () => {
  const off = { statusCode: panicOff };

  it('is sent to people at three in the morning, unless the rule excludes that', () => {
    const quietHours = { timeZone: 'America/Toronto', from: '22:00', to: '06:00' };
    const body = { ruleID: 'r1', statusCodes: 'alerts' as const, quietHours, push: {} };
    const byDefault = { ...definitionOf(body), ruleNo: 1, ruleID: 'r1' };
    const strict = definitionOf({ ...body, quietHours: { ...quietHours, exceptUrgent: false } });
    const threeInTheMorning = Date.UTC(2026, 10, 21, 8, 0);
    expect(decide([byDefault], [[0]], threeInTheMorning)).toEqual([[['r1', 'push']]]);
    expect(decide([{ ...byDefault, ...strict }], [[0]], threeInTheMorning)).toEqual([[]]);
  });

  it('that is pressed again after its release is sent again, however soon', () => {
    expect(decide([rule], [[0], [1, off], [2], [3, off], [4]])).toEqual([all, [], all, [], all]);
  });

  it('on two vehicles is sent twice, and the release on one ends nothing on the other', () => {
    const other = { deviceNo: 8, deviceID: 'truck-18' };
    expect(decide([rule], [[0], [0, other], [1, { ...off, ...other }], [2], [3, other]])).toEqual([
      all,
      all,
      [],
      [],
      all,
    ]);
  });

  it('that comes an hour late, by night, is sent by every channel', () => {
    const quietHours = { timeZone: 'UTC', from: '00:00', to: '00:00', weekdays: [1, 2, 3, 4, 5, 6, 7] };
    const quiet = { ...rule, quietHours: { ...quietHours, exceptUrgent: true } };
    expect(decide([quiet], [[-3600, { isLate: true }], [0]])).toEqual([all, all]);
  });
});

describe('episodes, for any history in any order of arrival', () => {
  const silenceMs = 50;
  const entry = fc.record({ atMs: fc.nat({ max: 500 }), isEnd: fc.boolean() });
  const firedOf = (history: readonly { atMs: number; isEnd: boolean }[]) => {
    const episodes = new Map<string, Episode>();
    const strict = { ...rule, silenceS: silenceMs / 1000 };
    return history.map(({ atMs, isEnd }) => {
      const one = { ...happening, atMs, statusCode: isEnd ? panicOff : panic };
      return decideFirings([strict], one, { groups: [], episodes, nowMs: 0 }).length === 1;
    });
  };
  const isEndBetween = (history: readonly { atMs: number; isEnd: boolean }[], one: number, other: number) =>
    history.some(({ atMs, isEnd }) => isEnd && Math.min(one, other) <= atMs && atMs <= Math.max(one, other));

  it('no two notices lie in one episode', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), (history) => {
        const fired = firedOf(history);
        const times = history.filter((_one, at) => fired[at]).map(({ atMs }) => atMs);
        for (const [at, one] of times.entries()) {
          for (const other of times.slice(at + 1)) {
            expect(Math.abs(one - other) >= silenceMs || isEndBetween(history, one, other)).toBe(true);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('every event that is not sent lies within the silence of one that was sent before it came', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), (history) => {
        const fired = firedOf(history);
        for (const [at, { atMs, isEnd }] of history.entries()) {
          if (isEnd || fired[at]) continue;
          const before = history.slice(0, at);
          const notified = before.filter((_one, index) => fired[index]).map((one) => one.atMs);
          expect(
            notified.some((one) => Math.abs(one - atMs) < silenceMs && !isEndBetween(before, one, atMs)),
          ).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('of which too many are remembered are sent once too often rather than never', () => {
    const firedMs = Array.from({ length: 32 }, (_, index) => 1000 + index * 100);
    expect(isOutsideSilence({ firedMs, endedMs: [] }, 0, 50)).toBe(true);
    expect(
      decide(
        [{ ...rule, silenceS: 1 }],
        Array.from({ length: 100 }, (_, at) => [at] as const),
      ),
    ).toEqual(Array.from({ length: 100 }, () => all));
  });
});

it('codes that end each other do so both ways', () => {
  for (let code = 0; code < 65_536; code += 1) {
    const end = counterOf(code);
    if (end !== null) expect([code, counterOf(end)]).toEqual([code, code]);
  }
  expect([counterOf(panic), counterOf(62_673), counterOf(61_472)]).toEqual([panicOff, 62_689, null]);
});

describe('quiet hours', () => {
  const hours = (changes: Partial<QuietHours>): QuietHours => ({
    timeZone: 'America/Toronto',
    from: '22:00',
    to: '06:00',
    weekdays: [1, 2, 3, 4, 5],
    exceptUrgent: true,
    ...changes,
  });

  it('follow the wall clock over midnight, and count by the day on which they begin', () => {
    // Friday 2026-11-20 in Toronto (UTC-5).
    expect(isQuiet(hours({}), Date.UTC(2026, 10, 21, 2, 59))).toBe(false);
    expect(isQuiet(hours({}), Date.UTC(2026, 10, 21, 3, 0))).toBe(true);
    expect(isQuiet(hours({}), Date.UTC(2026, 10, 21, 10, 59))).toBe(true);
    expect(isQuiet(hours({}), Date.UTC(2026, 10, 21, 11, 0))).toBe(false);
    // Saturday evening is not among the days; Sunday early neither.
    expect(isQuiet(hours({}), Date.UTC(2026, 10, 22, 4, 0))).toBe(false);
    expect(isQuiet(hours({}), Date.UTC(2026, 10, 22, 10, 0))).toBe(false);
  });

  it('follow the change to summer time', () => {
    const night = hours({ weekdays: [7] });
    // 2026-03-08: at 02:00 the clock of Toronto jumps to 03:00; 06:00 is 10:00 UTC and no longer 11:00.
    expect(isQuiet(night, Date.UTC(2026, 2, 9, 9, 59))).toBe(true);
    expect(isQuiet(night, Date.UTC(2026, 2, 9, 10, 0))).toBe(false);
  });

  it('equal those of a calendar, minute by minute, over every change of the clock and in zones of half hours', () => {
    // The day before the change, of either direction; Lord Howe changes by half an hour.
    const changes: readonly (readonly [string, number])[] = [
      ['America/Toronto', Date.UTC(2026, 2, 7)],
      ['America/Toronto', Date.UTC(2026, 9, 31)],
      ['Europe/Berlin', Date.UTC(2026, 2, 28)],
      ['Europe/Berlin', Date.UTC(2026, 9, 24)],
      ['Australia/Lord_Howe', Date.UTC(2026, 3, 4)],
      ['Australia/Lord_Howe', Date.UTC(2026, 9, 3)],
      ['America/St_Johns', Date.UTC(2026, 9, 31)],
      ['Asia/Kolkata', Date.UTC(2026, 0, 1)],
      ['Asia/Kathmandu', Date.UTC(2026, 0, 1)],
    ];
    const minute = fc.nat({ max: 1439 });
    const days = fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 });
    fc.assert(
      fc.property(
        fc.constantFrom(...changes),
        minute,
        minute,
        days,
        ([timeZone, since], from, to, weekdays) => {
          const text = (at: number) => new Date(at * 60_000).toISOString().slice(11, 16);
          const one = hours({ timeZone, from: text(from), to: text(to), weekdays });
          const offset = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
          for (let atMs = since; atMs < since + 3 * dayMs; atMs += 60_000) {
            const [, sign = '+', h = '0', m = '0'] = /GMT([+-])(\d\d):(\d\d)/.exec(offset.format(atMs)) ?? [];
            const wallMs = atMs + Number(`${sign}1`) * (Number(h) * 60 + Number(m)) * 60_000;
            const today = Math.floor(wallMs / dayMs) * dayMs;
            const isQuietDay = [today - dayMs, today].some((day) => {
              const begin = day + from * 60_000;
              const end = day + to * 60_000 + (to > from ? 0 : dayMs);
              return weekdays.includes(new Date(day).getUTCDay() || 7) && begin <= wallMs && wallMs < end;
            });
            if (isQuiet(one, atMs) !== isQuietDay)
              throw new Error(`${timeZone} ${new Date(atMs).toISOString()}`);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('of equal ends last the whole day, and of a day without night only that', () => {
    const whole = hours({ timeZone: 'UTC', from: '00:00', to: '00:00', weekdays: [6] });
    expect([20, 21, 22].map((day) => isQuiet(whole, Date.UTC(2026, 10, day, 12, 0)))).toEqual([
      false,
      true,
      false,
    ]);
    const noon = hours({ timeZone: 'UTC', from: '12:00', to: '13:00', weekdays: [6] });
    expect([11, 12, 13].map((hour) => isQuiet(noon, Date.UTC(2026, 10, 21, hour, 30)))).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('last exactly as long as set, in every zone without a change of the clock that day', () => {
    const clock = fc.tuple(fc.nat({ max: 23 }), fc.nat({ max: 59 }));
    const text = ([hour, minute]: readonly [number, number]) =>
      `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
    fc.assert(
      fc.property(
        clock,
        clock,
        fc.constantFrom('UTC', 'Asia/Kathmandu', 'Asia/Tokyo'),
        (from, to, timeZone) => {
          const one = hours({ timeZone, from: text(from), to: text(to), weekdays: [1, 2, 3, 4, 5, 6, 7] });
          const wished = (to[0] * 60 + to[1] - from[0] * 60 - from[1] + 1440) % 1440 || 1440;
          let minutes = 0;
          for (let minute = 0; minute < 1440; minute += 1) {
            if (isQuiet(one, startMs + minute * 60_000)) minutes += 1;
          }
          expect(minutes).toBe(wished);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('accept time zones by name only', () => {
    expect(['UTC', 'Europe/Berlin', 'Mars/Olympus', '', '+02:00', '__proto__'].map(isTimeZone)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
