// The sections on what came of facts and commands, on errors by kind, and on the figures of broker and generator.
import type { CommandOutcome, CommandTimes } from '../core/ledger/command-outcomes.ts';
import { factKinds, factRules, unjudgedOf } from '../core/ledger/facts.ts';
import { type BrokerError, brokerErrors } from '../core/series/broker-metrics-text.ts';
import type { ColumnName } from '../core/series/series-columns.ts';
import { formatNumber } from '../core/text/number-text.ts';
import type { RunResult } from '../run/measure/result.ts';
import { html, nothing, type Section, short, table } from './html.ts';
import { sightText, summarise } from './plots.ts';
import { reasonsText } from './proof.ts';

export function factSection({ facts }: RunResult): Section {
  const rows = factKinds
    .filter((kind) => facts[kind].happened > 0)
    .map((kind) => {
      const { happened, found, unjudged } = facts[kind];
      const open = unjudgedOf(facts[kind]);
      const counts = [happened, found, happened - found - open, open].map(formatNumber);
      return [factRules[kind].words, ...counts, reasonsText(unjudged)];
    });
  const heads = ['fact', 'happened', 'with its event', 'without', 'not judged', 'why not'];
  const body =
    rows.length === 0
      ? html`<p>Nothing happened to a vehicle in this run.</p>`
      : table({ caption: 'What happened to vehicles, and whether an event reported it', heads, rows });
  return { id: 'facts', title: 'Facts by kind', body };
}

const commandTexts: Readonly<Record<CommandOutcome['feature'], Readonly<Record<'0' | '1', string>>>> = {
  enginecutoff: { '1': 'Engine: cut', '0': 'Engine: restore' },
  cargoaccess: { '1': 'Cargo: unlock', '0': 'Cargo: lock' },
};

const timesText = (times: CommandTimes | null): readonly string[] =>
  times === null ? ['–', '–', '0'] : [times.p50, times.max, times.count].map(formatNumber);

export function commandSection({ commands }: RunResult): Section {
  const [id, title] = ['commands', 'Commands'];
  if (commands.length === 0) return { id, title, body: html`<p>None was given.</p>` };
  const rows = commands.map(({ feature, state, requested, ends, relayMs, reportMs }) => [
    commandTexts[feature][state],
    formatNumber(requested),
    Object.entries(ends)
      .map(([end, count]) => `${formatNumber(count)} ${end}`)
      .join(', '),
    ...timesText(relayMs),
    ...timesText(reportMs),
  ]);
  const of = (what: string): readonly string[] => [`${what} p50, ms`, 'max, ms', 'samples'];
  const heads = ['command', 'given', 'ended', ...of('relay'), ...of('report')];
  const caption =
    'From the request until the relay moved, and until the vehicle had its report of the end on disk. A cut waits until it is safe';
  return { id, title, body: table({ caption, heads, rows }) };
}

const brokerErrorTexts: Readonly<Record<BrokerError, string>> = {
  connectionsRefused: 'MQTT connections refused',
  publishesRefused: 'MQTT messages to topics that are not the vehicle’s',
  connectionsUnread: 'MQTT connections ended because they were not read',
  payloadsQuarantined: 'Payloads that could not be read',
  payloadsNotStored: 'Payloads that were not stored, so that they come again',
  commitsFailed: 'Commits that failed',
  requestsRefused: 'HTTP requests refused (4xx)',
  requestsFailed: 'HTTP requests failed (5xx)',
};

export function errorSection(result: RunResult): Section {
  const { counts, devices, refusedCommands, failedStarts, approvals, brokerSight } = result;
  const { seen, missed, reason, errors } = brokerSight;
  const run: readonly (readonly [kind: string, count: number, last: string])[] = [
    ['Vehicles that did not start', failedStarts.count, failedStarts.last],
    [
      'Connections after the first of each vehicle, by faults too',
      Math.max(0, counts.connects - devices),
      '',
    ],
    ['Events sent without an acknowledgement, or again', Math.max(0, counts.sent - counts.acknowledged), ''],
    ['Commands that the service refused', refusedCommands.count, refusedCommands.last],
    ['Cuts without the approval of a second user', approvals.waiting, ''],
    ['Reads of the broker’s metrics without an answer', missed, reason],
  ];
  const broker = brokerErrors.map((error) => [brokerErrorTexts[error], errors[error], ''] as const);
  const rowsOf = (list: typeof run) =>
    list.map(([kind, count, last]) => [kind, formatNumber(count), count === 0 ? '' : short(last)]);
  const heads = ['error', 'how many', 'last reason'];
  const ofBroker =
    seen === 0
      ? html`<p class="soft">${sightText(result)}</p>`
      : table({
          caption: 'Counted by the broker during the run',
          heads: heads.slice(0, 2),
          rows: rowsOf(broker).map((row) => row.slice(0, 2)),
        });
  const body = html`${table({ caption: 'Seen by the simulator', heads, rows: rowsOf(run) })}${ofBroker}`;
  return { id: 'errors', title: 'Errors by kind', body };
}

const machineColumns: readonly (readonly [column: ColumnName, label: string])[] = [
  ['brokerCpu', 'Broker: CPU, % of one core'],
  ['brokerMb', 'Broker: resident memory, MiB'],
  ['brokerLagMs', 'Broker: event loop delay p99, ms'],
  ['brokerQueue', 'Broker: writes that wait for a commit'],
  ['commitMs', 'Broker: mean time of a commit, ms'],
  ['commitSize', 'Broker: statements in a commit'],
  ['generatorCpu', 'Generator: CPU, % of one core'],
  ['generatorMb', 'Generator: resident memory, MiB'],
  ['lagMs', 'Generator: greatest event loop delay, ms'],
];

export function machineSection(result: RunResult): Section {
  const rows = machineColumns.flatMap(([column, label]) => {
    const summary = summarise(result.series.columns[column] ?? []);
    if (summary === null) return [];
    const { first, last, mean, most } = summary;
    return [[label, ...[first, last, mean, most].map(formatNumber)]];
  });
  const heads = ['figure', 'first', 'last', 'mean', 'max'];
  const shown = rows.length === 0 ? nothing : table({ caption: 'Over the run', heads, rows });
  const body = html`${shown}<p class="soft">${sightText(result)}</p>`;
  return { id: 'machines', title: 'Broker and generator', body };
}
