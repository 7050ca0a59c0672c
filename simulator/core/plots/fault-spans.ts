// A span in which a fault of the scenario struck. Type only.
import type { FaultKind } from '../scenario/scenario-schema.ts';

export interface FaultSpan {
  readonly kind: FaultKind;
  /** Part of the fleet that it struck. */
  readonly share: number;
  /** Ms of the run, as it happened. */
  readonly fromMs: number;
  readonly toMs: number;
}
