// The parts of a report on what was changed while a run went on: the steps of a ramp with its knee, and what people did by hand. They show
// what was measured and judge nothing.
import { formatIntervention } from '../core/control.ts';
import { formatMoment, formatNumber } from '../core/plot-scale.ts';
import { formatLevel, type RampStep } from '../core/ramp.ts';
import type { RunResult } from '../run/result.ts';
import { type Html, html, nothing, pill, table } from './html.ts';

/** More than this are listed in the JSON only. */
const interventionsMost = 50;
const stepsMost = 20;
const msPerS = 1000;
const percent = 100;

const heads = [
  'step',
  'measured',
  'events/s',
  'ingest p99, ms',
  'connected',
  'waiting',
  'generator, % of a core',
  'result',
];

function stepRow(of: 'devices' | 'rate', step: RampStep): readonly (string | Html)[] {
  const { fromS, toS, figures, online, waiting, generatorCore, failures } = step;
  const figure = (name: string): string => {
    const value = figures[name];
    return value === undefined ? 'not measured' : formatNumber(value);
  };
  return [
    formatLevel(of, step.level),
    `${formatMoment(fromS * msPerS)} to ${formatMoment(toS * msPerS)}`,
    figure('events.rate'),
    figure('ingest.p99'),
    formatNumber(online),
    formatNumber(waiting),
    `${Math.round(generatorCore * percent)} %`,
    // Which thresholds did not hold says the knee.
    failures.length === 0 ? pill(true, 'good') : pill(false, 'bad'),
  ];
}

/** Up to which load it was good; nothing of a run without a ramp. */
export function rampPart({ ramp }: RunResult): Html {
  if (ramp === null) return nothing;
  const { of, steps, knee } = ramp;
  const caption = 'Every step as it was measured, after it had settled';
  const rows = steps.slice(-stepsMost).map((step) => stepRow(of, step));
  const before = steps.length - rows.length;
  const rest =
    before > 0
      ? html`<p>… and ${formatNumber(before)} good ones before: see the JSON of the run.</p>`
      : nothing;
  const shown = rows.length === 0 ? nothing : table({ caption, heads, rows });
  return html`<section id="ramp"><h2>Ramp</h2><p>Knee: ${knee.words}.</p>${shown}${rest}</section>`;
}

/** What people changed; nothing where nobody did. */
export function interventionsPart({ interventions }: RunResult): Html {
  if (interventions.length === 0) return nothing;
  const rows = interventions
    .slice(0, interventionsMost)
    .map((intervention) => [formatMoment(intervention.atS * msPerS), formatIntervention(intervention)]);
  const more = interventions.length - rows.length;
  const rest = more > 0 ? html`<p>… and ${formatNumber(more)} more: see the JSON of the run.</p>` : nothing;
  const shown = table({
    caption: 'What was asked for, and when',
    heads: ['moment', 'change'],
    rows,
    numbersFrom: 2,
  });
  return html`<section id="interventions"><h2>Changed by hand</h2><p>This run is not the scenario alone.</p>${shown}${rest}</section>`;
}
