// Two results side by side: each figure of both, and by how much it changed. Pure; it judges nothing, because what is better
// depends on the figure.
import type { Figures } from './thresholds.ts';

export interface ComparedFigure {
  readonly name: string;
  /** Null: not measured in that run. */
  readonly before: number | null;
  readonly after: number | null;
  /** `after` by `before`; null where there is no such ratio. */
  readonly ratio: number | null;
}

/** Every figure that one of the two has, in the order of the first. */
export function compareFigures(before: Figures, after: Figures): readonly ComparedFigure[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.map((name) => {
    const old = before[name] ?? null;
    const now = after[name] ?? null;
    return {
      name,
      before: old,
      after: now,
      ratio: old === null || now === null || old === 0 ? null : now / old,
    };
  });
}
