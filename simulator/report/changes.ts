// The sections of a report on changes during a run: the steps of a ramp with its knee, and the interventions through the control
// socket.
import { formatIntervention } from '../core/live/control-requests.ts';
import { formatLevel, type RampStep } from '../core/scenario/ramp.ts';
import { formatMoment, formatNumber } from '../core/text/number-text.ts';
import type { RunResult } from '../run/measure/result.ts';
import { type Html, html, nothing, pill, type Section, table } from './html.ts';

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
    // The knee names the thresholds that did not hold.
    failures.length === 0 ? pill('good', 'good') : pill('bad', 'bad'),
  ];
}

/** The steps and the knee; null for a run without a ramp. */
export function rampSection({ ramp }: RunResult): Section | null {
  if (ramp === null) return null;
  const { of, steps, knee } = ramp;
  const caption = 'Every step as it was measured, after it had settled';
  const rows = steps.slice(-stepsMost).map((step) => stepRow(of, step));
  const before = steps.length - rows.length;
  const rest =
    before > 0
      ? html`<p>… and ${formatNumber(before)} good ones before: see the JSON of the run.</p>`
      : nothing;
  const shown = rows.length === 0 ? nothing : table({ caption, heads, rows });
  return { id: 'ramp', title: 'Ramp', body: html`<p>Knee: ${knee.words}.</p>${shown}${rest}` };
}

/** The interventions; null without any. */
export function interventionsSection({ interventions }: RunResult): Section | null {
  if (interventions.length === 0) return null;
  const rows = interventions
    .slice(0, interventionsMost)
    .map((intervention) => [formatMoment(intervention.atS * msPerS), formatIntervention(intervention)]);
  const more = interventions.length - rows.length;
  const rest = more > 0 ? html`<p>… and ${formatNumber(more)} more: see the JSON of the run.</p>` : nothing;
  const shown = table({
    caption: 'Interventions',
    heads: ['moment', 'change'],
    rows,
    numbersFrom: 2,
  });
  const body = html`<p>This run is not the scenario alone.</p>${shown}${rest}`;
  return { id: 'interventions', title: 'Changed during the run', body };
}
