// One plot: paths that are stretched to the width of the page, labels as text around them, and the same figures as a table. It needs
// no script, and shows nothing where nothing was measured.
import type { LabelledSpan } from '../core/fault-spans.ts';
import {
  areaPath,
  bandPath,
  condense,
  dotsPath,
  linePath,
  type PlotFrame,
  plane,
  summarise,
  type Values,
} from '../core/plot-path.ts';
import {
  formatMoment,
  formatNumber,
  linearScale,
  logScale,
  type Scale,
  timeScale,
} from '../core/plot-scale.ts';
import { type Html, html, nothing, table } from './html.ts';
import type { PlotLine, PlotPlan } from './plot-plans.ts';

/** One line with its values. */
export interface Trace extends Pick<PlotLine, 'label' | 'tone' | 'form' | 'row'> {
  readonly values: Values;
  readonly stepMs: number;
}

export interface Band {
  readonly low: Values;
  readonly high: Values;
  readonly stepMs: number;
  readonly strength: 'strong' | 'weak';
}

export interface Plot extends Pick<PlotPlan, 'id' | 'title' | 'unit' | 'words' | 'scale' | 'limit'> {
  readonly traces: readonly Trace[];
  readonly bands: readonly Band[];
}

/** What all plots of a page share. */
export interface TimeAxis {
  readonly endMs: number;
  /** When no further facts were made; null where runs differ. */
  readonly factsEndMs: number | null;
  readonly spans: readonly LabelledSpan[];
}

const rowsMost = 30;
const leastLog = 0.1;
/** A fault of a moment is seen too. */
const leastSpan = 8;

function scaleOf({ traces, limit, scale }: Plot): Scale {
  const seen = traces.flatMap(({ values }) => values).filter((value) => value !== null);
  const limits = limit === null ? [] : [limit.value];
  const most = [...seen, ...limits].reduce((a, b) => Math.max(a, b), 0);
  if (scale === 'linear') return linearScale(most);
  const least = seen.filter((value) => value > leastLog).reduce((a, b) => Math.min(a, b), Math.max(1, most));
  return logScale(least, Math.max(1, most));
}

const percent = (part: number): string => `${(part * 100).toFixed(2)}%`;

/** All spans as one shape, because there may be many and there are many plots. */
function spanShapes({ spans, endMs, factsEndMs }: TimeAxis): Html {
  const x = (ms: number): number => Math.round((Math.min(ms, endMs) / endMs) * plane.width);
  const shapes = spans.map(({ fromMs, toMs }) => {
    const width = Math.max(leastSpan, x(toMs) - x(fromMs));
    return `M${x(fromMs)} 0h${width}v${plane.height}h-${width}z`;
  });
  const faults = shapes.length === 0 ? nothing : html`<path class="fault" d="${shapes.join('')}"/>`;
  const isInside = factsEndMs !== null && factsEndMs < endMs;
  const end = isInside ? html`<path class="ends" d="M${x(factsEndMs)} 0v${plane.height}"/>` : nothing;
  return html`${faults}${end}`;
}

function pathOf(trace: Trace, frame: PlotFrame): Html {
  const { form, tone, values } = trace;
  switch (form) {
    case 'area':
      return html`<path class="area ${tone}" d="${areaPath(values, frame)}"/><path class="line ${tone}" d="${linePath(values, frame)}"/>`;
    case 'dots':
      return html`<path class="dots ${tone}" d="${dotsPath(values, frame)}"/>`;
    case 'line':
    case 'dashes':
      return html`<path class="${form} ${tone}" d="${linePath(values, frame)}"/>`;
  }
}

const describe = ({ label, values }: Trace): string => {
  const summary = summarise(values);
  if (summary === null) return `${label}: not measured`;
  const { least, mean, most } = summary;
  return `${label}: ${formatNumber(least)} to ${formatNumber(most)}, mean ${formatNumber(mean)}`;
};

function drawing(plot: Plot, axis: TimeAxis, scale: Scale): Html {
  const frame = (stepMs: number): PlotFrame => ({ scale, stepMs, endMs: axis.endMs });
  const grid = scale.ticks.map(
    ({ part }) => html`<path class="grid" d="M0 ${Math.round((1 - part) * plane.height)}h${plane.width}"/>`,
  );
  const bands = plot.bands.map(
    ({ low, high, stepMs, strength }) =>
      html`<path class="band ${strength}" d="${bandPath(low, high, frame(stepMs))}"/>`,
  );
  const limit =
    plot.limit === null
      ? nothing
      : html`<path class="limit" d="M0 ${Math.round((1 - scale.place(plot.limit.value)) * plane.height)}h${plane.width}"/>`;
  const words = `${plot.title}, ${plot.unit}. ${plot.traces.map(describe).join('; ')}.`;
  const traces = plot.traces.map((trace) => pathOf(trace, frame(trace.stepMs)));
  return html`<svg viewBox="0 0 ${plane.width} ${plane.height}" preserveAspectRatio="none" role="img" aria-label="${words}">${spanShapes(axis)}${grid}${bands}${traces}${limit}</svg>`;
}

/** What a line came to: of rates how many they were on average, of all others the worst. */
function outcome({ values, row }: Trace): string {
  const summary = summarise(values);
  if (summary === null) return 'not measured';
  const most = `most ${formatNumber(summary.most)}`;
  return {
    mean: `mean ${formatNumber(summary.mean)}, ${most}`,
    max: most,
    min: `least ${formatNumber(summary.least)}, ${most}`,
  }[row];
}

/** Which line is which, with what it came to; a script puts the value of a moment there. */
function legend(traces: readonly Trace[]): Html {
  const items = traces.map((trace, at) => {
    const key = trace.form === 'area' ? 'line' : trace.form;
    return html`<li><svg class="key" viewBox="0 0 24 10" aria-hidden="true"><path class="${key} ${trace.tone}" d="${key === 'dots' ? 'M12 5h0' : 'M1 5h22'}"/></svg>${trace.label} <span class="now" data-trace="${at}">${outcome(trace)}</span></li>`;
  });
  return html`<ul class="legend">${items}</ul>`;
}

function tableOf(plot: Plot): Html {
  const longest = plot.traces.reduce((most, { values, stepMs }) => Math.max(most, values.length * stepMs), 0);
  const stepMs = plot.traces.reduce((most, trace) => Math.max(most, trace.stepMs), 1);
  const every = Math.max(1, Math.ceil(longest / stepMs / rowsMost));
  const columns = plot.traces.map((trace) =>
    condense(trace.values, Math.ceil((trace.values.length * trace.stepMs) / (every * stepMs)), trace.row),
  );
  const count = columns.reduce((most, column) => Math.max(most, column.length), 0);
  const rows = Array.from({ length: count }, (_, at) => [
    formatMoment(at * every * stepMs),
    ...columns.map((column) => {
      const value = column[at] ?? null;
      return value === null ? '–' : formatNumber(value);
    }),
  ]);
  const caption = `${plot.title} (${plot.unit}), a row for every ${formatNumber((every * stepMs) / 1000)} s`;
  return html`<details><summary>${plot.title}: figures as a table</summary>${table({ caption, heads: ['from', ...plot.traces.map(({ label }) => label)], rows })}</details>`;
}

/** The whole figure. */
export function plotFigure(plot: Plot, axis: TimeAxis): Html {
  const scale = scaleOf(plot);
  const faults = axis.spans.flatMap(({ kind, fromMs, lane }) =>
    lane === null
      ? []
      : [
          html`<span class="label" style="left:${percent(fromMs / axis.endMs)};top:${lane * 15 + 2}px">${kind}</span>`,
        ],
  );
  const limit =
    plot.limit === null
      ? nothing
      : html`<span class="limit-label" style="bottom:${percent(scale.place(plot.limit.value))}">${plot.limit.label}</span>`;
  const rising = scale.ticks.map(
    ({ part, label }) => html`<span style="bottom:${percent(part)}">${label}</span>`,
  );
  const times = timeScale(axis.endMs).ticks.map(
    ({ part, label }) =>
      html`<span style="${part > 0.97 ? 'right:0;transform:none' : `left:${percent(part)}`}">${label}</span>`,
  );
  return html`<figure class="plot" id="plot-${plot.id}"><figcaption><h3>${plot.title} <small>${plot.unit}</small></h3><p>${plot.words}</p></figcaption>${legend(plot.traces)}<div class="frame"><div class="rising" aria-hidden="true">${rising}</div><div class="plane">${drawing(plot, axis, scale)}<div aria-hidden="true">${faults}${limit}</div><i class="cursor" hidden></i></div><div class="times" aria-hidden="true">${times}</div></div>${tableOf(plot)}</figure>`;
}
