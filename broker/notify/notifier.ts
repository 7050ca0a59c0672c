// Decides which events users are notified of. It follows event numbers with a stored cursor, and writes notifications,
// deliveries, episodes and cursor in one batch. So a restart continues at the cursor and neither loses nor repeats a
// notification. It must never delay events, nor let one device delay another's notifications: a device with many events gets its
// own cursor and its turn.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, CommitNotice, Database, Log, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { endedBy } from '../core/notifications/alarm-kinds.ts';
import { floodOf } from '../core/notifications/flood.ts';
import {
  alarmPriorityOf,
  decideFirings,
  type Episode,
  episodeKey,
  isAlert,
  type RuleEvent,
  ruleTimeOf,
} from '../core/notifications/notification-rules.ts';
import { isUrgent, subjectOf, zoneOf } from '../core/notifications/status-episodes.ts';
import { restMs } from '../core/scheduling/aimd-throttle.ts';
import type { Committed } from '../ports/committed.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { accountsFull, endAlarms, raiseAlarm } from '../store/alarms/alarm-raising.ts';
import { isRoutine } from '../store/base/routine-codes.ts';
import { mentionsEvents } from '../store/events/event-topic.ts';
import { countWaiting, waitingMost } from '../store/notifications/deliveries.ts';
import {
  type Cursor,
  decideApart,
  eventsAfter,
  insertNotification,
  isUndecidedAfter,
  moveCursor,
  type Progress,
  type RuleEventRow,
  readProgress,
} from '../store/notifications/notifications.ts';
import { groupsOf, listEpisodes, listRules, putEpisode, type RuleRow } from '../store/notifications/rules.ts';
import { type NumberSpan, nextUpTo } from '../store/slices/slices.ts';
import { changedEpisodes } from './changed-episodes.ts';
import { readEnds } from './earlier-ends.ts';
import { deliveriesOf } from './rule-deliveries.ts';

export interface NotifierOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  onCommitted(listener: (committed: Committed) => void): Cancel;
  /** What other processes commit wakes it too. */
  onCommit(listener: (commit: CommitNotice) => void): Cancel;
  /** False while another process decides; absent: there is none. */
  readonly isOurs?: () => boolean;
  /** Called after deliveries were written. */
  readonly onDeliveries: () => void;
  /** Called after alarms were raised, repeated or ended. */
  readonly onAlarms: () => void;
}

export interface Notifier {
  /** Decides everything that is there; for tests and for the end. */
  runAll(): Promise<void>;
  close(): Promise<void>;
}

/** Events decided in one batch. */
const eventsMost = 100;
/** Statements after which a batch takes no further event. */
const statementsMost = 500;
/** Event numbers looked through by one read: 20 ms of the reading thread. */
const spanMost = 50_000;
/** It also runs by itself: for events of another process, or a lost wake. */
const pollMs = 5000;
/** Waits for company after it is woken. */
const gatherMs = 20;
/** Devices that are decided apart at a time. */
const apartMost = 500;
/** Events of one of them in a batch: what others wait for is held up by a batch. */
const apartEventsMost = 25;
/** Part of the time for all of them: the alarms of a flood come later, never those of other devices. */
const apartShare = 0.2;
const apartRest = { restMostMs: 200 } as const;
/** Period of cursor writes without decisions; a restart reads that much again. */
const saveCursorMs = 60_000;

interface NotifierState {
  readonly options: NotifierOptions;
  /** Looked through up to this number, which the store need not know while nothing was found. */
  scannedNo: number;
  savedMs: number;
  /** The device that was decided apart last: the next one comes after it. */
  lastApartNo: number;
  /** No device is decided apart before. */
  restUntilMs: number;
  /** One waits for that. */
  isResting: boolean;
  isClosed: boolean;
}

interface Known {
  readonly rules: readonly RuleRow[];
  readonly groups: ReadonlyMap<number, readonly string[]>;
  readonly episodes: Map<string, Episode>;
  /** Accounts with too many deliveries that wait. */
  readonly full: ReadonlySet<string>;
  /** Accounts with as many open alarms as they may have. */
  readonly fullOfAlarms: ReadonlySet<string>;
  /** Events whose condition had ended before they arrived, and when. */
  readonly ends: ReadonlyMap<number, number>;
}

async function readKnown(db: Database, events: readonly RuleEventRow[]): Promise<Known> {
  const accountIDs = [...new Set(events.map((one) => one.accountID))];
  const rules = await listRules(db, accountIDs);
  const deviceNos = rules.length === 0 ? [] : [...new Set(events.map((one) => one.deviceNo))];
  const subjects = [...new Set(events.map(subjectOf))];
  const hasGroups = rules.some((rule) => rule.groups.length > 0);
  const [groups, rows, waiting, fullOfAlarms, ends] = await Promise.all([
    groupsOf(db, hasGroups ? deviceNos : []),
    listEpisodes(db, { deviceNos, subjects }),
    countWaiting(db, [...new Set(rules.map((rule) => rule.accountID))]),
    accountsFull(db, accountIDs),
    readEnds(db, events, rules),
  ]);
  const full = [...waiting].filter(([, count]) => count >= waitingMost);
  return {
    rules,
    groups,
    episodes: new Map(rows.map((row) => [episodeKey(row), row])),
    full: new Set(full.map(([accountID]) => accountID)),
    fullOfAlarms,
    ends,
  };
}

interface BatchContext {
  readonly onlyIf: Statement;
  readonly nowMs: number;
}

/** An event to be decided, with what is known of its account and device. */
interface Candidate {
  readonly row: RuleEventRow;
  readonly event: RuleEvent;
  /** Of its account. */
  readonly rules: readonly RuleRow[];
  /** Of its device. */
  readonly groups: readonly string[];
}

const candidateOf = (row: RuleEventRow, known: Known): Candidate => ({
  row,
  event: { ...row, ...ruleTimeOf(row) },
  rules: known.rules.filter((rule) => rule.accountID === row.accountID),
  groups: known.groups.get(row.deviceNo) ?? [],
});

/** The inbox entry and the deliveries of one event. */
function noticesOf(
  candidate: Candidate,
  known: Known,
  { onlyIf, nowMs }: BatchContext,
): readonly Statement[] {
  const { row, event, rules, groups } = candidate;
  const firings = decideFirings(rules, event, { groups, episodes: known.episodes, nowMs });
  if (firings.length === 0 && !isAlert(row)) return [];
  const { accountID, eventNo } = row;
  const isFull = known.full.has(accountID);
  const context = {
    accountID,
    eventNo,
    escalation: 0,
    isUrgent: isUrgent(row.statusCode),
    isLate: event.isLate,
    nowMs,
    isFull,
    onlyIf,
  };
  // One row represents all discarded notifications: writing an account's flood must not delay the others.
  const notified = isFull ? firings.slice(0, 1) : firings;
  const deliveries = notified.flatMap((firing) =>
    deliveriesOf(firing, row, { ...context, ruleNo: firing.rule.ruleNo }),
  );
  const written = isFull ? deliveries.slice(0, 1) : deliveries;
  return [insertNotification(row, { isLate: event.isLate, onlyIf }), ...written];
}

/** Effects of one event on alarms: ends conditions, raises or repeats one. */
function alarmsOf(candidate: Candidate, known: Known, { onlyIf, nowMs }: BatchContext): readonly Statement[] {
  const { row, event, rules, groups } = candidate;
  const { eventNo, sliceNo, deviceNo, statusCode } = row;
  const { atMs, isLate } = event;
  const ofEvent = { eventNo, sliceNo, deviceNo, subject: zoneOf(row), atMs, nowMs, onlyIf };
  const ended = endedBy(statusCode);
  const priority = alarmPriorityOf(rules, event, groups);
  const isFull = known.fullOfAlarms.has(row.accountID);
  const endMs = known.ends.get(eventNo);
  const isOver = priority !== null && endMs !== undefined;
  // Nothing ends after its end was received: a vehicle's clock can be ahead.
  const endOf = (ms: number, statusCodes: readonly number[]): Statement =>
    endAlarms({ ...ofEvent, atMs: Math.min(ms, row.receivedMs), statusCodes });
  return [
    ...(ended.length === 0 ? [] : [endOf(atMs, ended)]),
    ...(priority === null ? [] : raiseAlarm({ ...ofEvent, statusCode, priority, isLate, isFull })),
    ...(isOver ? [endOf(endMs, [statusCode])] : []),
  ];
}

interface Gathered {
  readonly notices: readonly Statement[];
  readonly alarms: readonly Statement[];
  /** Null: all events of the page. */
  readonly cutAt: number | null;
}

/** Statements of a page's events, up to a limit: a batch must not block the writer. */
function gather(events: readonly RuleEventRow[], known: Known, round: BatchContext): Gathered {
  const notices: Statement[] = [];
  const alarms: Statement[] = [];
  for (const row of events) {
    const candidate = candidateOf(row, known);
    notices.push(...noticesOf(candidate, known, round));
    alarms.push(...alarmsOf(candidate, known, round));
    if (notices.length + alarms.length >= statementsMost) return { notices, alarms, cutAt: row.eventNo };
  }
  return { notices, alarms, cutAt: null };
}

interface Page {
  readonly cursor: Cursor;
  readonly events: readonly RuleEventRow[];
  readonly to: number;
  /** Devices that are decided with the others again from here on. */
  readonly released: readonly Cursor[];
  /** Devices that are decided apart from here on. */
  readonly flooding: readonly number[];
}

/**
 * Decides one page of events. The cursor stands last, and everything else on the condition that it has not moved.
 * Returns up to which event it decided; null when another process did, and nothing was written.
 */
async function decidePage(state: NotifierState, page: Page): Promise<number | null> {
  const { db, clock, onDeliveries, onAlarms } = state.options;
  const { cursor, events, released, flooding } = page;
  const known = await readKnown(db, events);
  const before = new Map(known.episodes);
  const undecided = [cursor, ...released].map(isUndecidedAfter);
  const onlyIf = undecided.reduce((one, other) => sql`${one} AND ${other}`);
  const round: BatchContext = { onlyIf, nowMs: Math.round(clock.utcMs()) };
  const { notices, alarms, cutAt } = gather(events, known, round);
  const to = cutAt ?? page.to;
  const remembered = changedEpisodes(before, known.episodes).map((episode) => putEpisode(episode, round));
  const apart = flooding.map((deviceNo) => {
    const decided = events.filter((event) => event.deviceNo === deviceNo && event.eventNo <= to);
    return decideApart({ deviceNo, eventNo: decided.at(-1)?.eventNo ?? cursor.eventNo }, onlyIf);
  });
  const results = await db.write([
    ...notices,
    ...alarms,
    ...remembered,
    ...apart,
    ...moveCursor(cursor, to, { released, onlyIf }),
  ]);
  if (results.at(-1)?.changes !== 1) return null;
  if (notices.length > 0) onDeliveries();
  if (alarms.length > 0) onAlarms();
  return to;
}

/** The next page of the devices that are decided together, and of those that have caught up with them and do not flood again. */
async function readTogether(
  db: Database,
  progress: Progress,
  span: NumberSpan & { readonly released: Progress['apart'] },
): Promise<Omit<Page, 'cursor'>> {
  const { apart } = progress;
  const { released } = span;
  const without = apart.filter((one) => !released.includes(one)).map(({ deviceNo }) => deviceNo);
  const page = await eventsAfter(db, { ...span, limit: eventsMost, without });
  const { kept, flooding } = floodOf(page.events, {
    fullPage: eventsMost,
    placesLeft: apartMost - apart.length,
  });
  const calm = released.filter(({ deviceNo }) => !flooding.includes(deviceNo));
  if (calm.length < released.length) return readTogether(db, progress, { ...span, released: calm });
  return { events: kept, to: page.upTo, released, flooding };
}

/** Decides one page of the devices that are decided together; true when there is more. */
async function decideTogetherOnce(state: NotifierState, progress: Progress): Promise<boolean> {
  const { db, clock } = state.options;
  const { decidedNo, newestNo, apart } = progress;
  const caughtUp = apart.filter(({ eventNo }) => eventNo >= decidedNo);
  const after = Math.max(decidedNo, state.scannedNo);
  if (after >= newestNo && caughtUp.length === 0) return false;
  const upTo = after >= newestNo ? newestNo : await nextUpTo(db, { after, upTo: newestNo }, spanMost);
  const page = await readTogether(db, progress, { after, upTo, released: caughtUp });
  // With devices that are decided apart, the store must hold the scanned position.
  const isQuiet = page.events.length === 0 && apart.length === 0;
  if (isQuiet && clock.monoMs() - state.savedMs < saveCursorMs) {
    state.scannedNo = page.to;
    return page.to < newestNo;
  }
  const decided = await decidePage(state, { ...page, cursor: { deviceNo: null, eventNo: decidedNo } });
  state.savedMs = clock.monoMs();
  // Where another process has come to, the store knows.
  state.scannedNo = decided ?? 0;
  return state.scannedNo < newestNo || page.flooding.length > 0;
}

/** Decides one page of the next device that is decided apart, unless they have had their share; true when there is more. */
async function decideApartOnce(state: NotifierState, { decidedNo, apart }: Progress): Promise<boolean> {
  const behind = apart
    .filter(({ eventNo }) => eventNo < decidedNo)
    .toSorted((one, other) => one.deviceNo - other.deviceNo);
  const cursor = behind.find(({ deviceNo }) => deviceNo > state.lastApartNo) ?? behind[0];
  const { db, clock } = state.options;
  const beganMs = clock.monoMs();
  state.isResting = cursor !== undefined && beganMs < state.restUntilMs;
  if (cursor === undefined || state.isResting) return false;
  const { deviceNo, eventNo: after } = cursor;
  state.lastApartNo = deviceNo;
  const upTo = await nextUpTo(db, { after, upTo: decidedNo }, spanMost);
  const page = await eventsAfter(db, { after, upTo, limit: apartEventsMost, only: deviceNo });
  await decidePage(state, { cursor, events: page.events, to: page.upTo, released: [], flooding: [] });
  const endedMs = clock.monoMs();
  state.restUntilMs = endedMs + restMs(apartRest, apartShare, endedMs - beganMs);
  return true;
}

/** Decides a page of each kind; true when there is more. */
async function decideOnce(state: NotifierState): Promise<boolean> {
  const { db } = state.options;
  const hasMore = await decideTogetherOnce(state, await readProgress(db));
  return (await decideApartOnce(state, await readProgress(db))) || hasMore;
}

/** Starts to decide, from where the last one was. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { clock, log } = options;
  const state: NotifierState = {
    options,
    scannedNo: 0,
    savedMs: clock.monoMs(),
    lastApartNo: 0,
    restUntilMs: 0,
    isResting: false,
    isClosed: false,
  };
  const decideAll = async (): Promise<void> => {
    try {
      while (!state.isClosed && options.isOurs?.() !== false && (await decideOnce(state)));
    } catch (thrown) {
      state.isResting = false;
      log.error('notifier_failed', { reason: messageOf(thrown) });
    }
  };
  /** Until the next run. */
  const delayMs = (): number => (state.isResting ? Math.max(0, state.restUntilMs - clock.monoMs()) : pollMs);
  const loop = createPeriodicTask({
    clock,
    firstMs: gatherMs,
    gatherMs,
    run: () => decideAll().then(delayMs),
  });
  const stops = [
    options.onCommitted(({ fresh }) => {
      if (fresh.some(({ statusCode }) => !isRoutine(statusCode))) loop.wake();
    }),
    options.onCommit(({ topics, isOwn }) => {
      if (!isOwn && mentionsEvents(topics)) loop.wake();
    }),
  ];
  return {
    async runAll() {
      do {
        state.restUntilMs = 0;
        await loop.runNow();
      } while (state.isResting && !state.isClosed);
    },
    async close() {
      state.isClosed = true;
      for (const stop of stops) stop();
      await loop.close();
    },
  };
}
