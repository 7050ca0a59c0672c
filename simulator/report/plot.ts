// One plot: a place that the page's script draws in, its lines in words, and the same figures as a table, which is there without a script
// too. It shows nothing where nothing was measured.
import { condense, summarise, type Values } from '../core/plots/plot-values.ts';
import { formatMoment, formatNumber } from '../core/text/number-text.ts';
import { type Html, html, table } from './html.ts';
import type { PlotLine, PlotPlan } from './plot-plans.ts';

/** One line with its values. */
export interface Trace extends Pick<PlotLine, 'label' | 'tone' | 'form' | 'row'> {
  readonly values: Values;
  readonly stepMs: number;
}

/** Between two of the plot's traces, by their places. */
export interface Band {
  readonly low: number;
  readonly high: number;
  readonly strength: 'strong' | 'weak';
}

export interface Plot extends Pick<PlotPlan, 'id' | 'title' | 'unit' | 'words' | 'scale' | 'limit'> {
  readonly traces: readonly Trace[];
  readonly bands: readonly Band[];
}

const rowsMost = 30;

const describe = ({ label, values }: Trace): string => {
  const summary = summarise(values);
  if (summary === null) return `${label}: not measured`;
  const { least, mean, most, last } = summary;
  return `${label}: ${formatNumber(least)} to ${formatNumber(most)}, mean ${formatNumber(mean)}, last ${formatNumber(last)}`;
};

/** Summary of a line: the mean of a rate, the worst value of all others. */
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

/** Legend with the summary of each line; the page's script shows the value under the cursor. */
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
export function plotFigure(plot: Plot): Html {
  const { id, title, unit, words, traces } = plot;
  const spoken = `${title}, ${unit}. ${traces.map(describe).join('; ')}.`;
  return html`<figure class="plot" id="plot-${id}"><figcaption><h3>${title} <small>${unit}</small></h3><p>${words}</p></figcaption>${legend(traces)}<div class="plane" role="img" aria-label="${spoken}"></div>${tableOf(plot)}</figure>`;
}
