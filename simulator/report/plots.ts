// The plots of one run or of two, on one time axis with the faults in it, and the data for the cursor that moves over all of them.
import { countOf, formatCount } from '../core/count-words.ts';
import { type FaultSpan, placeLabels } from '../core/fault-spans.ts';
import { formatMoment } from '../core/plot-scale.ts';
import type { ColumnName } from '../core/series-columns.ts';
import type { RunResult } from '../run/result.ts';
import { type Html, html, jsonIsland, nothing, table } from './html.ts';
import { type Band, type Plot, plotFigure, type TimeAxis, type Trace } from './plot.ts';
import { type PlotPlan, plotPlans } from './plot-plans.ts';

/** Bands beyond this are no picture any more. */
const spansMost = 100;
/** A character of a label is about so much of the width. */
const characterPart = 0.0095;
const lanes = 3;

/** The faults in words, beside their shades. */
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
  const end = Math.max(1000, endMs);
  const widthMs = (characters: number): number => (characters + 2) * characterPart * end;
  return { endMs: end, factsEndMs, spans: placeLabels(spans.slice(0, spansMost), { lanes, widthMs }) };
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
  const { stepMs } = result.series;
  return plan.bands.flatMap(({ low, high, strength }) => {
    const [lower, upper] = [valuesOf(result, low), valuesOf(result, high)];
    return lower === undefined || upper === undefined ? [] : [{ low: lower, high: upper, strength, stepMs }];
  });
}

function plotOf(plan: PlotPlan, traces: readonly Trace[], bands: readonly Band[]): Plot {
  const { id, title, unit, words, scale, limit } = plan;
  return { id, title, unit, words, scale, limit, traces, bands };
}

/** Why there is nothing of the broker. */
export function sightWords({ brokerSight }: RunResult): string {
  const { seen, missed, reason } = brokerSight;
  if (seen === 0 && missed === 0)
    return 'Nobody told where the broker shows its own figures (--metrics), so they are not here.';
  if (seen === 0) return `The broker’s own figures could not be read: ${reason}.`;
  if (missed === 0) return `The broker’s own figures were read ${countOf(seen, 'time')}.`;
  return `The broker’s own figures were read ${countOf(seen, 'time')} and ${countOf(missed, 'time')} not (last: ${reason}).`;
}

function missing(plan: PlotPlan, results: readonly RunResult[]): Html {
  const [first] = results;
  const words =
    plan.of === 'broker' && first !== undefined
      ? sightWords(first)
      : (plan.absent ?? 'Nothing of the kind was measured.');
  return html`<p class="absent">${plan.title}: ${words}</p>`;
}

function figures(
  drawn: readonly { readonly plan: PlotPlan; readonly plot: Plot }[],
  axis: TimeAxis,
  results: readonly RunResult[],
): Html {
  const shown = drawn.filter(({ plot }) => plot.traces.length > 0);
  const absent = drawn.filter(({ plot }) => plot.traces.length === 0);
  const island = jsonIsland('series', {
    endMs: axis.endMs,
    plots: shown.map(({ plot }) => ({
      id: plot.id,
      traces: plot.traces.map(({ values, stepMs }) => ({ stepMs, values })),
    })),
  });
  const slider = html`<p class="moment" hidden><label for="moment">Moment</label> <input type="range" id="moment" min="0" max="1000" value="0" aria-describedby="moment-words"/> <output id="moment-words" for="moment"></output></p>`;
  return html`${slider}${shown.map(({ plot }) => plotFigure(plot, axis))}${absent.map(({ plan }) => missing(plan, results))}${shown.length === 0 ? nothing : island}`;
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

/** What is laid over the other: the first or the most telling line of each plot. */
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
