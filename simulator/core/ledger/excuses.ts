// Excuses: spans in which a fault struck a vehicle or its link, or the generator was late. Pure.
import type { Excuse, VehicleNotes } from './ledger-types.ts';

/** Both ends included, ms of the run. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Inputs of a lost board are read again some seconds after it is back. */
export const recoveryMs = 15_000;

/** True when an excuse and its recovery time overlap a span. */
export const meets = (excuse: Span, of: Span): boolean =>
  excuse.fromMs <= of.toMs && excuse.toMs + recoveryMs >= of.fromMs;

/** A span of UTC as one of the run. */
export const runSpan = ({ beganUtcMs }: VehicleNotes, { fromMs, toMs }: Span): Span => ({
  fromMs: fromMs - (beganUtcMs ?? 0),
  toMs: toMs - (beganUtcMs ?? 0),
});

/** True when a fault of these kinds, with its recovery time, overlaps a span of the run. */
export const isStruck = ({ excuses }: VehicleNotes, kinds: readonly Excuse['kind'][], of: Span): boolean =>
  excuses.some((excuse) => kinds.includes(excuse.kind) && meets(excuse, of));

/** Stall time of the generator within a span, ms: nothing in its process ran in that time. */
export const stalledMs = ({ stalls }: Pick<VehicleNotes, 'stalls'>, { fromMs, toMs }: Span): number =>
  stalls.reduce(
    (sum, stall) => sum + Math.max(0, Math.min(stall.toMs, toMs) - Math.max(stall.fromMs, fromMs)),
    0,
  );

/** A stall so long ago may still delay receiver and agent. */
const stallReachMs = 10_000;

/** Possible delay of receiver and agent in a span of UTC by stalls of the generator, ms. */
export const delayedMs = (vehicle: VehicleNotes, { fromMs, toMs }: Span): number =>
  stalledMs(vehicle, runSpan(vehicle, { fromMs: fromMs - stallReachMs, toMs }));
