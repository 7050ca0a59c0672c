// The clock of a replay: one moment for map, plot and slider. It moves outside of React's state, so that playing redraws only them.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { createValue, type Value } from '../../../state/value.ts';

/** Seconds of the vehicle in a second of playing. */
export const paces = [1, 10, 60, 300, 1200] as const;
export type Pace = (typeof paces)[number];

/** The address gets a moment once it has stood for this long. */
const restMs = 300;
const calmMs = 1000;

export interface ReplayClock {
  readonly time: Value<number>;
  readonly isPlaying: boolean;
  readonly pace: Pace;
  setPace(pace: Pace): void;
  /** Goes to a moment and stops there. */
  seek(timeS: number): void;
  toggle(): void;
}

interface ReplayPeriod {
  readonly fromS: number;
  readonly toS: number;
  /** Where it begins; null: at the beginning. */
  readonly startS: number | null;
  /** Stretches without data; playing goes over them at once. */
  readonly gaps: readonly { readonly fromS: number; readonly toS: number }[];
  /** A moment that stands. */
  onRest(timeS: number): void;
}

/** Calls with the seconds since the call before until the returned function is called; once a second where motion is unwanted. */
function tick(move: (seconds: number) => boolean): () => void {
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  let lastMs = performance.now();
  let frame = 0;
  const step = (): void => {
    const nowMs = performance.now();
    const goesOn = move((nowMs - lastMs) / 1000);
    lastMs = nowMs;
    if (goesOn) plan();
  };
  const plan = (): void => {
    frame = isCalm ? window.setTimeout(step, calmMs) : requestAnimationFrame(step);
  };
  plan();
  return () => (isCalm ? clearTimeout(frame) : cancelAnimationFrame(frame));
}

export function useReplay({ fromS, toS, startS, gaps, onRest }: ReplayPeriod): ReplayClock {
  const first = useRef(startS);
  const time = useMemo(
    () => createValue(Math.min(toS, Math.max(fromS, first.current ?? fromS))),
    [fromS, toS],
  );
  const [isPlaying, setPlaying] = useState(false);
  const [pace, setPace] = useState<Pace>(60);
  const rest = useRef(onRest);
  rest.current = onRest;
  useEffect(() => {
    if (!isPlaying) return undefined;
    return tick((seconds) => {
      const wanted = time.get() + seconds * pace;
      const gap = gaps.find((one) => wanted > one.fromS && wanted < one.toS);
      const next = Math.min(toS, gap?.toS ?? wanted);
      time.set(next);
      if (next >= toS) setPlaying(false);
      return next < toS;
    });
  }, [isPlaying, pace, time, toS, gaps]);
  useEffect(() => {
    if (isPlaying) return undefined;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const restSoon = (): void => {
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => rest.current(Math.round(time.get())), restMs);
    };
    // What playing came to is kept as well.
    if (time.get() !== fromS) restSoon();
    const leave = time.subscribe(restSoon);
    return () => {
      leave();
      if (timer !== null) clearTimeout(timer);
    };
  }, [isPlaying, time, fromS]);
  const seek = useCallback(
    (timeS: number): void => {
      setPlaying(false);
      time.set(Math.min(toS, Math.max(fromS, timeS)));
    },
    [time, fromS, toS],
  );
  return {
    time,
    isPlaying,
    pace,
    setPace,
    seek,
    toggle() {
      if (!isPlaying && time.get() >= toS) time.set(fromS);
      setPlaying(!isPlaying);
    },
  };
}
