// Feeds the frames of an adapter to the decoder, counts them, and says when the reading is to be passed on. Time comes with the frames.
import { busLimits } from '../core/bus/bus-limits.ts';
import type { BusAdapter, BusReading } from '../core/bus/bus-reading.ts';
import { createBusValues } from '../core/bus/bus-values.ts';
import type { SlcanLines } from '../core/bus/slcan-line.ts';

/** The reading is passed on this often while frames come, and while they speak for movement or a running engine, ms. */
const passOn = { calmMs: 1000, activeMs: 200 } as const;

type Counts = Pick<BusAdapter, 'rejected' | 'remotes' | 'skipped' | 'framesPerS'>;

export interface BusRecorder {
  /** Takes lines; true when the reading is to be passed on now. */
  take(lines: SlcanLines, atMs: number): boolean;
  /** Frames since the decoder began. */
  frames(): number;
  /** When the newest one came, monotonic ms; null: none has. */
  lastFrameMs(): number | null;
  /** Begins anew, after another opening. */
  restart(): void;
  counts(nowMs: number): Counts;
  view(nowMs: number): BusReading['view'];
}

/** A recorder that has seen no frame. */
export function createBusRecorder(): BusRecorder {
  let values = createBusValues();
  let rejected = 0;
  let remotes = 0;
  let skipped = 0;
  let frames = 0;
  let lastMs: number | null = null;
  /** The second that is being counted, and the count of the one before. */
  let second = { startMs: 0, frames: 0, before: 0 };
  let passedMs = Number.NEGATIVE_INFINITY;
  let wasMoving = false;
  let wasRunning = false;

  const countSecond = (atMs: number): void => {
    const ageMs = atMs - second.startMs;
    if (ageMs < 1000) return;
    second = {
      startMs: atMs,
      frames: 0,
      before: ageMs < 2000 ? Math.round((second.frames * 1000) / ageMs) : 0,
    };
  };
  return {
    take(lines, atMs) {
      rejected += lines.rejected;
      remotes += lines.remotes;
      countSecond(atMs);
      for (const frame of lines.frames) {
        second.frames += 1;
        frames += 1;
        if (second.frames > busLimits.framesPerS) skipped += 1;
        else values.take(frame, atMs);
      }
      if (lines.frames.length === 0) return false;
      lastMs = atMs;
      const { movement, engine } = values.activity(atMs);
      const [isMoving, isRunning] = [movement !== null, engine !== null];
      const isChange = isMoving !== wasMoving || isRunning !== wasRunning;
      const everyMs = isMoving || isRunning ? passOn.activeMs : passOn.calmMs;
      if (!isChange && atMs - passedMs < everyMs) return false;
      wasMoving = isMoving;
      wasRunning = isRunning;
      passedMs = atMs;
      return true;
    },
    frames: () => frames,
    lastFrameMs: () => lastMs,
    restart() {
      values = createBusValues();
      frames = 0;
      lastMs = null;
      wasMoving = false;
      wasRunning = false;
    },
    counts(nowMs) {
      countSecond(nowMs);
      return { rejected, remotes, skipped, framesPerS: second.before };
    },
    view: (nowMs) => values.view(nowMs),
  };
}
