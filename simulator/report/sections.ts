// The parts of a report that are words and tables: verdict, truth, thresholds, latencies, and how to repeat the run.
import { formatCount } from '../core/count-words.ts';
import { breachKinds, breachWords } from '../core/ledger-types.ts';
import { formatNumber } from '../core/plot-scale.ts';
import { latencyNames } from '../core/thresholds.ts';
import { breachTitles, formatMeasured, verdictOf } from '../core/verdict.ts';
import { each, formatBreach, kindWords, latencyWords, memoryPerVehicle, memoryWords } from '../run/report.ts';
import type { RunResult } from '../run/result.ts';
import { type Html, html, nothing, pill, short, table } from './html.ts';
import { sightWords } from './plots.ts';

/** More facts than this are listed in the JSON only. */
const factsMost = 100;
const specMost = 60_000;

export function verdictPart(result: RunResult): Html {
  const { isPassed, sentence, reasons } = verdictOf(result);
  const list =
    reasons.length === 0
      ? nothing
      : html`<ul>${reasons.map((reason) => html`<li>${short(reason)}</li>`)}</ul>`;
  return html`<div class="verdict ${isPassed ? 'good' : 'bad'}"><strong>${isPassed ? '✓ Passed' : '✗ Failed'}</strong><p>${sentence}</p>${list}</div>`;
}

const msOf = (value: number | undefined): string =>
  value === undefined ? 'not measured' : `${formatNumber(value)} ms`;

export function tilesPart(result: RunResult): Html {
  const { counts, figures, devices, kind } = result;
  const mb = memoryPerVehicle(result);
  const tiles: readonly (readonly [name: string, value: string, more: string])[] = [
    [kind === 'agent' ? 'Vehicles' : 'Light trackers', formatNumber(devices), kindWords[kind]],
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

export function notesPart({ warnings }: RunResult): Html {
  if (warnings.length === 0) return nothing;
  return html`<section class="notes"><h2>What to know before reading the figures</h2><ul>${warnings.map((warning) => html`<li>${short(warning)}</li>`)}</ul></section>`;
}

export function truthPart(result: RunResult): Html {
  const { truth, breaches, counts, unjudged } = result;
  const total = breachKinds.reduce((sum, kind) => sum + truth[kind], 0);
  const rows = breachKinds.map((kind) => [
    breachTitles[kind],
    breachWords[kind],
    pill(truth[kind] === 0, formatNumber(truth[kind])),
  ]);
  const listed = breaches.slice(0, factsMost);
  const more = total - listed.length;
  const found =
    total === 0
      ? nothing
      : html`<details open><summary>The facts, events and commands that it concerns</summary><ol class="found">${listed.map((breach) => html`<li>${short(formatBreach(breach))}</li>`)}</ol>${more > 0 ? html`<p>… and ${formatNumber(more)} more: see the JSON of the run.</p>` : nothing}</details>`;
  const judged = `${formatCount(counts.facts, 'fact')} happened${unjudged > 0 ? `, ${formatNumber(unjudged)} of which could not be judged` : ''}; ${formatCount(counts.events, 'event was', 'events were')} stored on vehicles and ${formatNumber(counts.shown)} came back.`;
  return html`<section><h2>Truth</h2><p>${judged}</p>${table({ caption: 'What must never happen, and how often it did', heads: ['check', 'means', 'found'], rows, numbersFrom: 2 })}${found}</section>`;
}

export function thresholdPart({ thresholds }: RunResult): Html {
  if (thresholds.length === 0)
    return html`<section><h2>Thresholds</h2><p>None were set; the truth must hold without any.</p></section>`;
  const rows = thresholds.map((threshold) => [
    threshold.text,
    formatMeasured(threshold),
    pill(threshold.isMet, threshold.isMet ? 'met' : 'not met'),
  ]);
  return html`<section><h2>Thresholds</h2>${table({ caption: 'What was asked for, and what was measured', heads: ['threshold', 'measured', 'result'], rows })}</section>`;
}

const parts = ['p50', 'p90', 'p95', 'p99', 'p999', 'max', 'count'] as const;

export function latencyPart({ figures }: RunResult): Html {
  const rows = latencyNames.flatMap((name) =>
    figures[`${name}.count`] === undefined
      ? []
      : [
          [
            latencyWords[name].replace('->', '→').replace("'", '’'),
            ...parts.map((part) => {
              const value = figures[`${name}.${part}`];
              return value === undefined ? '–' : formatNumber(value);
            }),
          ],
        ],
  );
  if (rows.length === 0) return nothing;
  return html`<section><h2>Latencies</h2>${table({ caption: 'Milliseconds over the whole run, from the intended moment', heads: ['from → to', ...parts], rows })}</section>`;
}

export function settingPart(result: RunResult): Html {
  const { setting, spec, seed, kind, devices, durationS, elapsedS, machine, counts, series } = result;
  const { memoryMb, cpu, cores, system } = setting.machine;
  const spec2 = JSON.stringify(spec, null, 2);
  const memory = memoryWords(result);
  const rows: readonly (readonly [name: string, value: string | Html])[] = [
    ['Scenario', `${result.scenario}: ${result.title}`],
    ['Seed', html`<code>${seed === '' ? '(empty)' : seed}</code>`],
    ['Vehicles', `${formatNumber(devices)} ${kindWords[kind]}; ${formatCount(counts.connects, 'connect')}`],
    [
      'Time',
      `${formatNumber(durationS)} s of facts were asked for, ${formatNumber(elapsedS)} s were made; what waited was awaited until ${formatNumber(series.endMs / 1000)} s`,
    ],
    ['Broker', setting.target ?? 'one of the run’s own, from the same build'],
    ['Broker’s figures', sightWords(result)],
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
      : html`<h3>To repeat it</h3><pre class="command" tabindex="0" role="region" aria-label="Command to repeat the run"><code>${setting.command}</code></pre>`;
  const whole =
    spec2.length > specMost
      ? html`<p>The scenario is too long to be shown here; it is in the JSON of the run.</p>`
      : html`<details><summary>The whole scenario with all its defaults</summary><pre tabindex="0" role="region" aria-label="Scenario as JSON"><code>${spec2}</code></pre></details>`;
  return html`<section><h2>How it was run</h2><dl class="facts">${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>${command}${whole}</section>`;
}
