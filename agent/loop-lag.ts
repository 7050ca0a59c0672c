// How late timers fire: the sign of a blocked event loop or an overloaded machine. It costs four timers a second and
// runs only on request; it decides nothing.
import type { Cancel, Clock } from '../src/ports.ts';

const sampleMs = 250;
/** Ten seconds. */
const samplesKept = 40;

export interface LagMeter {
  /** The longest delay of the last ten seconds, in ms; that of a timer that is still due counts. */
  worstMs(): number;
  close(): void;
}

export function createLagMeter(clock: Clock): LagMeter {
  let cancel: Cancel = () => undefined;
  let dueMs = 0;
  let lags: number[] = [];
  const again = (): void => {
    dueMs = clock.monoMs() + sampleMs;
    cancel = clock.after(sampleMs, () => {
      lags = [...lags, clock.monoMs() - dueMs].slice(-samplesKept);
      again();
    });
  };
  again();
  return {
    worstMs: () => Math.max(0, clock.monoMs() - dueMs, ...lags),
    close: () => cancel(),
  };
}
