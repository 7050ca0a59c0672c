// A track in fewer records: the online form of SQUISH-E (Muckell, Olsen, Hwang et al. 2014, "Compression of trajectory data"). Pure and
// deterministic. Records of an occurrence are always kept, so a thinned track hides no alarm, stop or gap; of plain positions those
// are dropped whose place follows best from the others. Memory is bounded by what is kept; a record costs the logarithm of that.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { earthRadiusM, type Point, radians } from '../../../src/core/geo/geo.ts';
import { createEntryHeap, type HeapEntry } from './thinning-heap.ts';

export const thinningLimits = {
  /** Fewest and most records to ask for. */
  points: { least: 2, most: 5000 },
  /** Most records that must be kept; a period with more is to be asked for in parts. */
  kept: 10_000,
  /** A vehicle that stays within `stillM` metres for `stopMs` stands. */
  stillM: 60,
  stopMs: 180_000,
  /** Longer without a position while the vehicle moved on is a gap. */
  gapMs: 600_000,
  /** Longer without a position is a gap wherever the vehicle was. */
  silentMs: 3_600_000,
} as const;

const { LOCATION, HEARTBEAT, MOTION_EN_ROUTE, MOTION_DORMANT } = statusCodes;

/** Positions among others; trackers of other makers send 61717 Stopped and 61724 Moving. */
const plainCodes: ReadonlySet<number> = new Set([
  ...[LOCATION, HEARTBEAT, MOTION_EN_ROUTE, MOTION_DORMANT].map(({ code }) => code),
  61717,
  61724,
]);

/** True for a record that reports only where the vehicle is. */
export const isPlainPosition = (statusCode: number): boolean => plainCodes.has(statusCode);

/** What thinning looks at of a record. */
export interface ThinningRecord {
  readonly timestampMs: number;
  /** A position among others: without an occurrence of its own. */
  readonly isPlain: boolean;
  readonly point: Point | null;
  /** Nothing is known of the way that led here. */
  readonly isAfterGap: boolean;
  /** km/h. */
  readonly speed: number | null;
}

export interface Thinned<T> {
  /** In the order in which they were added. */
  readonly kept: readonly T[];
  /** The kept ones that stand at the far end of a gap. */
  readonly afterGap: ReadonlySet<T>;
  /** Records that were added. */
  readonly total: number;
  /**
   * No dropped position is further than this from where the kept ones put the vehicle at its time, in metres, by straight lines between
   * them. An upper bound.
   */
  readonly deviationM: number;
}

export interface Thinner<T> {
  /** Adds the next record, in the order of time. */
  add(item: T, record: ThinningRecord): void;
  /** True once more records must be kept than `thinningLimits.kept`: the result would not be small. */
  isOverfull(): boolean;
  /** To be called once, at the end. */
  end(): Thinned<T>;
}

/** A position in the chain of those that are kept so far. */
interface ThinningNode<T> extends HeapEntry {
  readonly item: T;
  /** Place among all records. */
  readonly order: number;
  readonly timeMs: number;
  /** Metres from the centre of the Earth. */
  readonly at: readonly [x: number, y: number, z: number];
  previous: ThinningNode<T> | null;
  next: ThinningNode<T> | null;
  /** Reasons to keep it; with none it may be dropped. */
  pins: number;
  /** Largest deviation of what was dropped beside it, in metres. */
  carriedM: number;
  /** Deviation that its own dropping would cause, in metres. */
  costM: number;
}

/** In space straight lines, and with them deviations, are exact sums; there is no edge at 180 degrees. */
function spaceOf({ latitude, longitude }: Point): ThinningNode<unknown>['at'] {
  const [lat, lon] = [radians(latitude), radians(longitude)];
  const flat = Math.cos(lat) * earthRadiusM;
  return [flat * Math.cos(lon), flat * Math.sin(lon), Math.sin(lat) * earthRadiusM];
}

const distance = (one: ThinningNode<unknown>['at'], other: ThinningNode<unknown>['at']): number =>
  Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);

/** Distance from where the neighbours would put the vehicle at this time. */
function deviationOf(
  { at, timeMs }: ThinningNode<unknown>,
  previous: ThinningNode<unknown>,
  next: ThinningNode<unknown>,
) {
  const part = (timeMs - previous.timeMs) / (next.timeMs - previous.timeMs);
  const along = (axis: 0 | 1 | 2): number => previous.at[axis] + part * (next.at[axis] - previous.at[axis]);
  return distance(at, [along(0), along(1), along(2)]);
}

/** The ends of the track: by these the fastest and the outermost positions are kept. */
const extremes: readonly ((record: ThinningRecord & { readonly point: Point }) => number | null)[] = [
  ({ point }) => point.latitude,
  ({ point }) => -point.latitude,
  ({ point }) => point.longitude,
  ({ point }) => -point.longitude,
  ({ speed }) => speed,
];

/** The positions that are kept so far, as a chain. */
function createChain<T>() {
  const heap = createEntryHeap<ThinningNode<T>>();
  let last: ThinningNode<T> | null = null;
  let first: ThinningNode<T> | null = null;
  let length = 0;
  let pinned = 0;
  let deviationM = 0;
  const weigh = (node: ThinningNode<T>): void => {
    const { previous, next, pins } = node;
    if (previous === null || next === null || pins > 0) return heap.remove(node);
    node.costM = node.carriedM + deviationOf(node, previous, next);
    heap.put(node);
  };
  return {
    last: () => last,
    length: () => length,
    pinned: () => pinned,
    deviationM: () => deviationM,
    append(item: T, place: { readonly order: number; readonly timestampMs: number; readonly point: Point }) {
      const before: ThinningNode<T> | null = last;
      const node: ThinningNode<T> = {
        item,
        order: place.order,
        // Two records of one time are a moment apart: interpolation needs an order.
        timeMs: before === null ? place.timestampMs : Math.max(place.timestampMs, before.timeMs + 1),
        at: spaceOf(place.point),
        previous: before,
        next: null,
        pins: 0,
        carriedM: 0,
        costM: 0,
        heapAt: -1,
      };
      length += 1;
      last = node;
      if (before === null) first = node;
      else {
        before.next = node;
        weigh(before);
      }
      return node;
    },
    pin(node: ThinningNode<T>): void {
      if (node.pins === 0) pinned += 1;
      node.pins += 1;
      weigh(node);
    },
    unpin(node: ThinningNode<T>): void {
      node.pins -= 1;
      if (node.pins === 0) pinned -= 1;
      weigh(node);
    },
    /** Drops the position that is missed least. False when none may go. */
    dropOne(): boolean {
      const node = heap.takeLeast();
      if (node === null) return false;
      const { previous, next, costM } = node;
      if (previous === null || next === null) throw new Error('an end of the track was to be dropped');
      previous.next = next;
      next.previous = previous;
      length -= 1;
      deviationM = Math.max(deviationM, costM);
      for (const neighbour of [previous, next]) {
        neighbour.carriedM = Math.max(neighbour.carriedM, costM);
        weigh(neighbour);
      }
      return true;
    },
    nodes(): readonly ThinningNode<T>[] {
      const found: ThinningNode<T>[] = [];
      for (let node = first; node !== null; node = node.next) found.push(node);
      return found;
    },
  };
}
type Chain<T> = ReturnType<typeof createChain<T>>;

/** Pins where the vehicle began to stand, and where it was last seen standing. */
function createStops<T>(chain: Chain<T>) {
  let anchor: ThinningNode<T> | null = null;
  const closeStop = (until: ThinningNode<T> | null): void => {
    if (anchor === null || until === null) return;
    if (until.timeMs - anchor.timeMs >= thinningLimits.stopMs) chain.pin(until);
    else chain.unpin(anchor);
  };
  return {
    /** @param before the position before it. */
    follow(node: ThinningNode<T>, before: ThinningNode<T> | null): void {
      if (anchor !== null && distance(anchor.at, node.at) <= thinningLimits.stillM) return;
      closeStop(before);
      anchor = node;
      chain.pin(node);
    },
    end: () => closeStop(chain.last()),
  };
}

/** Pins the outermost and the fastest position so far, of equal ones the first. */
function createExtremes<T>(chain: Chain<T>) {
  const best: { value: number; node: ThinningNode<T> | null }[] = extremes.map(() => ({
    value: Number.NEGATIVE_INFINITY,
    node: null,
  }));
  return (node: ThinningNode<T>, record: ThinningRecord & { readonly point: Point }): void => {
    for (const [index, valueOf] of extremes.entries()) {
      const value = valueOf(record);
      const held = best[index];
      if (value === null || held === undefined || value <= held.value) continue;
      chain.pin(node);
      if (held.node !== null) chain.unpin(held.node);
      held.value = value;
      held.node = node;
    }
  };
}

/**
 * Keeps at most `points` records; more only where more must be kept: the first and the last record, every record that is not plain, both
 * ends of a stop and of a gap, and the outermost and the fastest positions. A plain record without a position is kept only as the
 * first or the last one.
 */
export function createThinner<T>(points: number): Thinner<T> {
  const chain = createChain<T>();
  const stops = createStops(chain);
  const holdExtremes = createExtremes(chain);
  const afterGap = new Set<T>();
  /** Kept records without a position. */
  const others: { readonly item: T; readonly order: number }[] = [];
  let total = 0;
  /** The newest record, while it is not kept. */
  let unkept: { readonly item: T; readonly order: number } | null = null;
  const shrink = (): void => {
    while (chain.length() + others.length > points && chain.dropOne());
  };
  const place = (item: T, record: ThinningRecord & { readonly point: Point }, order: number): void => {
    const before = chain.last();
    const node = chain.append(item, { order, timestampMs: record.timestampMs, point: record.point });
    if (!record.isPlain || order === 0) chain.pin(node);
    if (before !== null) {
      const silentMs = node.timeMs - before.timeMs;
      const isAway = distance(before.at, node.at) > thinningLimits.stillM;
      if (record.isAfterGap || silentMs > (isAway ? thinningLimits.gapMs : thinningLimits.silentMs)) {
        chain.pin(before);
        chain.pin(node);
        afterGap.add(item);
      }
    }
    stops.follow(node, before);
    holdExtremes(node, record);
  };
  return {
    add(item, record) {
      const order = total;
      total += 1;
      const { point } = record;
      unkept = null;
      if (point !== null) place(item, { ...record, point }, order);
      else if (!record.isPlain || order === 0) others.push({ item, order });
      else unkept = { item, order };
      shrink();
    },
    isOverfull: () => chain.pinned() + others.length > thinningLimits.kept,
    end() {
      stops.end();
      if (unkept !== null) others.push(unkept);
      shrink();
      const kept = [...chain.nodes(), ...others].sort((one, other) => one.order - other.order);
      return {
        kept: kept.map(({ item }) => item),
        afterGap,
        total,
        deviationM: chain.deviationM(),
      };
    },
  };
}
