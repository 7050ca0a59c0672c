// From amounts poured into a tank and readings of its sender to a table for the board profile, for tanks of any
// shape. Pure. A table in which more fuel reads as less must never result, and a contradiction of the sender is
// always reported.

/** Total amount in the tank and the sender's reading, in the unit of the profile's `valid` and `table`. */
export interface TankPoint {
  readonly litres: number;
  readonly measure: number;
}

/** Measure and fraction of the tank, measures rising: `table` of an analog signal in a board profile. */
export type TankTable = readonly (readonly [measure: number, fraction: number])[];

export type TankVerdict =
  | { readonly kind: 'ok'; readonly table: TankTable; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly reasons: readonly string[] };

export const tankLimits = {
  points: 32,
  /** Points that are taken in at all. */
  inputPoints: 500,
  leastPoints: 3,
  /** A sender whose whole travel is less than this part of the valid range does not move. */
  leastTravel: 0.05,
  /** It may go back by this part of its travel: waves, and a float that sticks a little. */
  backTravel: 0.03,
  /** Litres without any change of the measure, as a part of the tank, that are worth a warning. */
  deadPart: 0.1,
} as const;

interface Block {
  readonly points: readonly TankPoint[];
  readonly measure: number;
}

/**
 * The table of a tank of `capacityL` litres. Points may come in any order and more than once; the least change makes
 * the measure monotone (isotonic regression by pooling adjacent violators).
 * @param valid the valid range of the measure in the profile.
 */
export function buildTankTable(
  points: readonly TankPoint[],
  tank: { readonly capacityL: number; readonly valid: readonly [number, number] },
): TankVerdict {
  const reasons = faultsOf(points, tank);
  if (reasons.length > 0) return { kind: 'refused', reasons };
  const merged = mergeEqual(points);
  const first = merged[0];
  const last = merged.at(-1);
  if (first === undefined || last === undefined || merged.length < tankLimits.leastPoints) {
    const reason = `There are ${merged.length} different amounts; at least ${tankLimits.leastPoints} are needed.`;
    return { kind: 'refused', reasons: [reason] };
  }
  const travel = Math.abs(last.measure - first.measure);
  const range = tank.valid[1] - tank.valid[0];
  if (travel < tankLimits.leastTravel * range) {
    const reason = `From ${litresOf(first)} to ${litresOf(last)} the sender moves by ${short(travel)} only, of a range of ${short(range)}: check that it is connected to this channel and moves freely.`;
    return { kind: 'refused', reasons: [reason] };
  }
  // Some senders read less when the tank is fuller: invert these.
  const sign = last.measure > first.measure ? 1 : -1;
  const rising = merged.map((point) => ({ ...point, measure: point.measure * sign }));
  const backwards = contradictions(rising, travel);
  if (backwards.length > 0) return { kind: 'refused', reasons: backwards };
  const blocks = pool(rising);
  const warnings = warningsOf(blocks, { capacityL: tank.capacityL, first, last });
  const pairs = blocks.map((block, at) => {
    const litres = litresOfBlock(block, at === 0 ? 'first' : at === blocks.length - 1 ? 'last' : 'inner');
    return { measure: block.measure * sign, fraction: litres / tank.capacityL };
  });
  const thin = thinOut(sign === 1 ? pairs : pairs.toReversed());
  return { kind: 'ok', table: roundedTable(thin), warnings };
}

function faultsOf(
  points: readonly TankPoint[],
  tank: { readonly capacityL: number; readonly valid: readonly [number, number] },
): readonly string[] {
  const { capacityL, valid } = tank;
  if (!(capacityL > 0) || !Number.isFinite(capacityL))
    return ['The capacity must be a number of litres above 0.'];
  if (points.length > tankLimits.inputPoints) {
    return [`There are ${points.length} points; at most ${tankLimits.inputPoints} are taken.`];
  }
  return points.flatMap(({ litres, measure }) => {
    if (!(litres >= 0 && litres <= capacityL)) {
      return [`${short(litres)} L is not between 0 and the capacity of ${short(capacityL)} L.`];
    }
    const isValid = measure >= valid[0] && measure <= valid[1];
    return isValid
      ? []
      : [`At ${short(litres)} L the sender read ${short(measure)}, outside of ${valid[0]} to ${valid[1]}.`];
  });
}

/** Points of the same litres become their mean; litres rising. */
function mergeEqual(points: readonly TankPoint[]): readonly TankPoint[] {
  const byLitres = new Map<number, readonly number[]>();
  for (const { litres, measure } of points) byLitres.set(litres, [...(byLitres.get(litres) ?? []), measure]);
  return [...byLitres]
    .map(([litres, measures]) => ({ litres, measure: mean(measures) }))
    .sort((left, right) => left.litres - right.litres);
}

/** Decreases larger than waves explain. */
function contradictions(rising: readonly TankPoint[], travel: number): readonly string[] {
  const found: string[] = [];
  let highest = rising[0];
  for (const point of rising) {
    if (highest === undefined || point.measure >= highest.measure) {
      highest = point;
      continue;
    }
    const back = highest.measure - point.measure;
    if (back <= tankLimits.backTravel * travel) continue;
    const part = Math.round((back / travel) * 100);
    found.push(
      `From ${litresOf(highest)} to ${litresOf(point)} the sender goes back by ${part} % of its travel: measure these again, on level ground and at rest.`,
    );
  }
  return found;
}

function pool(rising: readonly TankPoint[]): readonly Block[] {
  const blocks: Block[] = [];
  for (const point of rising) {
    let block: Block = { points: [point], measure: point.measure };
    for (let before = blocks.at(-1); before !== undefined; before = blocks.at(-1)) {
      if (before.measure < block.measure) break;
      blocks.pop();
      const points = [...before.points, ...block.points];
      block = { points, measure: mean(points.map(({ measure }) => measure)) };
    }
    blocks.push(block);
  }
  return blocks;
}

/** At the ends of the scale the end itself: an empty tank reads empty, a full one full. */
function litresOfBlock(block: Block, place: 'first' | 'inner' | 'last'): number {
  const litres = block.points.map((point) => point.litres);
  if (place === 'first') return Math.min(...litres);
  return place === 'last' ? Math.max(...litres) : mean(litres);
}

function warningsOf(
  blocks: readonly Block[],
  tank: { readonly capacityL: number; readonly first: TankPoint; readonly last: TankPoint },
): readonly string[] {
  const { capacityL, first, last } = tank;
  const dead = blocks.flatMap(({ points }) => {
    const low = points[0];
    const high = points.at(-1);
    if (low === undefined || high === undefined) return [];
    if (high.litres - low.litres < tankLimits.deadPart * capacityL) return [];
    return [
      `Between ${litresOf(low)} and ${litresOf(high)} the sender does not move: fuel taken there is not detected.`,
    ];
  });
  const bottom =
    first.litres > 0 ? [`Below ${litresOf(first)} the level stays as at ${litresOf(first)}.`] : [];
  const top =
    last.litres < capacityL ? [`Above ${litresOf(last)} the level stays as at ${litresOf(last)}.`] : [];
  return [...dead, ...bottom, ...top];
}

interface Pair {
  readonly measure: number;
  readonly fraction: number;
}

/** At most 32 points: the one that deviates least from the straight line between its neighbours goes first. */
function thinOut(pairs: readonly Pair[]): readonly Pair[] {
  let left = pairs;
  while (left.length > tankLimits.points) {
    let least = { at: 1, error: Infinity };
    for (let at = 1; at < left.length - 1; at += 1) {
      const error = lineError(left, at);
      if (error < least.error) least = { at, error };
    }
    left = left.filter((_, at) => at !== least.at);
  }
  return left;
}

function lineError(pairs: readonly Pair[], at: number): number {
  const [low, middle, high] = [pairs[at - 1], pairs[at], pairs[at + 1]];
  if (low === undefined || middle === undefined || high === undefined) return Infinity;
  const share = (middle.measure - low.measure) / (high.measure - low.measure);
  return Math.abs(low.fraction + share * (high.fraction - low.fraction) - middle.fraction);
}

/** Six significant digits; measures that become equal by that are one point. */
function roundedTable(pairs: readonly Pair[]): TankTable {
  const table: (readonly [number, number])[] = [];
  for (const pair of pairs) {
    const measure = Number(pair.measure.toPrecision(6));
    const before = table.at(-1);
    if (before !== undefined && measure <= before[0]) continue;
    table.push([measure, Math.round(pair.fraction * 10_000) / 10_000]);
  }
  return table;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const short = (value: number): string => String(Number(value.toPrecision(4)));
const litresOf = (point: TankPoint): string => `${short(point.litres)} L`;

/** The lines for agent.toml. */
export function formatTankTable(
  table: TankTable,
  { capacityL, place }: { readonly capacityL: number; readonly place: string },
): string {
  const pairs = table.map(([measure, fraction]) => `  [${measure}, ${fraction}],`);
  return [`[${place}]`, 'table = [', ...pairs, ']', '', '[fuel]', `capacityL = ${capacityL}`].join('\n');
}
