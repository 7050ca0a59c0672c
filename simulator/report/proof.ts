// The section on what a run proved: every check with its finding, and the omissions of the run.
import { type FactKind, factRules, type UnjudgedReason, unjudgedReasons } from '../core/ledger/facts.ts';
import { breachKinds, breachTexts } from '../core/ledger/ledger-types.ts';
import { type Gap, gapsOf, uncheckedOf } from '../core/result/gaps.ts';
import { breachTitles } from '../core/result/verdict.ts';
import { exerciseTexts } from '../core/scenario/exercises.ts';
import { formatCount, formatNumber } from '../core/text/number-text.ts';
import { formatBreach } from '../run/measure/report.ts';
import type { RunResult } from '../run/measure/result.ts';
import { type Html, html, nothing, pill, type Section, short, table } from './html.ts';

/** More breaches than this are listed in the JSON only. */
const breachesMost = 100;

const reasonTexts: Readonly<Record<UnjudgedReason, string>> = {
  late: 'too late in the run',
  brief: 'too short to be seen',
  fault: 'during a fault of the hardware',
  stall: 'in a stall of the generator',
};

/** Such as `2 too late in the run, 1 in a stall of the generator`; '' without any. */
export const reasonsText = (reasons: Readonly<Record<UnjudgedReason, number>>): string =>
  unjudgedReasons
    .filter((reason) => reasons[reason] > 0)
    .map((reason) => `${formatNumber(reasons[reason])} ${reasonTexts[reason]}`)
    .join(', ');

const factsText = (kinds: readonly FactKind[]): string =>
  kinds.map((kind) => factRules[kind].words).join(', ');

function gapText(gap: Gap): string {
  switch (gap.kind) {
    case 'interrupted':
      return `The end of the run: ${gap.signal} interrupted it, so nothing was read back besides the records of the fleet, and no need of the scenario was judged.`;
    case 'tracker':
      return 'Relays, sensors and the road: a light tracker has none. Its records are compared with what it sent, and with nothing else.';
    case 'commands':
      return 'Commands: none was given. That no relay moved without one was looked at.';
    case 'cutsWaiting':
      return `${formatCount(gap.count, 'cut')} that waited for the approval of a second user and did not reach a vehicle.`;
    case 'unjudged':
      return `Facts without an event that could not be judged: ${reasonsText(gap.reasons)}.`;
    case 'facts':
      return `Facts that did not happen in this run: ${factsText(gap.absent)}.`;
    case 'stream':
      return gap.why === 'silent'
        ? 'The live stream: it showed no event of the run.'
        : 'The live stream, event by event: the service left some out and said so, or they were too many to be counted.';
    case 'vehicles':
      return `History, present and exports of ${formatNumber(gap.of - gap.read)} of ${formatCount(gap.of, 'vehicle')}: those of ${formatNumber(gap.read)} were read, evenly spread. The records of all were.`;
    case 'otherAccount':
      return 'Access by another account: it is tried at a broker of the run’s own only.';
    case 'clock':
      return 'When the service received what: it may read another clock than this machine.';
    case 'metrics':
      return 'CPU, memory, delays and errors of the broker.';
    case 'exercise':
      return `Of the account: ${exerciseTexts[gap.name]}${gap.reason === '' ? '' : `: ${gap.reason}`}.`;
    case 'faults':
      return `Faults that did not strike in this run: ${gap.absent.join(', ')}.`;
  }
}

/** What no run looks at yet, as simulator/README.md says. */
const never =
  'No run looks at these: e-mail, web push, login providers, updates of units, and a cluster of brokers.';

function breachList({ truth, breaches }: RunResult): Html {
  const total = breachKinds.reduce((sum, kind) => sum + truth[kind], 0);
  if (total === 0) return nothing;
  const listed = breaches.slice(0, breachesMost);
  const more = total - listed.length;
  return html`<details open><summary>The facts, events and commands concerned</summary><ol class="found">${listed.map((breach) => html`<li>${short(formatBreach(breach))}</li>`)}</ol>${more > 0 ? html`<p>… and ${formatNumber(more)} more: see the JSON of the run.</p>` : nothing}</details>`;
}

export function proofSection(result: RunResult): Section {
  const { truth, counts } = result;
  const unchecked = uncheckedOf(result);
  const rows = breachKinds.map((kind) => {
    const isUnchecked = unchecked.has(kind) && truth[kind] === 0;
    const found = isUnchecked
      ? pill('open', 'not looked at')
      : pill(truth[kind] === 0 ? 'good' : 'bad', formatNumber(truth[kind]));
    return [breachTitles[kind], found, breachTexts[kind]];
  });
  const [of, all] = [breachKinds.length - unchecked.size, breachKinds.length];
  const checked = of === all ? `All ${all} checks` : `${of} of ${all} checks`;
  const judged = `${formatCount(counts.events, 'event was', 'events were')} stored on vehicles and ${formatNumber(counts.shown)} came back. ${checked} had something to look at.`;
  const caption = 'What must never happen, and how often it did';
  const heads = ['check', 'found', 'means'];
  const gaps = [...gapsOf(result).map(gapText), never].map((words) => html`<li>${words}</li>`);
  const body = html`<p>${judged}</p>${table({ caption, heads, rows, numbersFrom: heads.length })}${breachList(result)}<h3>Not looked at</h3><ul class="gaps">${gaps}</ul>`;
  return { id: 'proof', title: 'What was proven, and what was not looked at', body };
}
