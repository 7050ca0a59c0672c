// When which fault was there, and how the spans share the room above a plot. Pure.
import type { FaultKind } from './scenario-schema.ts';

export interface FaultSpan {
  readonly kind: FaultKind;
  /** Part of the fleet that it struck. */
  readonly share: number;
  /** Ms of the run, as it happened. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface LabelledSpan extends FaultSpan {
  /** Row of its label; null: there is no room for it. */
  readonly lane: number | null;
}

/**
 * Gives each span a row, so that no label lies over another.
 * @param of.widthMs time that a label of that many characters takes up; @param of.lanes rows that there are.
 */
export function placeLabels(
  spans: readonly FaultSpan[],
  of: { readonly lanes: number; widthMs(characters: number): number },
): readonly LabelledSpan[] {
  const freeMs = Array.from({ length: of.lanes }, () => Number.NEGATIVE_INFINITY);
  return [...spans]
    .sort((a, b) => a.fromMs - b.fromMs)
    .map((span) => {
      const lane = freeMs.findIndex((ms) => ms <= span.fromMs);
      if (lane >= 0) freeMs[lane] = span.fromMs + of.widthMs(span.kind.length);
      return { ...span, lane: lane < 0 ? null : lane };
    });
}
