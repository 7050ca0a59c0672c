// Watches a stream for silence. A half-open connection never ends by itself: only the missing sign of life shows it.
import { type Moment, type Silence, silenceOf } from '../../src/core/silence.ts';

export const momentNow = (): Moment => ({ monoMs: performance.now(), wallMs: Date.now() });

const lookMs = 250;
const looks = new Set<() => void>();

/** Judges all streams at this moment: after a sleep the timers are late. */
export function lookAtStreams(): void {
  for (const look of looks) look();
}

interface SilenceHandlers {
  /** A stream that had begun is silent; once until something comes again. */
  onSilent(): void;
  /** The connection is to be given up. */
  onDead(): void;
}

export interface SilenceWatch {
  /** Something came. @returns false when it came too late: what is read after a sleep may be older than the sleep. */
  renew(): boolean;
  /** From now on nothing is read; the service is not silent while its reader is busy. */
  hold(): void;
  /** It is read again. */
  release(): void;
  stop(): void;
}

/** Begins with the request, so that one without an answer is given up too. */
export function watchSilence({ onSilent, onDead }: SilenceHandlers): SilenceWatch {
  let last = momentNow();
  let hasBegun = false;
  let isHeld = false;
  let judged: Silence = 'none';
  const look = (): void => {
    const found = silenceOf(last, momentNow());
    if (isHeld || found === judged || judged === 'dead') return;
    if (judged === 'none' && hasBegun) onSilent();
    judged = found;
    if (found === 'dead') onDead();
  };
  const timer = setInterval(look, lookMs);
  looks.add(look);
  return {
    renew() {
      look();
      if (judged === 'dead') return false;
      [last, hasBegun, judged] = [momentNow(), true, 'none'];
      return true;
    },
    hold() {
      isHeld = true;
    },
    release() {
      [last, isHeld] = [momentNow(), false];
    },
    stop() {
      clearInterval(timer);
      looks.delete(look);
    },
  };
}
