// The figures of the ingest bench as lines for people. It judges nothing.
import type { HistoryStart, IngestBenchResult, IngestFigure } from './ingest-bench.ts';

const columns = ['events/s', 'p50 ms', 'p99 ms', 'highest', 'cpu us', 'db us', 'load us', 'failed'];
const row = (section: string, side: string, cells: readonly string[]): string =>
  [section.padEnd(44), side.padEnd(11), ...cells.map((cell) => cell.padStart(9))].join(' ');

function rowsOf({ section, sides, ratios }: IngestFigure): readonly string[] {
  return [
    ...Object.entries(sides).map(([side, one]) =>
      row(section, side, [
        Math.round(one.eventsPerS).toLocaleString('en'),
        ...[one.p50Ms, one.p99Ms, one.highestMs].map((ms) => ms.toFixed(1)),
        ...[one.cpuUs, one.databaseUs, one.loadUs].map((us) => us.toFixed(2)),
        String(one.failures),
      ]),
    ),
    ...ratios.map(
      ({ name, value, cpu }) =>
        `${''.padEnd(44)} ${name}: ${value.toFixed(2)} in events/s, ${cpu.toFixed(2)} in CPU time`,
    ),
  ];
}

function historyOf({ events, bytes, copyMs, firstMs, secondMs }: HistoryStart): string {
  const size = `${events.toLocaleString('en')} events, ${(bytes / 2 ** 30).toFixed(1)} GiB`;
  const starts = `first start ${(firstMs / 1000).toFixed(1)} s, second ${(secondMs / 1000).toFixed(1)} s`;
  return `history: ${size}, copied in ${(copyMs / 1000).toFixed(1)} s, ${starts}`;
}

/** The figures as a table. */
export function formatIngest(result: IngestBenchResult): string {
  const { figures, history, store, loadBefore, loadAfter } = result;
  const load = `load of the machine ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after`;
  return [
    row('section', 'side', columns),
    ...figures.flatMap(rowsOf),
    '',
    ...(history === null ? [] : [historyOf(history)]),
    `${store}, ${load}`,
  ].join('\n');
}
