// The one file that loads uPlot: lines over time with bands below them, or bars at named places, with the table beside it as its words. Loaded
// when a plot is shown.
import { memo, useEffect, useRef } from 'react';
import type uPlot from 'uplot';
import { shownValue } from '../state/account/measures.ts';
import type { Value } from '../state/value.ts';
import { measures } from '../words/measures.ts';
import { loadPart } from '../words/parts.ts';
import type { Words } from '../words/word-set.ts';
import { amountOf, momentText, numberText, withUnit } from './texts.tsx';

export interface PlotSeries {
  readonly name: string;
  readonly unit: string;
  readonly colour: 'plot-1' | 'plot-2';
  /** One for each time; null breaks the line, undefined leaves it as it is. */
  readonly values: readonly (number | null | undefined)[];
  /** The same value again, as far as it arrived late. */
  readonly isDotted?: boolean;
  /** Highest value of its scale; that of the values without it. */
  readonly most?: number;
}

/** Speeds of the service, or distances, in the unit of the reader. */
export function lineOf(
  values: PlotSeries['values'],
  quantity: 'kmh' | 'km',
  words: Words,
): Pick<PlotSeries, 'unit' | 'values'> {
  const { system } = measures.get();
  return {
    unit: amountOf(0, quantity, words).unit,
    values: values.map((value) => (typeof value === 'number' ? shownValue(value, quantity, system) : value)),
  };
}

/** A stretch of time: missing data (hatched, with its reason), or a bar below the lines. Epoch seconds. */
export interface PlotBand {
  readonly kind: 'gap' | 'ignition' | 'alarm';
  readonly fromS: number;
  readonly toS: number;
  readonly text?: string;
}

/** The one moment that plot, map and slider show. */
export interface PlotCursor {
  readonly time: Value<number>;
  seek(timeS: number): void;
}

export interface PlotProps {
  /** Epoch seconds, ascending; with `names` their places from 0. */
  readonly times: readonly number[];
  readonly series: readonly PlotSeries[];
  /** Days or vehicles in place of times: the values are drawn as bars beside each other. */
  readonly names?: readonly string[];
  readonly bands?: readonly PlotBand[];
  /** Ends of the axis of time, epoch seconds; those of the times without it. */
  readonly span?: readonly [number, number];
  /** Says what the plot shows, and where its values stand as text. */
  readonly label: string;
  /** The theme that is drawn: another one draws the same lines again in its colours. */
  readonly theme: string;
  readonly cursor?: PlotCursor;
}

const height = 160;
/** Part of the height below zero, for the bars. */
const barShare = 0.14;

/** The right side of uPlot, whose enum has no code; without it an axis of values stands on the left. */
const rightSide: object = { side: 1 };

const timeOfDay = (at: Date): string => momentText(at.getTime() / 1000, 'time');

type Colour = 'plot-1' | 'plot-2' | 'text-2' | 'line' | 'control-line' | 'mark-moving' | 'act-fill';

/** Reads the colours of the tokens in the theme that is shown. uPlot asks with every drawing. */
function colourReader(host: HTMLElement): (name: Colour) => string {
  return (name) => {
    const probe = document.createElement('span');
    probe.style.color = `var(--${name})`;
    host.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}

interface Painter {
  readonly plot: uPlot;
  readonly colour: (name: Colour) => string;
  readonly font: string;
}

function paintGap({ plot, colour, font }: Painter, { fromS, toS, text = '' }: PlotBand): void {
  const { ctx, bbox } = plot;
  const left = Math.max(bbox.left, plot.valToPos(fromS, 'x', true));
  const right = Math.min(bbox.left + bbox.width, plot.valToPos(toS, 'x', true));
  if (right <= left) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, right - left, bbox.height);
  ctx.clip();
  ctx.strokeStyle = colour('control-line');
  ctx.globalAlpha = 0.5;
  ctx.beginPath();
  const step = 6 * devicePixelRatio;
  for (let x = left - bbox.height; x < right; x += step) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
  ctx.font = font;
  if (ctx.measureText(text).width < right - left) {
    ctx.fillStyle = colour('text-2');
    ctx.textAlign = 'center';
    ctx.textBaseline = 'top';
    ctx.fillText(text, (left + right) / 2, bbox.top + 4 * devicePixelRatio);
  }
  ctx.restore();
}

function paintBar({ plot, colour }: Painter, { kind, fromS, toS }: PlotBand): void {
  const { ctx, bbox } = plot;
  const least = 3 * devicePixelRatio;
  const thick = 4 * devicePixelRatio;
  const left = plot.valToPos(fromS, 'x', true);
  const width = Math.max(least, plot.valToPos(toS, 'x', true) - left);
  const bottom = bbox.top + bbox.height - (kind === 'ignition' ? thick : 3 * thick);
  ctx.save();
  ctx.fillStyle = colour(kind === 'ignition' ? 'mark-moving' : 'act-fill');
  ctx.fillRect(left, bottom, width, thick);
  ctx.restore();
}

/** Width that the padding of the host leaves, px. */
function widthIn(host: HTMLElement): number {
  const { paddingLeft, paddingRight } = getComputedStyle(host);
  return host.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
}

/** What is drawn, but for its colours. */
type Content = Pick<PlotProps, 'times' | 'series'> & {
  readonly [K in 'bands' | 'span' | 'cursor' | 'names']: PlotProps[K] | undefined;
};

/** Part of the place of a name that its bars take, and the width of one at most, px. */
const barsShare = 0.8;
const barMost = 40;
/** Between two names on the axis, px. */
const nameSpace = 90;

/** The axis of names. */
const nameAxis = (names: readonly string[]): uPlot.Axis => ({
  space: nameSpace,
  incrs: [1, 2, 5, 10, 20, 50, 100],
  grid: { show: false },
  values: (_plot, ticks) => ticks.map((tick) => names[tick] ?? ''),
});

/** @param at place of the series among those that stand beside each other. */
function barPaths(chart: typeof uPlot, at: number, count: number): Partial<uPlot.Series> {
  const align = count === 1 ? 0 : at === 0 ? -1 : 1;
  const paths = chart.paths.bars?.({ size: [barsShare / count, barMost], align });
  return paths === undefined ? {} : { paths, width: 0 };
}

function optionsOf(
  chart: typeof uPlot,
  host: HTMLElement,
  { series, bands = [], span, cursor, names }: Content,
): uPlot.Options {
  const { fontFamily } = getComputedStyle(host);
  const colour = colourReader(host);
  const hasBars = bands.some(({ kind }) => kind !== 'gap');
  const axis = {
    stroke: () => colour('text-2'),
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { stroke: () => colour('line'), width: 1 },
    font: `11px ${fontFamily}`,
  };
  const own = series.filter(({ isDotted }) => isDotted !== true);
  const rangeOf = (most: number): uPlot.Range.MinMax => [hasBars ? -barShare * most : 0, most];
  const scaleOf = ({ most }: PlotSeries): uPlot.Scale => ({
    range: (_plot, _least, highest) =>
      rangeOf(most ?? Math.max(names === undefined ? 10 : 1, (highest ?? 0) * 1.05)),
  });
  const font = `${11 * devicePixelRatio}px ${fontFamily}`;
  return {
    width: widthIn(host),
    height,
    legend: { show: false },
    cursor: {
      y: false,
      ...(cursor === undefined ? {} : { show: false, drag: { x: false, y: false, setScale: false } }),
    },
    scales: {
      x: {
        time: names === undefined,
        ...(span === undefined ? {} : { range: [span[0], span[1]] }),
        ...(names === undefined ? {} : { range: [-0.5, names.length - 0.5] }),
      },
      ...Object.fromEntries(own.map((one) => [one.colour, scaleOf(one)])),
    },
    fmtDate: () => (at) => timeOfDay(at),
    axes: [
      names === undefined ? axis : { ...axis, ...nameAxis(names) },
      ...own.map(({ unit, colour: scale }, at) => ({
        ...axis,
        scale,
        ...(at === 0 ? {} : rightSide),
        grid: { ...axis.grid, show: at === 0 },
        size: 64,
        filter: (_plot: uPlot, ticks: number[]) => ticks.map((tick) => (tick < 0 ? null : tick)),
        values: (_plot: uPlot, ticks: (number | null)[]) =>
          ticks.map((tick) => (tick === null ? '' : withUnit(numberText(tick, 1), unit))),
      })),
    ],
    series: [
      {},
      ...series.map((one, at) => ({
        scale: one.colour,
        stroke: () => colour(one.colour),
        width: 2,
        spanGaps: false,
        points: { show: false },
        ...(one.isDotted === true ? { dash: [2, 5] } : {}),
        ...(names === undefined
          ? {}
          : { fill: () => colour(one.colour), ...barPaths(chart, at, series.length) }),
      })),
    ],
    hooks: {
      drawClear: [
        (plot) => {
          for (const band of bands) {
            if (band.kind === 'gap') paintGap({ plot, colour, font }, band);
            else paintBar({ plot, colour, font }, band);
          }
        },
      ],
    },
  };
}

/** Draws the cursor over the plot and reports where it is pressed. @returns what ends it. */
function joinCursor(plot: uPlot, { time, seek }: PlotCursor): () => void {
  const line = document.createElement('div');
  line.className = 'plot-cursor';
  plot.over.append(line);
  const move = (): void => {
    const left = plot.valToPos(time.get(), 'x');
    line.hidden = !Number.isFinite(left) || left < 0 || left > plot.over.clientWidth;
    line.style.transform = `translateX(${left}px)`;
  };
  const press = ({ buttons, clientX }: PointerEvent): void => {
    if (buttons !== 1) return;
    seek(plot.posToVal(clientX - plot.over.getBoundingClientRect().left, 'x'));
  };
  plot.over.addEventListener('pointerdown', press);
  plot.over.addEventListener('pointermove', press);
  // Before the first drawing and after a change of size the scales are not known.
  plot.hooks.draw = [...(plot.hooks.draw ?? []), move];
  return time.subscribe(move);
}

/** Drawn anew when what it shows changes, and only then: a screen renders more often. */
export const Plot = memo(function Plot({
  times,
  series,
  names,
  bands,
  span,
  cursor,
  label,
  theme,
}: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  useEffect(() => {
    let isGone = false;
    let leaveCursor: (() => void) | null = null;
    const element = host.current;
    if (element === null) return undefined;
    const resize = new ResizeObserver(() => drawn.current?.setSize({ width: widthIn(element), height }));
    const begin = async (): Promise<void> => {
      const [{ default: Chart }] = await loadPart(
        Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]),
      );
      if (isGone) return;
      const data: uPlot.AlignedData = [
        [...times],
        ...series.map(({ values }) => [...values] as (number | null)[]),
      ];
      const content = { times, series, bands, span, cursor, names };
      const plot = new Chart(optionsOf(Chart, element, content), data, element);
      drawn.current = plot;
      if (cursor !== undefined) leaveCursor = joinCursor(plot, cursor);
      resize.observe(element);
    };
    // Without the plot the table still holds every value.
    begin().catch(() => undefined);
    return () => {
      isGone = true;
      resize.disconnect();
      leaveCursor?.();
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, [times, series, bands, span, cursor, names]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read from the page, and the theme says that they changed
  useEffect(() => drawn.current?.redraw(false), [theme]);
  return <div className="plot-host" role="img" aria-label={label} ref={host} dir="ltr" />;
});
