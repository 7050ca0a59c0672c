// Decides which events people are told of. It works from a cursor in the store over the numbers of events, and writes
// notifications, deliveries, what the rules remember and the cursor in one batch: whenever it ends, the next one goes on
// where it was, and nothing is lost or told twice. It must never hold up the events themselves.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Database, Log, News, Statement } from '../../src/ports.ts';
import { mailboxesOf, webhookLane } from '../core/delivery-targets.ts';
import {
  decideFirings,
  type Episode,
  episodeKey,
  type Firing,
  type Happening,
  isAlert,
  lateAfterMs,
  type Rule,
} from '../core/notification-rules.ts';
import { aheadMostMs } from '../core/projection.ts';
import { isUrgent, subjectOf } from '../core/status-episodes.ts';
import type { Committed } from '../ingest/ingest.ts';
import {
  countWaiting,
  insertDelivery,
  insertPushDeliveries,
  type Telling,
  waitingMost,
} from '../store/deliveries.ts';
import { tellsOfEvents } from '../store/event-news.ts';
import {
  insertNotification,
  isUndecidedAfter,
  moveCursor,
  type NewsRow,
  newsAfter,
  readProgress,
} from '../store/notifications.ts';
import { isRoutine } from '../store/routine-codes.ts';
import {
  type EpisodeRow,
  groupsOf,
  listEpisodes,
  listRules,
  putEpisode,
  type RuleRow,
} from '../store/rules.ts';
import { createWakeLoop } from './wake-loop.ts';

export interface NotifierOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  onCommitted(listener: (committed: Committed) => void): Cancel;
  /** What other processes commit wakes it too. */
  onNews(listener: (news: News) => void): Cancel;
  /** False while another process decides; absent: there is none. */
  readonly isOurs?: () => boolean;
  /** Called after deliveries were written. */
  readonly onDeliveries: () => void;
}

export interface Notifier {
  /** Decides everything that is there; for tests and for the end. */
  runAll(): Promise<void>;
  close(): Promise<void>;
}

/** Events decided in one batch. */
const newsMost = 100;
/** Statements after which a batch takes no further event. */
const statementsMost = 500;
/** Event numbers looked through by one read: 20 ms of the reading thread. */
const spanMost = 50_000;
/** It also looks by itself: an event of another process, or one whose waking was lost. */
const lookMs = 5000;
/** Waits for company after it is woken. */
const gatherMs = 20;
/** How often the cursor is written when there is nothing to decide; a restart looks through so much again. */
const restMs = 60_000;

interface Parts {
  readonly options: NotifierOptions;
  /** Looked through up to this number, which the store need not know while nothing was found. */
  scannedNo: number;
  restedMs: number;
  isClosed: boolean;
}

interface Known {
  readonly rules: readonly RuleRow[];
  readonly groups: ReadonlyMap<number, readonly string[]>;
  readonly episodes: Map<string, Episode>;
  /** Accounts with too many deliveries that wait. */
  readonly full: ReadonlySet<string>;
}

async function readKnown(db: Database, news: readonly NewsRow[]): Promise<Known> {
  const rules = await listRules(db, [...new Set(news.map((one) => one.accountID))]);
  const deviceNos = rules.length === 0 ? [] : [...new Set(news.map((one) => one.deviceNo))];
  const subjects = [...new Set(news.map(subjectOf))];
  const hasGroups = rules.some((rule) => rule.groups.length > 0);
  const [groups, rows, waiting] = await Promise.all([
    groupsOf(db, hasGroups ? deviceNos : []),
    listEpisodes(db, { deviceNos, subjects }),
    countWaiting(db, [...new Set(rules.map((rule) => rule.accountID))]),
  ]);
  const full = [...waiting].filter(([, count]) => count >= waitingMost);
  return {
    rules,
    groups,
    episodes: new Map(rows.map((row) => [episodeKey(row), row])),
    full: new Set(full.map(([accountID]) => accountID)),
  };
}

/** An event's time, or that of its receipt when the vehicle's clock runs more than a day ahead. */
function happeningOf(row: NewsRow): Happening {
  const isAhead = row.timestampMs > row.receivedMs + aheadMostMs;
  const atMs = isAhead ? row.receivedMs : row.timestampMs;
  return { ...row, atMs, isLate: row.receivedMs - atMs > lateAfterMs };
}

function addressesOf(rule: Rule, row: NewsRow): readonly string[] {
  const listed = rule.email?.addresses ?? [];
  return [...new Set(listed.flatMap((one) => (one === 'device' ? mailboxesOf(row.notifyEmail) : [one])))];
}

function deliveriesOf({ rule, channels }: Firing, row: NewsRow, telling: Telling): readonly Statement[] {
  return channels.flatMap((channel): readonly Statement[] => {
    switch (channel) {
      case 'webhook': {
        const url = rule.webhook?.url ?? '';
        const lane = webhookLane({ accountID: row.accountID, url, ruleNo: rule.ruleNo });
        return [insertDelivery(telling, { channel, target: '', lane })];
      }
      case 'email':
        return addressesOf(rule, row).map((target) =>
          insertDelivery(telling, {
            channel,
            target,
            lane: `email:${row.accountID}:${target.toLowerCase()}`,
          }),
        );
      case 'push': {
        const { deviceNo } = row;
        return [insertPushDeliveries(telling, { deviceNo, userIDs: rule.push?.userIDs ?? 'all' })];
      }
    }
  });
}

interface Round {
  readonly onlyIf: Statement;
  readonly nowMs: number;
}

/** What one event adds to the batch. */
function statementsOf(row: NewsRow, known: Known, { onlyIf, nowMs }: Round): readonly Statement[] {
  const happening = happeningOf(row);
  const rules = known.rules.filter((rule) => rule.accountID === row.accountID);
  const groups = known.groups.get(row.deviceNo) ?? [];
  const firings = decideFirings(rules, happening, { groups, episodes: known.episodes, nowMs });
  if (firings.length === 0 && !isAlert(row)) return [];
  const { accountID, eventNo } = row;
  const isFull = known.full.has(accountID);
  const telling = { accountID, eventNo, isUrgent: isUrgent(row.statusCode), nowMs, isFull, onlyIf };
  // Of what is given up at once one row tells: a flood of one account must not cost the others the time to write it all.
  const told = isFull ? firings.slice(0, 1) : firings;
  const deliveries = told.flatMap((firing) =>
    deliveriesOf(firing, row, { ...telling, ruleNo: firing.rule.ruleNo }),
  );
  const written = isFull ? deliveries.slice(0, 1) : deliveries;
  return [insertNotification(row, { isLate: happening.isLate, onlyIf }), ...written];
}

function changedEpisodes(
  before: ReadonlyMap<string, Episode>,
  after: ReadonlyMap<string, Episode>,
): EpisodeRow[] {
  return [...after].flatMap(([key, episode]) => {
    if (before.get(key) === episode) return [];
    const [ruleNo, deviceNo, statusCode, ...subject] = key.split(' ');
    return [
      {
        ruleNo: Number(ruleNo),
        deviceNo: Number(deviceNo),
        statusCode: Number(statusCode),
        subject: subject.join(' '),
        firedMs: episode.firedMs,
        endedMs: episode.endedMs,
      },
    ];
  });
}

/** What the events of a page add, and up to which of them: a batch must not hold up the writer. */
function gather(
  news: readonly NewsRow[],
  known: Known,
  round: Round,
): { readonly told: readonly Statement[]; readonly cutAt: number | null } {
  const told: Statement[] = [];
  for (const row of news) {
    told.push(...statementsOf(row, known, round));
    if (told.length >= statementsMost) return { told, cutAt: row.eventNo };
  }
  return { told, cutAt: null };
}

/**
 * Decides one page of events. The cursor stands last, and everything else on the condition that it has not moved.
 * Returns up to which event it decided; null when another process did, and nothing was written.
 */
async function decidePage(
  parts: Parts,
  news: readonly NewsRow[],
  span: { readonly from: number; readonly to: number },
): Promise<number | null> {
  const { db, clock, onDeliveries } = parts.options;
  const known = await readKnown(db, news);
  const before = new Map(known.episodes);
  const round: Round = { onlyIf: isUndecidedAfter(span.from), nowMs: Math.round(clock.utcMs()) };
  const { told, cutAt } = gather(news, known, round);
  const to = cutAt ?? span.to;
  const remembered = changedEpisodes(before, known.episodes).map((episode) => putEpisode(episode, round));
  const results = await db.write([...told, ...remembered, moveCursor(span.from, to)]);
  if (results.at(-1)?.changes !== 1) return null;
  if (told.length > 0) onDeliveries();
  return to;
}

/** One look at the events; true when there is more. */
async function lookOnce(parts: Parts): Promise<boolean> {
  const { db, clock } = parts.options;
  const { decidedNo, newestNo } = await readProgress(db);
  const after = Math.max(decidedNo, parts.scannedNo);
  if (after >= newestNo) return false;
  const upTo = Math.min(newestNo, after + spanMost);
  const page = await newsAfter(db, { after, upTo, limit: newsMost });
  if (page.news.length === 0 && clock.monoMs() - parts.restedMs < restMs) {
    parts.scannedNo = page.upTo;
    return page.upTo < newestNo;
  }
  const decided = await decidePage(parts, page.news, { from: decidedNo, to: page.upTo });
  parts.restedMs = clock.monoMs();
  // Where another process has come to, the store knows.
  parts.scannedNo = decided ?? 0;
  return parts.scannedNo < newestNo;
}

/** Starts to decide, from where the last one was. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { clock, log } = options;
  const parts: Parts = { options, scannedNo: 0, restedMs: clock.monoMs(), isClosed: false };
  const look = async (): Promise<void> => {
    while (!parts.isClosed && options.isOurs?.() !== false && (await lookOnce(parts)));
  };
  const loop = createWakeLoop({
    clock,
    everyMs: lookMs,
    gatherMs,
    run: () => look().catch((thrown: unknown) => log.error('notifier-failed', { reason: messageOf(thrown) })),
  });
  const stops = [
    options.onCommitted(({ fresh }) => {
      if (fresh.some(({ statusCode }) => !isRoutine(statusCode))) loop.wake();
    }),
    options.onNews(({ kinds, isOwn }) => {
      if (!isOwn && tellsOfEvents(kinds)) loop.wake();
    }),
  ];
  return {
    runAll: () => loop.runNow(),
    async close() {
      parts.isClosed = true;
      for (const stop of stops) stop();
      await loop.close();
    },
  };
}
