// The plots of one run or of two, on one time axis with the faults in it, and the data that the page's script draws.

import type { FaultSpan } from '../core/plots/fault-spans.ts';
import type { ColumnName } from '../core/series/series-columns.ts';
import { countOf, formatCount, formatMoment } from '../core/text/number-text.ts';
import type { RunResult } from '../run/measure/result.ts';
import { type Html, html, jsonIsland, nothing, table } from './html.ts';
import { type Band, type Plot, plotFigure, type Trace } from './plot.ts';
import { type PlotPlan, plotPlans } from './plot-plans.ts';

/** Bands beyond this are no picture any more. */
const spansMost = 100;

/** What all plots of a page share. */
interface TimeAxis {
  readonly endMs: number;
  /** When no further facts were made; null where runs differ. */
  readonly factsEndMs: number | null;
  readonly spans: readonly FaultSpan[];
}

/** The faults as a list, beside their shades. */
function faultTable(spans: readonly FaultSpan[]): Html {
  if (spans.length === 0) return nothing;
  const rows = spans
    .slice(0, spansMost)
    .map(({ kind, fromMs, toMs, share }) => [
      kind,
      formatMoment(fromMs),
      formatMoment(toMs),
      `${Math.round(share * 100)} %`,
    ]);
  const more = spans.length - rows.length;
  const rest = more > 0 ? html`<p>… and ${more} more, not shaded: see the JSON of the run.</p>` : nothing;
  const heads = ['fault', 'from', 'to', 'of the fleet'];
  return html`<details><summary>${formatCount(spans.length, 'fault')} as a table</summary>${table({ caption: 'What went wrong on purpose, and when', heads, rows })}${rest}</details>`;
}

function axisOf(spans: readonly FaultSpan[], endMs: number, factsEndMs: number | null): TimeAxis {
  const shaded = spans.slice(0, spansMost).toSorted((a, b) => a.fromMs - b.fromMs);
  return { endMs: Math.max(1000, endMs), factsEndMs, spans: shaded };
}

const valuesOf = ({ series }: RunResult, column: ColumnName) => series.columns[column];

function tracesOf(plan: PlotPlan, result: RunResult): readonly Trace[] {
  const { stepMs } = result.series;
  return plan.lines.flatMap(({ column, label, tone, form, row }) => {
    const values = valuesOf(result, column);
    return values === undefined ? [] : [{ label, tone, form, row, values, stepMs }];
  });
}

function bandsOf(plan: PlotPlan, result: RunResult): readonly Band[] {
  const drawn = plan.lines
    .map(({ column }) => column)
    .filter((column) => valuesOf(result, column) !== undefined);
  return plan.bands.flatMap(({ low, high, strength }) => {
    const [lower, upper] = [drawn.indexOf(low), drawn.indexOf(high)];
    return lower < 0 || upper < 0 ? [] : [{ low: lower, high: upper, strength }];
  });
}

function plotOf(plan: PlotPlan, traces: readonly Trace[], bands: readonly Band[]): Plot {
  const { id, title, unit, words, scale, limit } = plan;
  return { id, title, unit, words, scale, limit, traces, bands };
}

/** Why the broker's metrics are absent. */
export function sightText({ brokerSight }: RunResult): string {
  const { seen, missed, reason } = brokerSight;
  if (seen === 0 && missed === 0) return 'The address of the broker’s metrics is not known (--metrics).';
  if (seen === 0) return `The broker’s own figures could not be read: ${reason}.`;
  if (missed === 0) return `The broker’s own figures were read ${countOf(seen, 'time')}.`;
  return `The broker’s own figures were read ${countOf(seen, 'time')} and ${countOf(missed, 'time')} not (last: ${reason}).`;
}

function missing(plan: PlotPlan, results: readonly RunResult[]): Html {
  const [first] = results;
  const words =
    plan.of === 'broker' && first !== undefined
      ? sightText(first)
      : (plan.absent ?? 'Nothing of the kind was measured.');
  return html`<p class="absent">${plan.title}: ${words}</p>`;
}

/** Moment and zoom of all plots, for the keyboard too; the page's script shows it. */
const tools = html`<noscript><p>The plots need JavaScript. Their figures are in the table below each.</p></noscript><div class="tools" id="tools" role="group" aria-label="Moment and zoom of all plots" hidden><p><label for="moment">Moment</label> <input type="range" id="moment" min="0" max="1000" value="0" aria-describedby="moment-words"/> <output id="moment-words" for="moment"></output></p><p><button type="button" data-zoom="in">Zoom in</button><button type="button" data-zoom="out">Zoom out</button><button type="button" data-zoom="earlier">Earlier</button><button type="button" data-zoom="later">Later</button><button type="button" data-zoom="whole">Whole run</button> <output id="range"></output></p></div>`;

function figures(
  drawn: readonly { readonly plan: PlotPlan; readonly plot: Plot }[],
  axis: TimeAxis,
  results: readonly RunResult[],
): Html {
  const shown = drawn.filter(({ plot }) => plot.traces.length > 0);
  const absent = drawn.filter(({ plot }) => plot.traces.length === 0);
  const island = jsonIsland('series', {
    ...axis,
    spans: axis.spans.map(({ kind, fromMs, toMs }) => ({ kind, fromMs, toMs })),
    plots: shown.map(({ plot: { id, scale, limit, bands, traces } }) => ({
      id,
      isLog: scale === 'log',
      limit,
      bands,
      traces: traces.map(({ tone, form, values, stepMs }) => ({ tone, form, stepMs, values })),
    })),
  });
  return html`${tools}${shown.map(({ plot }) => plotFigure(plot))}${absent.map(({ plan }) => missing(plan, results))}${shown.length === 0 ? nothing : island}`;
}

/** Of one run. */
export function runPlots(result: RunResult): Html {
  const { series, faults, elapsedS } = result;
  const axis = axisOf(faults, series.endMs, elapsedS * 1000);
  const drawn = plotPlans.map((plan) => ({
    plan,
    plot: plotOf(plan, tracesOf(plan, result), bandsOf(plan, result)),
  }));
  return html`${faultTable(faults)}${figures(drawn, axis, [result])}`;
}

/** What is laid over the other: the first or the most informative line of each plot. */
const compared: readonly { readonly id: string; readonly columns: readonly ColumnName[] }[] = [
  { id: 'rate', columns: ['acknowledgedRate'] },
  { id: 'ingest', columns: ['ingest.p50', 'ingest.p99'] },
  { id: 'visible', columns: ['visible.p50', 'visible.p99'] },
  { id: 'relay', columns: ['restore.max', 'cut.max'] },
  { id: 'connections', columns: ['online'] },
  { id: 'backlog', columns: ['waiting'] },
  { id: 'cpu', columns: ['brokerCpu', 'generatorCpu'] },
  { id: 'memory', columns: ['brokerMb', 'generatorMb'] },
  { id: 'delays', columns: ['brokerLagMs', 'commitMs'] },
  { id: 'commits', columns: ['commitSize'] },
  { id: 'lag', columns: ['lagMs'] },
];

function comparedTraces(plan: PlotPlan, columns: readonly ColumnName[], results: readonly RunResult[]) {
  const pairs = plan.lines.filter(({ column }) => columns.includes(column));
  return results.flatMap((result, at) =>
    pairs.flatMap((line, order): readonly Trace[] => {
      const values = valuesOf(result, line.column);
      if (values === undefined) return [];
      const isFirst = at === 0;
      const tone = isFirst ? (order === 0 ? 'grey' : 'green') : order === 0 ? 'blue' : 'orange';
      const form = line.form === 'dots' ? 'dots' : isFirst ? 'dashes' : 'line';
      const label = `${isFirst ? 'a' : 'b'}: ${line.label}`;
      return [{ label, tone, form, row: line.row, values, stepMs: result.series.stepMs }];
    }),
  );
}

/** Of two runs, one over the other; `a` is dashed. The faults are those of `b` where the two differ. */
export function comparedPlots(a: RunResult, b: RunResult): Html {
  const results = [a, b];
  const endMs = Math.max(a.series.endMs, b.series.endMs);
  const axis = axisOf(b.faults, endMs, a.durationS === b.durationS ? b.durationS * 1000 : null);
  const drawn = compared.flatMap(({ id, columns }) => {
    const plan = plotPlans.find((one) => one.id === id);
    return plan === undefined
      ? []
      : [{ plan, plot: plotOf(plan, comparedTraces(plan, columns, results), []) }];
  });
  return html`${faultTable(b.faults)}${figures(drawn, axis, results)}`;
}
