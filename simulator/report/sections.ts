// The verdict of a report, its figures at one look, and its sections on thresholds, latencies and how to repeat the run.

import { formatMeasured, verdictOf } from '../core/result/verdict.ts';
import { latencyNames } from '../core/scenario/thresholds.ts';
import { formatCount, formatNumber } from '../core/text/number-text.ts';
import { each, kindTexts, latencyTexts, memoryPerVehicle, memoryText } from '../run/measure/report.ts';
import type { RunResult } from '../run/measure/result.ts';
import { type Html, html, nothing, pill, type Section, short, table } from './html.ts';
import { sightText } from './plots.ts';

const specMost = 60_000;

/** With a sign, so that it can be read without colours. */
export const outcomeWords = { passed: '✓ Passed', failed: '✗ Failed', incomplete: '■ Incomplete' } as const;

export function verdictSection(result: RunResult): Html {
  const { outcome, sentence, reasons } = verdictOf(result);
  const list =
    reasons.length === 0
      ? nothing
      : html`<ul>${reasons.map((reason) => html`<li>${short(reason)}</li>`)}</ul>`;
  return html`<div class="verdict ${outcome === 'passed' ? 'good' : 'bad'}"><strong>${outcomeWords[outcome]}</strong><p>${sentence}</p>${list}</div>`;
}

const msOf = (value: number | undefined): string =>
  value === undefined ? 'not measured' : `${formatNumber(value)} ms`;

export function tilesSection(result: RunResult): Html {
  const { counts, figures, devices, kind } = result;
  const mb = memoryPerVehicle(result);
  const tiles: readonly (readonly [name: string, value: string, more: string])[] = [
    [kind === 'agent' ? 'Vehicles' : 'Light trackers', formatNumber(devices), kindTexts[kind]],
    [
      'Acknowledged',
      formatNumber(counts.acknowledged),
      `events, ${formatNumber(figures['events.rate'] ?? 0)} a second`,
    ],
    ['Until durable, p99', msOf(figures['ingest.p99']), `p50 ${msOf(figures['ingest.p50'])}`],
    ['Until visible, p99', msOf(figures['visible.p99']), `p50 ${msOf(figures['visible.p50'])}`],
    ['Commands', formatNumber(counts.commands), `restored within ${msOf(figures['restore.max'])}`],
    [`Memory ${each[kind]}`, mb === null ? '' : `${formatNumber(mb)} MiB`, 'of the generator'],
  ];
  const isAbsent: Readonly<Record<string, boolean>> = {
    Commands: counts.commands === 0,
    'Until visible, p99': figures['visible.p99'] === undefined,
    [`Memory ${each[kind]}`]: mb === null,
  };
  const shown = tiles.filter(([name]) => isAbsent[name] !== true);
  return html`<dl class="tiles">${shown.map(([name, value, more]) => html`<div><dt>${name}</dt><dd>${value}<small>${more}</small></dd></div>`)}</dl>`;
}

/** Null without any. */
export function notesSection(id: string, title: string, notes: readonly string[]): Section | null {
  if (notes.length === 0) return null;
  const body = html`<ul>${notes.map((note) => html`<li>${short(note)}</li>`)}</ul>`;
  return { id, title, body, isWarning: true };
}

export function thresholdSection({ thresholds }: RunResult): Section {
  const [id, title] = ['thresholds', 'Thresholds'];
  if (thresholds.length === 0)
    return { id, title, body: html`<p>None were set; the checks must hold without any.</p>` };
  const rows = thresholds.map((threshold) => [
    threshold.text,
    formatMeasured(threshold),
    threshold.isMet ? pill('good', 'met') : pill('bad', 'not met'),
  ]);
  const heads = ['threshold', 'measured', 'result'];
  return { id, title, body: table({ caption: 'Thresholds and measured values', heads, rows }) };
}

const parts = ['p50', 'p90', 'p95', 'p99', 'p999', 'max'] as const;
/** With fewer samples a percentile is the greatest of them and says nothing more. */
const samplesLeast: Readonly<Record<string, number>> = { p90: 10, p95: 20, p99: 100, p999: 1000 };

export function latencySection({ figures }: RunResult): Section {
  const [id, title] = ['latencies', 'Latencies'];
  const rows = latencyNames.flatMap((name) => {
    const count = figures[`${name}.count`];
    if (count === undefined) return [];
    const values = parts.map((part) => {
      const value = figures[`${name}.${part}`];
      return value === undefined || count < (samplesLeast[part] ?? 1) ? '–' : formatNumber(value);
    });
    return [[latencyTexts[name].replace('->', '→').replace("'", '’'), formatNumber(count), ...values]];
  });
  if (rows.length === 0) return { id, title, body: html`<p>None was measured.</p>` };
  const caption =
    'Milliseconds over the whole run, from the intended moment; a percentile that has too few samples to differ from the maximum is left out';
  return { id, title, body: table({ caption, heads: ['from → to', 'samples', ...parts], rows }) };
}

export function settingSection(result: RunResult): Section {
  const { setting, spec, seed, kind, devices, durationS, elapsedS, machine, counts, series } = result;
  const { memoryMb, cpu, cores, system } = setting.machine;
  const spec2 = JSON.stringify(spec, null, 2);
  const memory = memoryText(result);
  const rows: readonly (readonly [name: string, value: string | Html])[] = [
    ['Scenario', `${result.scenario}: ${result.title}`],
    ['Seed', html`<code>${seed === '' ? '(empty)' : seed}</code>`],
    ['Vehicles', `${formatNumber(devices)} ${kindTexts[kind]}; ${formatCount(counts.connects, 'connect')}`],
    [
      'Time',
      `${formatNumber(durationS)} s planned, ${formatNumber(elapsedS)} s run; deliveries were awaited until ${formatNumber(series.endMs / 1000)} s`,
    ],
    ['Broker', setting.target ?? 'the run’s own, from the same build'],
    ['Broker’s metrics', sightText(result)],
    [
      'Generator',
      `${formatCount(machine.processes, 'process', 'processes')}, ${formatNumber(machine.cpuMs / 1000)} s of CPU, ${formatNumber(machine.rssMb)} MiB at the end${memory === '' ? '' : `, ${memory}`}`,
    ],
    ['Machine', `${cpu}, ${formatCount(cores, 'core')}, ${formatNumber(memoryMb)} MiB, ${system}`],
    ['Versions', `Fleetward ${setting.version}, Node ${setting.node}`],
  ];
  const command =
    setting.command === ''
      ? nothing
      : html`<h3>Repeat the run</h3><pre class="command" tabindex="0" role="region" aria-label="Command to repeat the run"><code>${setting.command}</code></pre>`;
  const whole =
    spec2.length > specMost
      ? html`<p>The scenario is too long to be shown here; it is in the JSON of the run.</p>`
      : html`<details><summary>The whole scenario with all its defaults</summary><pre tabindex="0" role="region" aria-label="Scenario as JSON"><code>${spec2}</code></pre></details>`;
  const body = html`<dl class="facts">${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>${command}${whole}`;
  return { id: 'setting', title: 'How it was run', body };
}
