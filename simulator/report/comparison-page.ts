// Two runs side by side as one HTML file: their verdicts, every figure with its ratio, and their plots one over the other. It judges
// nothing, because what is better depends on the figure.
import { compareFigures } from '../core/result/comparison.ts';
import { verdictOf } from '../core/result/verdict.ts';
import { formatCount, formatNumber } from '../core/text/number-text.ts';
import { differencesOf, kindTexts } from '../run/measure/report.ts';
import type { RunResult } from '../run/measure/result.ts';
import { type Html, html, nothing, type Section, table } from './html.ts';
import { dayOf, type PageParts, page } from './page.ts';
import { comparedPlots } from './plots.ts';
import { notesSection, outcomeWords } from './sections.ts';

function card(name: 'a' | 'b', result: RunResult): Html {
  const { scenario, title, devices, kind, durationS, seed, startedAt, setting, ramp } = result;
  const { outcome, sentence, reasons } = verdictOf(result);
  const rows: readonly (readonly [name: string, value: string])[] = [
    ['Scenario', `${scenario}: ${title}`],
    ['Vehicles', `${formatNumber(devices)} ${kindTexts[kind]}`],
    ['Time', `${formatNumber(durationS)} s, ${dayOf(startedAt)}`],
    ['Seed', seed],
    ['Machine', `${setting.machine.cpu}, ${formatCount(setting.machine.cores, 'core')}`],
    ['Versions', `Fleetward ${setting.version}, Node ${setting.node}`],
    ...(ramp === null ? [] : [['Knee', ramp.knee.words] as const]),
  ];
  const list = reasons.map((reason) => html`<li>${reason.slice(0, 600)}</li>`);
  return html`<div class="verdict ${outcome === 'passed' ? 'good' : 'bad'}"><strong>${name}: ${outcomeWords[outcome]}</strong><p>${sentence}</p>${list.length === 0 ? nothing : html`<ul>${list}</ul>`}<dl class="facts">${rows.map(([key, value]) => html`<dt>${key}</dt><dd>${value}</dd>`)}</dl></div>`;
}

function figuresSection(a: RunResult, b: RunResult): Section {
  const text = (value: number | null): string => (value === null ? '–' : formatNumber(value));
  const rows = compareFigures(a.figures, b.figures).map(({ name, before, after, ratio }) => [
    name,
    text(before),
    text(after),
    ratio === null ? '–' : `× ${ratio.toFixed(2)}`,
  ]);
  const heads = ['figure', 'a', 'b', 'b by a'];
  const caption = 'Latencies in ms; what is better depends on the figure';
  return { id: 'figures', title: 'Figures', body: table({ caption, heads, rows }) };
}

/** The comparison of two runs. */
export function formatComparisonHtml(a: RunResult, b: RunResult, parts: PageParts): string {
  const overTime = html`<p class="soft">Dashed: a. Solid: b. Shaded: the faults of b. Drag over a plot, or use the buttons, to zoom them all; a double click shows the whole run.</p>${comparedPlots(a, b, parts.plans)}`;
  return page(parts, {
    title: `Compared: ${a.scenario} and ${b.scenario}`,
    head: html`<h1>Two runs side by side</h1><p class="soft">${a.scenario}, ${dayOf(a.startedAt)} · ${b.scenario}, ${dayOf(b.startedAt)}</p>`,
    summary: html`${card('a', a)}${card('b', b)}`,
    sections: [
      notesSection('differences', 'These runs differ in more than their outcome', differencesOf(a, b)),
      { id: 'time', title: 'Over time', body: overTime },
      figuresSection(a, b),
    ],
    version: b.setting.version,
  });
}
