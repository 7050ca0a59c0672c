// Two runs side by side as one HTML file: their verdicts, every figure with its ratio, and their plots one over the other. It judges
// nothing, because what is better depends on the figure.
import { compareFigures } from '../core/comparison.ts';
import { formatCount } from '../core/count-words.ts';
import { formatNumber } from '../core/plot-scale.ts';
import { verdictOf } from '../core/verdict.ts';
import { differencesOf, kindWords } from '../run/report.ts';
import type { RunResult } from '../run/result.ts';
import { type Html, html, nothing, table } from './html.ts';
import { dayOf, page } from './page.ts';
import { comparedPlots } from './plots.ts';

function card(name: 'a' | 'b', result: RunResult): Html {
  const { isPassed, scenario, title, devices, kind, durationS, seed, startedAt, setting, ramp } = result;
  const { sentence, reasons } = verdictOf(result);
  const rows: readonly (readonly [name: string, value: string])[] = [
    ['Scenario', `${scenario}: ${title}`],
    ['Vehicles', `${formatNumber(devices)} ${kindWords[kind]}`],
    ['Time', `${formatNumber(durationS)} s, ${dayOf(startedAt)}`],
    ['Seed', seed],
    ['Machine', `${setting.machine.cpu}, ${formatCount(setting.machine.cores, 'core')}`],
    ['Versions', `Fleetward ${setting.version}, Node ${setting.node}`],
    ...(ramp === null ? [] : [['Knee', ramp.knee.words] as const]),
  ];
  const list = reasons.map((reason) => html`<li>${reason.slice(0, 600)}</li>`);
  return html`<div class="verdict ${isPassed ? 'good' : 'bad'}"><strong>${name}: ${isPassed ? '✓ Passed' : '✗ Failed'}</strong><p>${sentence}</p>${list.length === 0 ? nothing : html`<ul>${list}</ul>`}<dl class="facts">${rows.map(([key, value]) => html`<dt>${key}</dt><dd>${value}</dd>`)}</dl></div>`;
}

function figuresPart(a: RunResult, b: RunResult): Html {
  const text = (value: number | null): string => (value === null ? '–' : formatNumber(value));
  const rows = compareFigures(a.figures, b.figures).map(({ name, before, after, ratio }) => [
    name,
    text(before),
    text(after),
    ratio === null ? '–' : `× ${ratio.toFixed(2)}`,
  ]);
  const heads = ['figure', 'a', 'b', 'b by a'];
  return html`<section><h2>Figures</h2>${table({ caption: 'Latencies in ms; what is better depends on the figure', heads, rows })}</section>`;
}

/** The comparison of two runs. */
export function formatComparisonHtml(a: RunResult, b: RunResult): string {
  const differences = differencesOf(a, b);
  const notes =
    differences.length === 0
      ? nothing
      : html`<section class="notes"><h2>These runs differ in more than their outcome</h2><ul>${differences.map((words) => html`<li>${words}</li>`)}</ul></section>`;
  const body = html`${card('a', a)}${card('b', b)}${notes}<section><h2>Over time</h2><p class="soft">Dashed: a. Solid: b. Shaded: the faults of b.</p>${comparedPlots(a, b)}</section>${figuresPart(a, b)}`;
  return page({
    title: `Compared: ${a.scenario} and ${b.scenario}`,
    head: html`<h1>Two runs side by side</h1><p class="soft">${a.scenario}, ${dayOf(a.startedAt)} · ${b.scenario}, ${dayOf(b.startedAt)}</p>`,
    body,
    foot: `fleetward-simulator ${b.setting.version}. This file is whole: it loads nothing and tells nobody anything.`,
  });
}
