// The plots of one or two runs on one time axis with the faults. Each has a place for the page's script to draw in, its data, its
// lines in words, and the figures as a table, also without a script. It shows nothing where nothing was measured.
import type { FaultSpan } from '../core/scenario/scenario-schema.ts';
import type { ColumnName } from '../core/series/series-columns.ts';
import { countOf, formatCount, formatMoment, formatNumber } from '../core/text/number-text.ts';
import type { RunResult } from '../run/measure/result.ts';
import { type Html, html, jsonIsland, nothing, table } from './html.ts';

/** Column, label, colour of the page, form, and how several moments become one row of the table. */
type PlotLine = readonly [
  column: ColumnName,
  label: string,
  tone: string,
  form: 'line' | 'area' | 'dots' | 'dashes',
  row: 'mean' | 'max' | 'min',
];

/** One entry of `page/plots.json`. */
export interface PlotPlan {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** What is measured, in a sentence. */
  readonly words: string;
  readonly isLog?: true;
  /** The lines are p50, p95 and p99 and more, with a shade between each two of these three. */
  readonly isBanded?: true;
  /** A value that should not be passed. */
  readonly limit?: { readonly value: number; readonly label: string };
  /** What it means when there is nothing to draw. */
  readonly absent?: string;
  /** The figures are those of the broker. */
  readonly isOfBroker?: true;
  readonly lines: readonly PlotLine[];
  /** The most informative lines, which are drawn of two runs. */
  readonly compared: readonly ColumnName[];
}

/** Values in buckets of the same width. Null: not measured. */
type Values = readonly (number | null)[];

/** One line with its values. */
interface Trace {
  readonly line: PlotLine;
  readonly values: Values;
  readonly stepMs: number;
}

interface Summary {
  readonly first: number;
  readonly last: number;
  readonly least: number;
  readonly mean: number;
  readonly most: number;
}

/** Null: not measured. */
export function summarise(values: Values): Summary | null {
  const seen = values.filter((value) => value !== null);
  const [first] = seen;
  const last = seen.at(-1);
  if (first === undefined || last === undefined) return null;
  const sum = seen.reduce((total, value) => total + value, 0);
  const least = seen.reduce((a, b) => Math.min(a, b));
  const most = seen.reduce((a, b) => Math.max(a, b));
  return { first, last, least, mean: sum / seen.length, most };
}

/** At most `most` values, each of as many neighbours as it takes. */
export function condense(values: Values, most: number, how: PlotLine[4]): Values {
  const every = Math.max(1, Math.ceil(values.length / most));
  return Array.from({ length: Math.ceil(values.length / every) }, (_, at) => {
    const summary = summarise(values.slice(at * every, (at + 1) * every));
    return summary && { mean: summary.mean, max: summary.most, min: summary.least }[how];
  });
}

/** For a screen reader. */
function describe({ line: [, label], values }: Trace): string {
  const summary = summarise(values);
  if (summary === null) return `${label}: not measured`;
  const { least, mean, most, last } = summary;
  return `${label}: ${formatNumber(least)} to ${formatNumber(most)}, mean ${formatNumber(mean)}, last ${formatNumber(last)}`;
}

/** Summary of a line: the mean of a rate, the worst value of all others. */
function outcome({ values, line: [, , , , row] }: Trace): string {
  const summary = summarise(values);
  if (summary === null) return 'not measured';
  const most = `most ${formatNumber(summary.most)}`;
  return {
    mean: `mean ${formatNumber(summary.mean)}, ${most}`,
    max: most,
    min: `least ${formatNumber(summary.least)}, ${most}`,
  }[row];
}

/** With the summary of the line; the page's script shows the value under the cursor in its place. */
function legendItem(trace: Trace): Html {
  const [, label, tone, form] = trace.line;
  const key = form === 'area' ? 'line' : form;
  return html`<li><svg class="key" viewBox="0 0 24 10" aria-hidden="true"><path class="${key} ${tone}" d="${key === 'dots' ? 'M12 5h0' : 'M1 5h22'}"/></svg>${label} <span class="now">${outcome(trace)}</span></li>`;
}

const rowsMost = 30;

function tableOf({ title, unit }: PlotPlan, traces: readonly Trace[]): Html {
  const longest = Math.max(...traces.map(({ values, stepMs }) => values.length * stepMs));
  const stepMs = Math.max(1, ...traces.map((trace) => trace.stepMs));
  const everyMs = Math.max(1, Math.ceil(longest / stepMs / rowsMost)) * stepMs;
  const columns = traces.map(({ values, stepMs: own, line: [, , , , row] }) =>
    condense(values, Math.ceil((values.length * own) / everyMs), row),
  );
  const rows = Array.from({ length: Math.max(...columns.map(({ length }) => length)) }, (_, at) => [
    formatMoment(at * everyMs),
    ...columns.map((column) => {
      const value = column[at] ?? null;
      return value === null ? '–' : formatNumber(value);
    }),
  ]);
  const caption = `${title} (${unit}), a row for every ${formatNumber(everyMs / 1000)} s`;
  const heads = ['from', ...traces.map(({ line: [, label] }) => label)];
  return html`<details><summary>${title}: figures as a table</summary>${table({ caption, heads, rows })}</details>`;
}

interface Plot {
  readonly plan: PlotPlan;
  readonly traces: readonly Trace[];
}

function figure({ plan, traces }: Plot): Html {
  const { id, title, unit, words } = plan;
  const spoken = `${title}, ${unit}. ${traces.map(describe).join('; ')}.`;
  return html`<figure class="plot" id="plot-${id}"><figcaption><h3>${title} <small>${unit}</small></h3><p>${words}</p></figcaption><ul class="legend">${traces.map(legendItem)}</ul><div class="plane" role="img" aria-label="${spoken}"></div>${tableOf(plan, traces)}</figure>`;
}

/** How the reads of the broker's metrics went. */
export function sightText({ brokerSight }: RunResult): string {
  const { seen, missed, reason } = brokerSight;
  if (seen === 0 && missed === 0) return 'The address of the broker’s metrics is not known (--metrics).';
  if (seen === 0) return `The broker’s own figures could not be read: ${reason}.`;
  if (missed === 0) return `The broker’s own figures were read ${countOf(seen, 'time')}.`;
  return `The broker’s own figures were read ${countOf(seen, 'time')} and ${countOf(missed, 'time')} not (last: ${reason}).`;
}

/** Bands beyond this are no picture any more. */
const spansMost = 100;

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

/** Moment and zoom of all plots, for the keyboard too; the page's script shows it. */
const tools = html`<noscript><p>The plots need JavaScript. Their figures are in the table below each.</p></noscript><div class="tools" id="tools" role="group" aria-label="Moment and zoom of all plots" hidden><p><label for="moment">Moment</label> <input type="range" id="moment" min="0" max="1000" value="0" aria-describedby="moment-words"/> <output id="moment-words" for="moment"></output></p><p><button type="button" data-zoom="in">Zoom in</button><button type="button" data-zoom="out">Zoom out</button><button type="button" data-zoom="earlier">Earlier</button><button type="button" data-zoom="later">Later</button><button type="button" data-zoom="whole">Whole run</button> <output id="range"></output></p></div>`;

/** @param factsEndMs when no further facts were made; null where runs differ. */
function figures(plots: readonly Plot[], results: readonly RunResult[], factsEndMs: number | null): Html {
  const result = results.at(-1);
  if (result === undefined) return nothing;
  const shown = plots.filter(({ traces }) => traces.length > 0);
  const absent = plots.filter(({ traces }) => traces.length === 0);
  const spans = result.faults
    .slice(0, spansMost)
    .toSorted((a, b) => a.fromMs - b.fromMs)
    .map(({ kind, fromMs, toMs }) => ({ kind, fromMs, toMs }));
  const island = jsonIsland('series', {
    endMs: Math.max(1000, ...results.map(({ series }) => series.endMs)),
    factsEndMs,
    spans,
    plots: shown.map(({ plan: { id, isLog, isBanded, limit = null, lines }, traces }) => ({
      id,
      isLog,
      isBanded: results.length === 1 && isBanded && traces.length === lines.length,
      limit,
      traces: traces.map(({ line: [, , tone, form], values, stepMs }) => ({ tone, form, stepMs, values })),
    })),
  });
  const missing = absent.map(({ plan: { title, isOfBroker, absent: words } }) => {
    const reason = isOfBroker && results[0] !== undefined ? sightText(results[0]) : words;
    return html`<p class="absent">${title}: ${reason ?? 'Nothing of the kind was measured.'}</p>`;
  });
  return html`${faultTable(result.faults)}${tools}${shown.map(figure)}${missing}${shown.length === 0 ? nothing : island}`;
}

function traceOf({ series: { columns, stepMs } }: RunResult, line: PlotLine): readonly Trace[] {
  const values = columns[line[0]];
  return values === undefined ? [] : [{ line, values, stepMs }];
}

/** Of one run. */
export function runPlots(result: RunResult, plans: readonly PlotPlan[]): Html {
  const plots = plans.map((plan) => ({
    plan,
    traces: plan.lines.flatMap((line) => traceOf(result, line)),
  }));
  return figures(plots, [result], result.elapsedS * 1000);
}

/** Colours of the first and the second line of each run. */
const comparedTones = { a: ['grey', 'green'], b: ['blue', 'orange'] } as const;

/** Of two runs, one over the other; `a` is dashed. The faults are those of `b` where the two differ. */
export function comparedPlots(a: RunResult, b: RunResult, plans: readonly PlotPlan[]): Html {
  const plots = plans.map((plan) => ({
    plan,
    traces: (['a', 'b'] as const).flatMap((run) =>
      plan.lines
        .filter(([column]) => plan.compared.includes(column))
        .flatMap(([column, label, , form, row], at) => {
          const drawn = form === 'dots' ? form : run === 'a' ? 'dashes' : 'line';
          const tone = comparedTones[run][at === 0 ? 0 : 1];
          return traceOf(run === 'a' ? a : b, [column, `${run}: ${label}`, tone, drawn, row]);
        }),
    ),
  }));
  return figures(plots, [a, b], a.durationS === b.durationS ? b.durationS * 1000 : null);
}
