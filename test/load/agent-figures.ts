// What the agent bench measures, as data: one shape for every figure, the table of them, and percentiles. A figure knows its
// goal and what ran beside it in the same minute; it judges nothing.

import { availableParallelism, loadavg } from 'node:os';

export interface Figure {
  readonly section: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the same machine gives in the same minute, or what others need for the same. */
  readonly baseline?: { readonly name: string; readonly value: number };
  /** At most this. */
  readonly goal?: number;
}

/** One figure in a row; the fourth value is that of the baseline. */
type FigureRow = readonly [
  name: string,
  unit: string,
  value: number,
  beside?: number | undefined,
  goal?: number | undefined,
];

/** Figures of one section with one baseline. */
export const figuresFrom = (
  section: string,
  baseline: string,
  rows: readonly FigureRow[],
): readonly Figure[] =>
  rows.map(([name, unit, value, beside, goal]) => ({
    section,
    name,
    unit,
    value,
    ...(beside === undefined ? {} : { baseline: { name: baseline, value: beside } }),
    ...(goal === undefined ? {} : { goal }),
  }));

/** A section's way to say what it does; anything that takes longer than two seconds says it. */
export type Say = (text: string) => void;

const shown = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 });

function goalOf({ value, goal }: Figure): string {
  if (goal === undefined) return '';
  return `<= ${shown(goal)} ${value <= goal ? 'met' : 'missed'}`;
}

/** Value to baseline. */
function ratioOf({ value, baseline }: Figure): number | null {
  return baseline === undefined || baseline.value === 0 ? null : value / baseline.value;
}

/** Figures with the machine that they are of. */
export interface BenchResult {
  readonly figures: readonly (Figure & { readonly ratio: number | null })[];
  readonly node: string;
  readonly cores: number;
  /** Mean number of running processes over the minute before and after: more than one of ours means that others ran. */
  readonly loadBefore: number;
  readonly loadAfter: number;
}

export async function onMachine(measure: () => Promise<readonly Figure[]>): Promise<BenchResult> {
  const [loadBefore = 0] = loadavg();
  const figures = (await measure()).map((figure) => ({ ...figure, ratio: ratioOf(figure) }));
  const [loadAfter = 0] = loadavg();
  return { figures, node: process.version, cores: availableParallelism(), loadBefore, loadAfter };
}

/** The figures as lines for people. */
export function formatFigures(figures: readonly Figure[]): string {
  const row = (cells: readonly string[]): string => {
    const [section = '', name = '', value = '', unit = '', ratio = '', baseline = '', goal = ''] = cells;
    return [
      section.padEnd(10),
      name.padEnd(46),
      value.padStart(10),
      unit.padEnd(8),
      ratio.padStart(8),
      baseline.padEnd(44),
      goal,
    ]
      .join(' ')
      .trimEnd();
  };
  const rows = figures.map((figure) =>
    row([
      figure.section,
      figure.name,
      shown(figure.value),
      figure.unit,
      ratioOf(figure)?.toFixed(2) ?? '',
      figure.baseline === undefined ? '' : `to ${shown(figure.baseline.value)}: ${figure.baseline.name}`,
      goalOf(figure),
    ]),
  );
  return [row(['section', 'figure', 'value', 'unit', 'ratio', 'baseline', 'goal']), ...rows].join('\n');
}

/** The value below which `share` (0 to 1) of the values lie; 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
