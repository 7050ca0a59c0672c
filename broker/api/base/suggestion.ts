// Suggests the operation closest to an unknown path, and the member closest to an unknown name. Pure. It returns only documented
// paths and names of operations: a suggestion holds nothing of the request or of any account.
import { type Operation, servedPaths } from './operation.ts';

/** Segments of a request that are compared, and the longest of them: what is beyond is no path of ours. */
const segmentsMost = 12;
const lettersMost = 48;
/** Cost above which two paths have nothing to do with each other. */
const costMost = 4;
const ending = 'authorization';

/** Letters that differ in two segments (Levenshtein), or `most + 1` when they are more than `most`. */
function lettersBetween(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let before = Array.from({ length: other.length + 1 }, (_unused, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const here = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (before[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      here.push(Math.min(replaced, (before[column] ?? 0) + 1, (here[column - 1] ?? 0) + 1));
    }
    before = here;
  }
  return Math.min(before[other.length] ?? 0, most + 1);
}

/** 0 for the same segment, 1 for one with a typing error (one letter in four, two at most), infinite for another. */
function costOfSegment(sent: string, known: string): number {
  if (sent === known) return 0;
  const most = Math.min(2, Math.floor(known.length / 4));
  return most > 0 && lettersBetween(sent, known, most) <= most ? 1 : Number.POSITIVE_INFINITY;
}

/** The probable name for a sent one, in any letter case; null when none is near. */
export function nearestName(sent: string, names: readonly string[]): string | null {
  if (sent.length > lettersMost) return null;
  const small = sent.toLowerCase();
  const costs = names.map((name) => costOfSegment(small, name.toLowerCase()));
  const least = Math.min(...costs);
  return Number.isFinite(least) ? (names[costs.indexOf(least)] ?? null) : null;
}

const isVariable = (segment: string): boolean => segment.startsWith('{');

/** Least cost of turning the sent segments into those of a path: 1 for each that is missing or too much. */
function costOfPath(sent: readonly string[], path: readonly string[]): number {
  let before = Array.from({ length: path.length + 1 }, (_unused, at) => at);
  for (const [row, segment] of sent.entries()) {
    const here = [row + 1];
    for (const [column, known] of path.entries()) {
      const same = (before[column] ?? 0) + (isVariable(known) ? 0 : costOfSegment(segment, known));
      here.push(Math.min(same, (before[column + 1] ?? 0) + 1, (here[column] ?? 0) + 1));
    }
    before = here;
  }
  return before[path.length] ?? Number.POSITIVE_INFINITY;
}

/** The segments of a path below `/api/v1`, in small letters. */
function segmentsOf(path: string): readonly string[] {
  const below = path.toLowerCase().replace(/^\/+(api\/+)?(v1(?=\/|[a-z]))?/, '');
  return below.split('/').filter((segment) => segment !== '');
}

interface Known {
  readonly method: string;
  readonly shown: string;
  readonly segments: readonly string[];
  /** The segment that names the operation: without it, or something near, no other likeness counts. */
  readonly name: string;
}

/** Finds the operation that a request without a route probably meant. */
export type Suggest = (method: string, path: string) => string | null;

/** @param operations that may be suggested; of two that fit alike the one with the longer name, then the first. */
export function createSuggest(operations: readonly Operation[]): Suggest {
  const known = operations.map((operation): Known => {
    const segments = segmentsOf(operation.path);
    const name = segments.findLast((segment) => !isVariable(segment) && segment !== ending) ?? '';
    const { method } = operation;
    return { method, shown: `${method} ${servedPaths(operation)[0] ?? ''}`, segments, name };
  });
  return (method, path) => {
    const sent = segmentsOf(path).slice(0, segmentsMost);
    const candidates = sent.filter((segment) => segment !== ending && segment.length <= lettersMost);
    const verb = method === 'HEAD' ? 'GET' : method;
    let best: { readonly cost: number; readonly of: Known } | null = null;
    for (const one of known) {
      if (!candidates.some((candidate) => Number.isFinite(costOfSegment(candidate, one.name)))) continue;
      const cost = costOfPath(sent, one.segments) + (one.method === verb ? 0 : 1);
      if (cost > costMost) continue;
      // Of two that fit alike the longer name says more: `device` is a part of many paths.
      const isBetter =
        best === null || cost < best.cost || (cost === best.cost && one.name.length > best.of.name.length);
      if (isBetter) best = { cost, of: one };
    }
    return best?.of.shown ?? null;
  };
}
