// Two results side by side: each figure of both, and its change. It judges only requested figures, as better depends on the
// figure. Pure.
import { nearestWord } from '../../../src/core/nearest-word.ts';
import { type Figures, figureNames } from '../scenario/thresholds.ts';

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

/** A change that fails a comparison, such as `ingest.p99>1.2x`. */
export interface ChangeLimit {
  readonly text: string;
  readonly name: string;
  readonly operator: '>' | '<';
  readonly factor: number;
}

const limitPattern = /^\s*([A-Za-z0-9.]+)\s*([<>])\s*([0-9]+(?:\.[0-9]+)?)\s*x\s*$/;

/** One limit from its text. */
export function parseChangeLimit(
  text: string,
):
  | { readonly kind: 'ok'; readonly limit: ChangeLimit }
  | { readonly kind: 'fault'; readonly message: string } {
  const [, name = '', operator = '', digits = ''] = limitPattern.exec(text) ?? [];
  if (name === '') return { kind: 'fault', message: `"${text}" is not such as ingest.p99>1.2x` };
  if (!figureNames.includes(name)) {
    const near = nearestWord(name, figureNames) ?? '';
    return { kind: 'fault', message: `there is no figure "${name}"; did you mean "${near}"?` };
  }
  const limit = { text, name, operator: operator === '<' ? '<' : '>', factor: Number(digits) } as const;
  return { kind: 'ok', limit };
}

export interface FailedChange {
  readonly limit: ChangeLimit;
  /** Null: one of the two runs has no such ratio, which proves nothing. */
  readonly ratio: number | null;
}

/** The limits that the change from one run to the other goes beyond, and those that cannot be judged. */
export function failedChanges(
  limits: readonly ChangeLimit[],
  figures: readonly ComparedFigure[],
): readonly FailedChange[] {
  return limits.flatMap((limit) => {
    const { before, after, ratio } = figures.find(({ name }) => name === limit.name) ?? {
      before: null,
      after: null,
      ratio: null,
    };
    // From nothing to nothing is no change.
    const times = ratio ?? (before === 0 && after === 0 ? 1 : null);
    const isBeyond = times === null || (limit.operator === '>' ? times > limit.factor : times < limit.factor);
    return isBeyond ? [{ limit, ratio: times }] : [];
  });
}
