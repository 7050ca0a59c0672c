// The visits of a place: candidates from the index and from events that are not in it yet, then the positions of each. So the answer is
// that of a scan of all events.
import { AppError } from '../../../src/core/errors.ts';
import type { Database } from '../../../src/ports.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { fixOf } from '../../core/events/belief.ts';
import { runsWithin } from '../../store/slices/slices.ts';
import {
  type Circle,
  type Span,
  type Visit,
  type VisitPosition,
  visitLimits,
  visitOf,
} from './core/visit.ts';
import { coverOf } from './core/visit-cells.ts';
import {
  type Near,
  nearByEvents,
  nearByIndex,
  positionsOf,
  type StoredPosition,
  stateFor,
} from './visit-statements.ts';

const limits = {
  /** More new events than this are not looked through: a second of the reading thread. */
  newEventsMost: 500_000,
  /** Spans of one statement, and how long they are together: some ten thousand positions. */
  spansAtOnce: 100,
  togetherMs: 25 * 3_600_000,
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
  readonly deviceNo: number;
  readonly deviceID: string;
  /** In order; none touches another. */
  readonly spans: readonly Near[];
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

/** Joins what is known of each device, with the positions before and after. */
function candidatesOf(near: readonly Near[], within: Span): readonly Candidate[] {
  const byDevice = byKey(near, ({ deviceID }) => deviceID);
  const ids = [...byDevice.keys()].sort((one, other) => (one < other ? -1 : 1));
  return ids.flatMap((deviceID) => {
    const spans: Near[] = [];
    const parts = byDevice.get(deviceID) ?? [];
    for (const part of parts.toSorted((one, other) => one.fromMs - other.fromMs)) {
      const fromMs = Math.max(within.fromMs, part.fromMs - visitLimits.gapMs);
      const toMs = Math.min(within.toMs, part.toMs + visitLimits.gapMs);
      const last = spans.at(-1);
      if (last === undefined || fromMs > last.toMs + 1) spans.push({ ...part, fromMs, toMs });
      else spans[spans.length - 1] = { ...last, toMs: Math.max(last.toMs, toMs) };
    }
    const [first] = parts;
    return first === undefined ? [] : [{ deviceNo: first.deviceNo, deviceID, spans }];
  });
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

/** Positions of a device by event time; of one moment in the order of arrival. */
function inOrder(stored: readonly StoredPosition[]): readonly VisitPosition[] {
  return stored
    .toSorted((one, other) => one.atMs - other.atMs || one.eventNo - other.eventNo)
    .flatMap(({ atMs, statusCode, satellites, latitude, longitude }) => {
      const point = fixOf({ point: { latitude, longitude }, statusCode, satellites });
      return point === null ? [] : [{ atMs, point }];
    });
}

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
  // Of a way that crosses the circle, one end is at most half its length away from it.
  const cover = coverOf(circle.centre, circle.radiusM + visitLimits.gapM / 2);
  const sought = { scope, accountNo, cover, span: within, afterID };
  const near = [...(await nearByIndex(db, sought)), ...(await nearByEvents(db, sought, { toNo, lastNo }))];
  const candidates = candidatesOf(near, within);
  const sliceNos = [...new Set((await runsWithin(db, within)).map(({ sliceNo }) => sliceNo))];
  const visits: FoundVisit[] = [];
  let readMs = 0;
  for (let at = 0; at < candidates.length; ) {
    const some = someOf(candidates, at);
    const spans = some.flatMap((one) => one.spans);
    readMs += durationOf(spans);
    const stored: (readonly StoredPosition[])[] = [];
    for (const sliceNo of sliceNos) stored.push(await positionsOf(db, scope, { sliceNo, spans }));
    const byDevice = byKey(stored.flat(), ({ deviceNo }) => deviceNo);
    for (const { deviceNo, deviceID } of some) {
      at += 1;
      const visit = visitOf(inOrder(byDevice.get(deviceNo) ?? []), circle, span);
      if (visit !== null) visits.push({ deviceID, ...visit });
      if (visits.length >= limit && at < candidates.length) return { visits, nextID: deviceID };
    }
    if (readMs >= limits.answerMs && at < candidates.length)
      return { visits, nextID: some.at(-1)?.deviceID ?? null };
  }
  return { visits, nextID: null };
}
