// Lines and bands of a plot as SVG path data in whole units, relative where that is shorter. Pure. A moment that nobody looked at is a
// gap, and a single moment is a dash as wide as itself.
import type { Scale } from './plot-scale.ts';

/** The plane that paths are drawn in; the page stretches it. No finer than what is seen, because every digit is there thousands of times. */
export const plane = { width: 4000, height: 400 } as const;

export type Values = readonly (number | null)[];

export interface PlotFrame {
  readonly scale: Scale;
  readonly stepMs: number;
  /** End of the time axis. */
  readonly endMs: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const xOf = ({ endMs }: PlotFrame, ms: number): number =>
  Math.round((Math.min(ms, endMs) / Math.max(1, endMs)) * plane.width);
const yOf = ({ scale }: PlotFrame, value: number): number =>
  Math.round((1 - scale.place(value)) * plane.height);

/** Where a bucket begins, its middle and its end. */
function edges(frame: PlotFrame, at: number): { from: number; middle: number; to: number } {
  const { stepMs } = frame;
  return {
    from: xOf(frame, at * stepMs),
    middle: xOf(frame, (at + 0.5) * stepMs),
    to: xOf(frame, (at + 1) * stepMs),
  };
}

/** Runs of moments that were looked at, as points. */
function runsOf(values: Values, frame: PlotFrame): readonly (readonly Point[])[] {
  const runs: Point[][] = [];
  let run: Point[] | null = null;
  for (const [at, value] of values.entries()) {
    if (value === null) {
      run = null;
      continue;
    }
    const { from, middle, to } = edges(frame, at);
    const y = yOf(frame, value);
    if (run === null) {
      run = [{ x: from, y }];
      runs.push(run);
    }
    run.push({ x: middle, y });
    if (at === values.length - 1 || (values[at + 1] ?? null) === null) run.push({ x: to, y });
  }
  return runs;
}

/** Two steps as they follow each other; a minus sign parts them too. */
const step = (x: number, y: number): string => (y < 0 ? `${x}${y}` : `${x} ${y}`);

function draw(points: readonly Point[], start: 'M' | 'L'): string {
  const [first] = points;
  if (first === undefined) return '';
  let before = first;
  const rest = points.slice(1).map((point) => {
    const text = step(point.x - before.x, point.y - before.y);
    before = point;
    return text;
  });
  const line = rest.map((text, at) => (at === 0 || text.startsWith('-') ? text : ` ${text}`)).join('');
  return `${start}${first.x} ${first.y}${line === '' ? '' : `l${line}`}`;
}

/** A line with gaps. */
export function linePath(values: Values, frame: PlotFrame): string {
  return runsOf(values, frame)
    .map((run) => draw(run, 'M'))
    .join('');
}

/** From a line down to zero. */
export function areaPath(values: Values, frame: PlotFrame): string {
  return runsOf(values, frame)
    .map((run) => {
      const [first, last] = [run[0], run.at(-1)];
      if (first === undefined || last === undefined) return '';
      return `M${first.x} ${plane.height}${draw(run, 'L')}V${plane.height}Z`;
    })
    .join('');
}

/** Between two lines; they have to have the same gaps. */
export function bandPath(low: Values, high: Values, frame: PlotFrame): string {
  const upper = runsOf(high, frame);
  return runsOf(low, frame)
    .map((run, at) => `${draw(upper[at] ?? [], 'M')}${draw(run.toReversed(), 'L')}Z`)
    .join('');
}

/** Dots in the middle of their moments. */
export function dotsPath(values: Values, frame: PlotFrame): string {
  return values
    .map((value, at) => (value === null ? '' : `M${edges(frame, at).middle} ${yOf(frame, value)}h0`))
    .join('');
}

export interface Summary {
  readonly least: number;
  readonly mean: number;
  readonly most: number;
}

/** Null: nobody looked. */
export function summarise(values: Values): Summary | null {
  const seen = values.filter((value) => value !== null);
  if (seen.length === 0) return null;
  const sum = seen.reduce((total, value) => total + value, 0);
  const least = seen.reduce((a, b) => Math.min(a, b));
  const most = seen.reduce((a, b) => Math.max(a, b));
  return { least, mean: sum / seen.length, most };
}

/** At most `most` values, each of as many neighbours as it takes. */
export function condense(values: Values, most: number, how: 'mean' | 'max' | 'min'): Values {
  const every = Math.max(1, Math.ceil(values.length / most));
  return Array.from({ length: Math.ceil(values.length / every) }, (_, at) => {
    const summary = summarise(values.slice(at * every, (at + 1) * every));
    if (summary === null) return null;
    return { mean: summary.mean, max: summary.most, min: summary.least }[how];
  });
}
