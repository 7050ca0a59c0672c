// The visits of a place: candidates from the index and from events that are not in it yet, then the positions of each. So the answer is
// that of a scan of all events.
import { AppError } from '../../../src/core/errors.ts';
import type { Database } from '../../../src/ports.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { runsWithin } from '../../store/slices/slices.ts';
import { type Circle, type Span, type Visit, visitLimits, visitOf } from './core/visit.ts';
import { coverOf } from './core/visit-cells.ts';
import { spansOf } from './core/visit-times.ts';
import {
  type DeviceSpan,
  nearByEvents,
  nearByIndex,
  nearMost,
  positionsOf,
  type Sought,
  type StoredPosition,
  stateFor,
} from './visit-statements.ts';

const limits = {
  /** More new events than this are not looked through: a second of the reading thread. */
  newEventsMost: 500_000,
  /** Spans of one statement, and how long they are together: some thousand positions. */
  spansAtOnce: 500,
  togetherMs: 15 * 3_600_000,
  /** How long the spans of one answer are together at most. */
  answerMs: 250 * 3_600_000,
} as const;

export interface AskedVisits {
  readonly scope: Scope;
  readonly circle: Circle;
  readonly span: Span;
  readonly afterID: string;
  /** Most vehicles of the answer. */
  readonly limit: number;
}

export interface FoundVisit extends Visit {
  readonly deviceID: string;
}

export interface FoundVisits {
  /** In the order of ids. */
  readonly visits: readonly FoundVisit[];
  /** Devices up to this one were looked at, and there are more; null: all were. */
  readonly nextID: string | null;
}

interface Candidate {
  readonly deviceID: string;
  readonly deviceNo: number;
  /** In order; no way leads from one to the next. */
  readonly spans: readonly DeviceSpan[];
}

const durationOf = (spans: readonly Span[]): number =>
  spans.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);

function byKey<T, K>(all: readonly T[], keyOf: (one: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
}

/** In the order of ids. `isWhole`: there are no others. */
async function candidatesOf(
  db: Database,
  sought: Sought,
  { centre, radiusM }: Circle,
  numbers: { readonly toNo: number; readonly lastNo: number },
): Promise<{ readonly candidates: readonly Candidate[]; readonly isWhole: boolean }> {
  // One end of a way that crosses the circle may be its whole length away from it.
  const around = coverOf(centre, radiusM + visitLimits.gapM);
  const parts = [
    await nearByIndex(db, sought, coverOf(centre, radiusM)),
    ...(await nearByEvents(db, sought, around, numbers)),
  ];
  // A full list may lack rows of its last device.
  const [endID] = parts
    .flatMap((part) => (part.length < nearMost ? [] : [part.at(-1)?.deviceID ?? '']))
    .sort();
  const near = parts.flat().filter(({ deviceID }) => endID === undefined || deviceID < endID);
  const candidates = [...byKey(near, ({ deviceID }) => deviceID)].flatMap(([deviceID, hours]) => {
    const deviceNo = hours[0]?.deviceNo;
    const spans = spansOf(hours, sought.span);
    return deviceNo === undefined || spans.length === 0
      ? []
      : [{ deviceID, deviceNo, spans: spans.map((span) => ({ deviceNo, ...span })) }];
  });
  candidates.sort((one, other) => (one.deviceID < other.deviceID ? -1 : 1));
  return { candidates, isWhole: endID === undefined };
}

/** The next candidates that are read together, at least one. */
function someOf(candidates: readonly Candidate[], from: number): readonly Candidate[] {
  let [spans, ms] = [0, 0];
  const end = candidates.findIndex((one, at) => {
    if (at < from) return false;
    spans += one.spans.length;
    ms += durationOf(one.spans);
    return at > from && (spans > limits.spansAtOnce || ms > limits.togetherMs);
  });
  return candidates.slice(from, end === -1 ? undefined : end);
}

/** By event time; of one moment in the order of arrival. */
const inOrder = (one: StoredPosition, other: StoredPosition): number =>
  one.timestampMs - other.timestampMs || one.eventNo - other.eventNo;

/**
 * The vehicles in a circle within a span of event time, some of them.
 * @throws AppError `unavailable` while most events are not in the index yet.
 */
export async function readVisits(db: Database, asked: AskedVisits): Promise<FoundVisits> {
  const { scope, circle, span, afterID, limit } = asked;
  const state = await stateFor(db, scope.accountID);
  if (state === null) return { visits: [], nextID: null };
  const { accountNo, toNo, lastNo } = state;
  if (lastNo - toNo > limits.newEventsMost) {
    const done = Math.floor((100 * toNo) / lastNo);
    throw new AppError(
      'unavailable',
      `The index of visits is being made: ${done} % of the events are in it`,
      {
        hint: 'Ask again in some minutes.',
        retryAfterS: 60,
      },
    );
  }
  const within = { fromMs: span.fromMs - visitLimits.gapMs, toMs: span.toMs + visitLimits.gapMs };
  const { candidates, isWhole } = await candidatesOf(
    db,
    { scope, accountNo, span: within, afterID },
    circle,
    state,
  );
  const sliceNos = new Set((await runsWithin(db, within)).map(({ sliceNo }) => sliceNo));
  const visits: FoundVisit[] = [];
  let [at, readMs] = [0, 0];
  while (at < candidates.length && visits.length < limit && readMs < limits.answerMs) {
    const some = someOf(candidates, at);
    const spans = some.flatMap((one) => one.spans);
    readMs += durationOf(spans);
    const stored: (readonly StoredPosition[])[] = [];
    for (const sliceNo of sliceNos) stored.push(await positionsOf(db, scope, { sliceNo, spans }));
    const byDevice = byKey(stored.flat().sort(inOrder), ({ deviceNo }) => deviceNo);
    for (const { deviceNo, deviceID } of some) {
      if (visits.length === limit) break;
      at += 1;
      const visit = visitOf(byDevice.get(deviceNo) ?? [], circle, span);
      if (visit !== null) visits.push({ deviceID, ...visit });
    }
  }
  const isEnd = isWhole && at === candidates.length;
  return { visits, nextID: isEnd ? null : (candidates[at - 1]?.deviceID ?? null) };
}
