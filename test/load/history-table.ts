// The figures of the history bench as lines for people. It judges nothing.
import type { HistoryBenchResult } from './history-bench.ts';
import type { BesideFigure } from './history-beside.ts';
import type { CommitFigure, DropFigure } from './history-drop.ts';

const number = (value: number): string => value.toFixed(2).padStart(10);
const row = (name: string, cells: readonly string[]): string =>
  [name.padEnd(44), ...cells.map((cell) => cell.padStart(10))].join(' ');

const commitRow = (one: CommitFigure): string =>
  row(one.while, [...[one.p50Ms, one.p99Ms, one.mostMs].map(number), String(one.commits)]);

function dropRows(one: DropFigure): readonly string[] {
  const pieces = Object.entries(one.pieces).map(([kind, ms]) => `${kind} ${ms.toFixed(0)} ms`);
  const share = `${one.removed.toLocaleString('en')} of them in ${one.tookS.toFixed(0)} s${one.isDone ? '' : ', not done'}`;
  return [commitRow(one), `  ${share}; longest of each kind: ${pieces.join(', ')}`];
}

const besideRow = (one: BesideFigure): string =>
  row(one.while, [
    Math.round(one.eventsPerS).toLocaleString('en'),
    ...[one.p50Ms, one.p99Ms, one.highestMs].map(number),
    one.ratio === null ? '' : one.ratio.toFixed(2),
    one.toFloor === null ? '' : one.toFloor.toFixed(2),
    String(one.answers),
    String(one.failures),
  ]);

/** The figures as a table. */
export function formatHistory(result: HistoryBenchResult): string {
  const { events, baseline, slices, reads, summary, commits, drops, beside, loadBefore, loadAfter } = result;
  const lines: string[] = [];
  if (reads.length > 0) {
    const [short, long] = [baseline, events].map((count) => count.toLocaleString('en'));
    lines.push(`${short} events against ${long}${slices > 0 ? ` in ${slices} slices` : ''}`);
    lines.push(row('read', ['short ms', 'long ms', 'ratio', 'cpu short', 'cpu long']));
    for (const { read, shortMs, longMs, ratio, shortCpuMs, longCpuMs } of reads)
      lines.push(row(read, [shortMs, longMs, ratio, shortCpuMs, longCpuMs].map(number)));
    lines.push('');
  }
  if (summary !== null) {
    const { vehicles, days, bareMs, unstored, stored, storingMs } = summary;
    lines.push(row(`summary of ${vehicles} vehicles, ${days} days`, ['rows ms', 'ms', 'ratio', 'cpu ms']));
    for (const [name, { ms, ratio, cpuMs }] of Object.entries({ unstored, stored }))
      lines.push(row(`  days ${name}`, [bareMs, ms, ratio, cpuMs].map(number)));
    lines.push(`  CPU to store them ${number(storingMs)} ms`, '');
  }
  if (commits.length + drops.length > 0) {
    lines.push(row('commit of one row while', ['p50 ms', 'p99 ms', 'most ms', 'commits']));
    lines.push(...commits.map(commitRow), ...drops.flatMap(dropRows), '');
  }
  if (beside.length > 0) {
    const heads = ['events/s', 'p50 ms', 'p99 ms', 'most ms', 'p99 ratio', 'to floor', 'answers', 'failed'];
    lines.push(row('acknowledgement while', heads), ...beside.map(besideRow), '');
  }
  lines.push(`load of the machine ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after`);
  return lines.join('\n');
}
