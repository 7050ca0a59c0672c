// Records absences and expiring certificates, and decides rules about them and about occurrences that triggers recorded
// (`broker/store/schema/occurrences.ts`). Inbox entry, deliveries, episodes and the removal of the occurrence are one batch,
// conditional on its existence. So neither a restart nor two processes lose or repeat a notice.
import { dayMs } from '../../src/core/durations.ts';
import { messageOf } from '../../src/core/errors.ts';
import { silenceLimitMs } from '../../src/core/presence.ts';
import type { Clock, Database, Log, Statement } from '../../src/ports.ts';
import { type Episode, episodeKey } from '../core/notifications/notification-rules.ts';
import {
  decideOccurrence,
  occurrenceSubjects,
  type RuleOccurrence,
} from '../core/notifications/occurrence-rules.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { quietDevices, setSilent } from '../store/devices/tracker-presence.ts';
import { countWaiting, waitingMost } from '../store/notifications/deliveries.ts';
import {
  absencesToRecord,
  areUndecided,
  eventNoOf,
  insertOccurrenceNotification,
  type OccurrenceRow,
  recordAbsence,
  recordExpiring,
  removeDecided,
  undecidedOccurrences,
} from '../store/notifications/occurrences.ts';
import { groupsOf, listEpisodes, listRules, putEpisode, type RuleRow } from '../store/notifications/rules.ts';
import { changedEpisodes } from './changed-episodes.ts';
import { deliveriesOf } from './rule-deliveries.ts';

export interface OccurrenceNotifierOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** False while another process does it; absent: there is none. */
  readonly isOurs?: () => boolean;
  /** Called after deliveries were written. */
  readonly onDeliveries: () => void;
}

export interface OccurrenceNotifier {
  /** Records and decides everything; for tests. */
  runAll(): Promise<void>;
  close(): Promise<void>;
}

/** A poll: seconds are fast enough for absences of minutes, and no commit has to wake it. */
const periodMs = 2000;
/** Delay after a failure. */
const failedMs = 10_000;
/** The first search for absences reads a row for each device that is offline: at most a quarter of the reading thread's time. */
const restFactor = 3;
/** Decided in one batch; each may end an episode of another kind, so that subjects fit one list. */
const decidedMost = 50;
/** Statements after which a batch takes no further occurrence: it must not hold up the writer. */
const statementsMost = 500;
const recordedMost = 500;
const absencesEveryMs = 10_000;
/** The search reads a row for each device that says no hello and is quiet. */
const silencesEveryMs = 60_000;
/** Time for devices to come back after the start of this process, which may have ended their connections: units retry within 2 minutes. */
const startGraceMs = 5 * 60_000;
/** Later searches go back so far before the last one, because an absence may be recorded late. */
const overlapMs = 3_600_000;
const certificatesEveryMs = 10 * 60 * 1000;
const certificateDays = 30;

const never = Number.NEGATIVE_INFINITY;

interface Known {
  readonly rules: readonly RuleRow[];
  readonly groups: ReadonlyMap<number, readonly string[]>;
  readonly episodes: Map<string, Episode>;
  /** Accounts with too many deliveries that wait. */
  readonly full: ReadonlySet<string>;
  readonly nowMs: number;
}

/** The occurrence as rules judge it; null for a kind that this release does not know. */
function toDecide(row: OccurrenceRow): RuleOccurrence | null {
  const { deviceNo, deviceID, kind, commandID, objectID, afterS, notedMs } = row;
  // An approval's outcome names the command too: the approval is what it is about.
  const object = objectID === '' ? (commandID ?? '') : objectID;
  return kind === null ? null : { deviceNo, deviceID, kind, object, afterS, atMs: notedMs };
}

async function readKnown(db: Database, rows: readonly OccurrenceRow[], nowMs: number): Promise<Known> {
  const accountIDs = [...new Set(rows.map(({ accountID }) => accountID))];
  const rules = (await listRules(db, accountIDs)).filter(({ kinds }) => kinds.length > 0);
  const deviceNos = rules.length === 0 ? [] : [...new Set(rows.map(({ deviceNo }) => deviceNo))];
  const subjects = rows.map(toDecide).flatMap((one) => (one === null ? [] : occurrenceSubjects(one)));
  const [groups, episodes, waiting] = await Promise.all([
    groupsOf(db, deviceNos),
    subjects.length === 0 ? [] : listEpisodes(db, { deviceNos, subjects: [...new Set(subjects)] }),
    countWaiting(db, [...new Set(rules.map(({ accountID }) => accountID))]),
  ]);
  const full = [...waiting].filter(([, count]) => count >= waitingMost);
  return {
    rules,
    groups,
    episodes: new Map(episodes.map((row) => [episodeKey(row), row])),
    full: new Set(full.map(([accountID]) => accountID)),
    nowMs,
  };
}

/** The inbox entry and the deliveries of one occurrence. */
function statementsOf(row: OccurrenceRow, known: Known, onlyIf: Statement): readonly Statement[] {
  const { accountID, deviceNo, occurrenceNo } = row;
  const occurrence = toDecide(row);
  if (occurrence === null) return [];
  const { episodes, nowMs } = known;
  const rules = known.rules.filter((rule) => rule.accountID === accountID);
  const circumstances = { groups: known.groups.get(deviceNo) ?? [], episodes, nowMs };
  const { isAsked, firings } = decideOccurrence(rules, occurrence, circumstances);
  if (!isAsked) return [];
  const isFull = known.full.has(accountID);
  const context = {
    accountID,
    eventNo: eventNoOf(occurrenceNo),
    escalation: 0,
    isUrgent: false,
    isLate: false,
    nowMs,
    isFull,
    onlyIf,
  };
  // One row represents all discarded notifications, as for events.
  const deliveries = (isFull ? firings.slice(0, 1) : firings).flatMap((firing) =>
    deliveriesOf(firing, row, { ...context, ruleNo: firing.rule.ruleNo }),
  );
  const written = isFull ? deliveries.slice(0, 1) : deliveries;
  return [insertOccurrenceNotification(occurrenceNo, onlyIf), ...written];
}

/** Decides about the oldest; true when there may be more. */
async function decideSome({ db, clock, onDeliveries }: OccurrenceNotifierOptions): Promise<boolean> {
  const rows = await undecidedOccurrences(db, decidedMost);
  const [first] = rows;
  if (first === undefined) return false;
  const nowMs = Math.round(clock.utcMs());
  const known = await readKnown(db, rows, nowMs);
  const before = new Map(known.episodes);
  const firstNo = first.occurrenceNo;
  const notices: Statement[] = [];
  let upTo = firstNo;
  for (const row of rows) {
    notices.push(...statementsOf(row, known, areUndecided(firstNo, row.occurrenceNo)));
    upTo = row.occurrenceNo;
    if (notices.length >= statementsMost) break;
  }
  const round = { nowMs, onlyIf: areUndecided(firstNo, firstNo) };
  const remembered = changedEpisodes(before, known.episodes).map((episode) => putEpisode(episode, round));
  const results = await db.write([...notices, ...remembered, removeDecided(firstNo, upTo)]);
  const isMine = (results.at(-1)?.changes ?? 0) > 0;
  if (isMine && notices.length > 0) onDeliveries();
  return isMine && (rows.length === decidedMost || upTo !== rows.at(-1)?.occurrenceNo);
}

/** Devices that say no hello and have been silent for longer than is usual for them go offline. */
async function markSilent(db: Database, nowMs: number): Promise<void> {
  const silent = (await quietDevices(db, nowMs)).filter(
    ({ heartbeatMs, usualMs }) => nowMs - heartbeatMs >= silenceLimitMs(usualMs),
  );
  for (let from = 0; from < silent.length; from += recordedMost) {
    const some = silent.slice(from, from + recordedMost);
    await db.write(some.map(({ deviceNo, heartbeatMs }) => setSilent(deviceNo, heartbeatMs, nowMs)));
  }
}

/** Starts to note and to decide, until `close`. */
export function createOccurrenceNotifier(options: OccurrenceNotifierOptions): OccurrenceNotifier {
  const { db, clock, log, isOurs } = options;
  const state = {
    isClosed: false,
    absencesMs: never,
    silencesMs: never,
    certificatesMs: never,
    searchedMs: never,
  };
  const startedMs = clock.monoMs();
  const mayGoOn = (): boolean => !state.isClosed && isOurs?.() !== false;

  const recordAbsences = async (): Promise<void> => {
    const monoMs = clock.monoMs();
    if (monoMs - startedMs < startGraceMs || monoMs - state.absencesMs < absencesEveryMs) return;
    state.absencesMs = monoMs;
    if (monoMs - state.silencesMs >= silencesEveryMs) {
      await markSilent(db, Math.round(clock.utcMs()));
      state.silencesMs = monoMs;
    }
    for (let changes = 1; changes > 0 && mayGoOn(); ) {
      const nowMs = Math.round(clock.utcMs());
      const sinceMs = Math.max(0, state.searchedMs - overlapMs);
      const absences = await absencesToRecord(db, { sinceMs, nowMs, limit: recordedMost });
      if (absences.length === 0) {
        state.searchedMs = nowMs;
        return;
      }
      const results = await db.write(absences.map((absence) => recordAbsence(absence, nowMs)));
      changes = results.reduce((sum, result) => sum + result.changes, 0);
    }
  };
  const recordCertificates = async (): Promise<void> => {
    if (clock.monoMs() - state.certificatesMs < certificatesEveryMs) return;
    for (let changes = recordedMost; changes >= recordedMost && mayGoOn(); ) {
      const nowMs = Math.round(clock.utcMs());
      const at = { nowMs, untilMs: nowMs + certificateDays * dayMs, limit: recordedMost };
      changes = (await db.write([recordExpiring(at)]))[0]?.changes ?? 0;
    }
    state.certificatesMs = clock.monoMs();
  };
  const decideAll = async (): Promise<void> => {
    while (mayGoOn() && (await decideSome(options)));
  };
  const run = async (): Promise<number> => {
    let delayMs = periodMs;
    // A step that fails must not stop the others.
    for (const step of [recordAbsences, recordCertificates, decideAll]) {
      if (!mayGoOn()) break;
      await step().catch((thrown: unknown) => {
        log.error('occurrences_failed', { reason: messageOf(thrown) });
        delayMs = failedMs;
      });
    }
    return delayMs;
  };
  const task = createPeriodicTask({ clock, firstMs: periodMs, pauseFactor: restFactor, run });
  return {
    runAll() {
      state.absencesMs = never;
      state.silencesMs = never;
      state.certificatesMs = never;
      return task.runNow();
    },
    async close() {
      state.isClosed = true;
      await task.close();
    },
  };
}
