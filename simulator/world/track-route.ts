// Routes from recorded tracks: a CSV file with the header `t,lat,lon` (seconds, degrees). The track's noise is thinned
// and its speed made smooth; points that no vehicle can reach in time are left out.
import { AppError } from '../../src/core/errors.ts';
import { distanceM, type Point } from '../../src/core/geo/geo.ts';
import { createRoute, type Knot, type Phase, pathDistancesM, type Route } from './routes.ts';

interface TrackPoint extends Point {
  readonly tS: number;
}

const maxPoints = 200_000;
const maxLineLength = 200;
const minStepS = 2; // closer points carry more noise than speed
const minStepM = 4; // below this a standing receiver's drift, not driving
const maxMps = 60;
const maxMps2 = 4; // hard braking on a dry road is 6 to 8
const maxStretches = 60;
const parkedAfterS = 180;
const restS = 300;
const homewardMps = 40 / 3.6;

function parseLine(line: string, where: string): TrackPoint {
  const [tS = Number.NaN, latitude = Number.NaN, longitude = Number.NaN] = line.split(',').map(Number);
  const isGood = Number.isFinite(tS) && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  if (isGood) return { tS, latitude, longitude };
  const hint = 'A line is seconds,latitude,longitude in decimal numbers, e.g. 1412072180,43.65107,-79.34702';
  throw new AppError('config', `${where}: "${line.slice(0, 60)}" is not t,lat,lon`, { hint });
}

/** Parses the text of a track file. Throws AppError `config` with file and line. */
function parseTrack(text: string, file: string): TrackPoint[] {
  const lines = text.split(/\r?\n/);
  if (lines[0]?.trim() !== 't,lat,lon') {
    throw new AppError('config', `${file}:1: the header is "${lines[0]?.slice(0, 60)}" and not "t,lat,lon"`);
  }
  if (lines.length > maxPoints) throw new AppError('config', `${file}: more than ${maxPoints} lines`);
  return lines.slice(1).flatMap((line, at) => {
    const where = `${file}:${at + 2}`;
    if (line.length > maxLineLength) throw new AppError('config', `${where}: longer than ${maxLineLength}`);
    return line.trim() === '' ? [] : [parseLine(line, where)];
  });
}

/** Leaves out jumps, repeats and the drift of standing; a stand keeps its first and its last moment. */
function thin(points: readonly TrackPoint[]): TrackPoint[] {
  const kept: TrackPoint[] = [];
  let stoodUntilS: number | null = null;
  for (const point of points) {
    const before = kept.at(-1);
    if (before === undefined) {
      kept.push(point);
      continue;
    }
    const stepM = distanceM(before, point);
    const sinceS = point.tS - before.tS;
    if (sinceS < minStepS || stepM > sinceS * maxMps) continue;
    if (stepM < minStepM) {
      stoodUntilS = point.tS;
      continue;
    }
    if (stoodUntilS !== null && point.tS - stoodUntilS >= minStepS) {
      kept.push({ ...before, tS: stoodUntilS });
    }
    stoodUntilS = null;
    kept.push(point);
  }
  return kept;
}

/** Slopes of Fritsch and Butland (1984): the curve through the points never overshoots, so no vehicle drives backwards. */
function monotoneSpeeds(tS: readonly number[], sM: Float64Array): number[] {
  const step = (at: number): { h: number; v: number } => {
    const h = (tS[at + 1] ?? 0) - (tS[at] ?? 0);
    return { h, v: h > 0 ? ((sM[at + 1] ?? 0) - (sM[at] ?? 0)) / h : 0 };
  };
  return tS.map((_, at) => {
    if (at === 0 || at === tS.length - 1) return 0;
    const [left, right] = [step(at - 1), step(at)];
    if (left.v <= 0 || right.v <= 0) return 0;
    const [wa, wb] = [2 * right.h + left.h, right.h + 2 * left.h];
    return (wa + wb) / (wa / left.v + wb / right.v);
  });
}

/** Cubic Hermite pieces as knots. */
function knotsOf(tS: readonly number[], sM: Float64Array): Knot[] {
  const speeds = monotoneSpeeds(tS, sM);
  return tS.map((t, at) => {
    const s = sM[at] ?? 0;
    const v = speeds[at] ?? 0;
    const next = tS[at + 1];
    if (next === undefined) return { tS: t, sM: s, speedMps: 0, accelerationMps2: 0, jerkMps3: 0 };
    const h = next - t;
    const mean = ((sM[at + 1] ?? 0) - s) / h;
    const nextV = speeds[at + 1] ?? 0;
    const accelerationMps2 = (2 * (3 * mean - 2 * v - nextV)) / h;
    return { tS: t, sM: s, speedMps: v, accelerationMps2, jerkMps3: (6 * (v + nextV - 2 * mean)) / h ** 2 };
  });
}

/**
 * Gives undrivable pieces a little more time until all can be driven: fixes are noisy, and an error of 5 m within 2 s
 * looks like an emergency stop.
 */
function drivable(tS: readonly number[], sM: Float64Array): number[] {
  let times = [...tS];
  for (let round = 0; round < maxStretches; round += 1) {
    const knots = knotsOf(times, sM);
    let isDrivable = true;
    let laterS = 0;
    times = times.map((t, at) => {
      const own = t + laterS;
      const knot = knots[at];
      const h = (times[at + 1] ?? t) - t;
      const endMps2 = (knot?.accelerationMps2 ?? 0) + (knot?.jerkMps3 ?? 0) * h;
      if (Math.max(Math.abs(knot?.accelerationMps2 ?? 0), Math.abs(endMps2)) > maxMps2) {
        isDrivable = false;
        laterS += h * 0.2;
      }
      return own;
    });
    if (isDrivable) break;
  }
  return times;
}

function phasesOf(tS: readonly number[], sM: Float64Array): Phase[] {
  const doors = { cabinDoor: false, cargoDoor: false };
  const phases: Phase[] = [{ tS: 0, ignition: true, ...doors }];
  tS.forEach((t, at) => {
    const next = tS[at + 1] ?? t;
    if (sM[at + 1] !== sM[at] || next - t < parkedAfterS) return;
    phases.push({ tS: t + 10, ignition: false, ...doors }, { tS: next - 10, ignition: true, ...doors });
  });
  return phases;
}

/**
 * A route from a recorded track. At its end the vehicle rests, then goes back to the start in a straight line, because
 * a round must end where it began. Throws AppError `config` that names `file` and line.
 */
export function createTrackRoute(text: string, file: string): Route {
  const points = thin(parseTrack(text, file));
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 3) {
    throw new AppError('config', `${file}: fewer than 3 points that a vehicle could have driven`);
  }
  const leaveS = last.tS + restS;
  const homeS = leaveS + Math.max(60, distanceM(last, first) / homewardMps);
  const track = [
    ...points,
    { ...last, tS: leaveS },
    { ...first, tS: homeS },
    { ...first, tS: homeS + restS },
  ].map((point) => ({ ...point, tS: point.tS - first.tS }));
  const sM = pathDistancesM(track);
  const tS = drivable(
    track.map((point) => point.tS),
    sM,
  );
  return createRoute({ label: file, path: track, knots: knotsOf(tS, sM), phases: phasesOf(tS, sM) });
}
