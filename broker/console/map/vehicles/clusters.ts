// Groups the vehicles in sight, so that what the map draws grows with its own size and not with the fleet. Marks and circles of groups
// never lie on each other. Pure.
import { severityOf, type Vehicle } from '../../state/fleet.ts';
import type { Place } from '../../state/here.ts';

/** Places of a fleet on the map: 0 to 1 from west to east and from north to south (Web Mercator); NaN without a place. */
export interface Placed {
  readonly vehicles: readonly Vehicle[];
  readonly x: Float64Array;
  readonly y: Float64Array;
}

/** A part of the map, in the units of `Placed`; `left` may be below 0 and `right` above 1, where the world repeats. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Sight {
  readonly box: Box;
  /** Whole zoom: distances are those of this zoom until the next one. */
  readonly zoom: number;
  /** In no group: it is drawn by itself. */
  readonly selected: string | null;
}

export interface Cluster {
  readonly place: Place;
  readonly alarms: number;
  /** As in `worstOf`. */
  readonly worst: number;
  /** Of its circle, px. */
  readonly radius: number;
  readonly members: readonly Vehicle[];
}

interface Groups {
  readonly singles: readonly Vehicle[];
  readonly clusters: readonly Cluster[];
}

const severityRank = { act: 2, 'act-taken': 2, look: 1, none: 0 } as const;
/** 2: a vehicle has an alarm that wants an action; 1: one to look at; 0: none. */
export const worstOf = (vehicle: Vehicle): 0 | 1 | 2 => severityRank[severityOf(vehicle)];

/** From this zoom on vehicles are single, */
export const zoomOfSingles = 14;
/** unless more than these are in sight. */
const singlesMost = 1000;
/** Side of the world at zoom 0, px. */
const worldPx = 512;
/** Vehicles nearer than this are one group, px; also the side of a cell. */
const nearPx = 40;
/** Between a mark or circle and the next one, with the strokes of both, px. */
const gapPx = 8;
/** Cells around a group in which others may touch it: twice the largest radius and the gap are less than two sides. */
const reach = 2;
/** Places of groups are multiples of this part of a cell: they stay where they are while their vehicles move a little. */
const steps = 20;

const mercatorY = (latitude: number): number =>
  0.5 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI);

export const boxOf = (west: number, south: number, east: number, north: number): Box => ({
  left: (west + 180) / 360,
  right: (east + 180) / 360,
  top: mercatorY(north),
  bottom: mercatorY(south),
});

/** @param before the places of the same fleet earlier: most vehicles of a large fleet are where they were. */
export function placedOf(vehicles: readonly Vehicle[], before?: Placed): Placed {
  const x = new Float64Array(vehicles.length).fill(Number.NaN);
  const y = new Float64Array(vehicles.length);
  for (let at = 0; at < vehicles.length; at += 1) {
    const place = vehicles[at]?.place ?? null;
    if (place === null) continue;
    const isSame = before?.vehicles[at]?.place === place;
    x[at] = isSame ? (before.x[at] ?? 0) : (place[0] + 180) / 360;
    y[at] = isSame ? (before.y[at] ?? 0) : mercatorY(place[1]);
  }
  return { vehicles, x, y };
}

/** Radius of a mark, or of the circle of a group, px. */
function radiusOf(count: number, alarms: number): number {
  const size = count < 2 ? 0 : count < 50 ? 1 : count < 500 ? 2 : 3;
  return (alarms > 0 ? [16, 22, 26, 34] : [12, 16, 20, 26])[size] ?? 0;
}

/** Measures are sides of cells. */
interface Group {
  x: number;
  y: number;
  alarms: number;
  worst: number;
  /** Empty: another group has them. */
  members: Vehicle[];
}

/** The cells of a box. */
interface Grid {
  /** Cells in the width of the world. */
  readonly scale: number;
  /** Of the first cell. */
  readonly column: number;
  readonly row: number;
  readonly rows: number;
}

/** Vehicles in the box, by position in the fleet. */
function inBox({ vehicles, x, y }: Placed, { box, selected }: Sight): readonly number[] {
  const { left, right, top, bottom } = box;
  const end = left + Math.min(1, right - left);
  const indexes: number[] = [];
  for (let at = 0; at < vehicles.length; at += 1) {
    const [px, py] = [x[at] ?? 0, y[at] ?? 0];
    const isIn = py >= top && py <= bottom && px + Math.ceil(left - px) <= end;
    if (isIn && vehicles[at]?.id !== selected) indexes.push(at);
  }
  return indexes;
}

const cellOf = ({ rows }: Grid, { x, y }: { readonly x: number; readonly y: number }): number =>
  Math.floor(x) * rows + Math.floor(y);

/** One group for each cell with vehicles. */
function cellsOf({ vehicles, x, y }: Placed, indexes: readonly number[], { left }: Box, grid: Grid) {
  const { scale, column, row } = grid;
  const cells = new Map<number, Group>();
  for (const at of indexes) {
    const vehicle = vehicles[at];
    if (vehicle === undefined) continue;
    const px = x[at] ?? 0;
    // Moved by whole worlds into the box.
    const place = { x: (px + Math.ceil(left - px)) * scale - column, y: (y[at] ?? 0) * scale - row };
    const cell = cellOf(grid, place);
    const group = cells.get(cell) ?? { x: 0, y: 0, alarms: 0, worst: 0, members: [] };
    const worst = worstOf(vehicle);
    // Sums, until all are in.
    group.x += place.x;
    group.y += place.y;
    group.alarms += worst > 0 ? 1 : 0;
    group.worst = Math.max(group.worst, worst);
    if (group.members.push(vehicle) === 1) cells.set(cell, group);
  }
  for (const group of cells.values()) {
    group.x /= group.members.length;
    group.y /= group.members.length;
  }
  return cells;
}

function absorb(one: Group, other: Group): void {
  const [own, others] = [one.members.length, other.members.length];
  one.x = (one.x * own + other.x * others) / (own + others);
  one.y = (one.y * own + other.y * others) / (own + others);
  one.alarms += other.alarms;
  one.worst = Math.max(one.worst, other.worst);
  for (const vehicle of other.members) one.members.push(vehicle);
  other.members = [];
}

const radiusOfGroup = ({ members, alarms }: Group): number => radiusOf(members.length, alarms);

function isNear(one: Group, other: Group): boolean {
  const least = Math.max(nearPx, radiusOfGroup(one) + radiusOfGroup(other) + gapPx) / nearPx;
  return Math.hypot(one.x - other.x, one.y - other.y) < least;
}

/** Joins groups that are near each other, the largest first, until none is. */
function joinNear(cells: ReadonlyMap<number, Group>, grid: Grid): readonly Group[] {
  const standing = new Map([...cells].map(([cell, group]) => [cell, [group]]));
  const nearOf = (group: Group): Group[] => {
    const found: Group[] = [];
    for (let right = -reach; right <= reach; right += 1)
      for (let down = -reach; down <= reach; down += 1)
        for (const other of standing.get(cellOf(grid, { x: group.x + right, y: group.y + down })) ?? [])
          if (other !== group && other.members.length > 0 && isNear(group, other)) found.push(other);
    return found;
  };
  const largest = [...cells].toSorted(
    ([cell, one], [otherCell, other]) => other.members.length - one.members.length || cell - otherCell,
  );
  for (const [before, group] of largest) {
    if (group.members.length === 0) continue;
    for (let near = nearOf(group); near.length > 0; near = nearOf(group))
      // A cell beyond an edge stands for another one, so that a group may be found twice.
      for (const other of near) if (other.members.length > 0) absorb(group, other);
    const cell = cellOf(grid, group);
    if (cell === before) continue;
    standing.set(cell, [...(standing.get(cell) ?? []), group]);
    standing.set(before, standing.get(before)?.filter((one) => one !== group) ?? []);
  }
  return largest.map(([, group]) => group).filter(({ members }) => members.length > 0);
}

/** The vehicles in sight: groups of them from far, each by itself from near. */
export function groupsInSight(placed: Placed, sight: Sight): Groups {
  const { box, zoom } = sight;
  const indexes = inBox(placed, sight);
  if (zoom >= zoomOfSingles && indexes.length <= singlesMost)
    return { singles: indexes.flatMap((at) => placed.vehicles[at] ?? []), clusters: [] };
  const scale = (worldPx * 2 ** zoom) / nearPx;
  const [column, row] = [Math.floor(box.left * scale), Math.floor(box.top * scale)];
  const grid = { scale, column, row, rows: Math.floor(box.bottom * scale) - row + 1 };
  const groups = joinNear(cellsOf(placed, indexes, box, grid), grid);
  const part = (value: number, from: number): number => (Math.round(value * steps) / steps + from) / scale;
  return {
    singles: groups.flatMap(({ members }) => (members.length === 1 ? members : [])),
    clusters: groups
      .filter(({ members }) => members.length > 1)
      .map((group): Cluster => {
        const [across, down] = [part(group.x, column), part(group.y, row)];
        const longitude = (across - Math.floor(across)) * 360 - 180;
        const latitude = (Math.atan(Math.sinh((0.5 - down) * 2 * Math.PI)) * 180) / Math.PI;
        const { members, alarms, worst } = group;
        return { place: [longitude, latitude], members, alarms, worst, radius: radiusOfGroup(group) };
      }),
  };
}
