// What the agent bench measures, as data: one shape for every figure, the table of them, and percentiles. A figure knows its
// goal and what ran beside it in the same minute; it judges nothing.

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

/** A section's way to say what it does; anything that takes longer than two seconds says it. */
export type Say = (text: string) => void;

const shown = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 });

function goalOf({ value, goal }: Figure): string {
  if (goal === undefined) return '';
  return `<= ${shown(goal)} ${value <= goal ? 'met' : 'missed'}`;
}

/** Value to baseline. */
export function ratioOf({ value, baseline }: Figure): number | null {
  return baseline === undefined || baseline.value === 0 ? null : value / baseline.value;
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
