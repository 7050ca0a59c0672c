// Latencies of a run in histograms of fixed size, and the event loop delay of the generator: an overloaded generator measures
// itself, not the system.
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Cancel, Clock } from '../../../src/ports.ts';
import { type Figures, type LatencyName, latencyNames } from '../../core/scenario/thresholds.ts';

interface Band {
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  readonly mean: number;
  readonly count: number;
}

export interface Latencies {
  record(name: Exclude<LatencyName, 'lag'>, ms: number): void;
  /** Greatest event loop delay of a worker process in an interval; once used, `lag` is that of the workers only. */
  recordLag(ms: number): void;
  /** Null: nothing was measured. */
  band(name: LatencyName): Band | null;
  figures(): Figures;
  close(): void;
}

const resolutionMs = 10;
const usPerMs = 1000;
const nsPerMs = 1e6;

interface Histogram {
  percentile(percent: number): number;
  readonly max: number;
  readonly mean: number;
  readonly count: number;
}

function bandOf(histogram: Histogram, toMs: (value: number) => number): Band | null {
  if (histogram.count === 0) return null;
  const at = (percent: number): number => toMs(histogram.percentile(percent));
  return {
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    p999: at(99.9),
    max: toMs(histogram.max),
    mean: toMs(histogram.mean),
    count: histogram.count,
  };
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100;

/** Beyond this, simulated boards answer too late for their agents. */
const stallMs = 250;
const checkMs = 50;

/** Reports every interval in which the event loop was blocked. @returns the way to stop. */
export function watchStalls(clock: Clock, onStall: (fromMs: number, toMs: number) => void): Cancel {
  let timer: Cancel = () => undefined;
  let expectedMs = clock.monoMs() + checkMs;
  const check = (): void => {
    const nowMs = clock.monoMs();
    if (nowMs - expectedMs > stallMs) onStall(expectedMs, nowMs);
    expectedMs = nowMs + checkMs;
    timer = clock.after(checkMs, check);
  };
  timer = clock.after(checkMs, check);
  return () => timer();
}

export interface LagMeter {
  /** Greatest delay since the last call. */
  readMs(): number;
  close(): void;
}

const lagEveryMs = 10;

/** Measures how late timers of this process fire. */
export function createLagMeter(clock: Clock): LagMeter {
  let mostMs = 0;
  let timer: Cancel = () => undefined;
  let expectedMs = clock.monoMs() + lagEveryMs;
  const check = (): void => {
    const nowMs = clock.monoMs();
    mostMs = Math.max(mostMs, nowMs - expectedMs);
    expectedMs = nowMs + lagEveryMs;
    timer = clock.after(lagEveryMs, check);
  };
  timer = clock.after(lagEveryMs, check);
  return {
    readMs() {
      const takenMs = Math.max(mostMs, clock.monoMs() - expectedMs, 0);
      mostMs = 0;
      return takenMs;
    },
    close: () => timer(),
  };
}

export function createLatencies(): Latencies {
  const histograms = new Map(latencyNames.map((name) => [name, createHistogram()]));
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  const band = (name: LatencyName): Band | null =>
    name === 'lag' && histograms.get('lag')?.count === 0
      ? bandOf(delay, (ns) => rounded(Math.max(0, ns / nsPerMs - resolutionMs)))
      : bandOf(histograms.get(name) ?? createHistogram(), (us) => rounded(us / usPerMs));
  return {
    record(name, ms) {
      histograms.get(name)?.record(Math.max(1, Math.round(ms * usPerMs)));
    },
    recordLag: (ms) => histograms.get('lag')?.record(Math.max(1, Math.round(ms * usPerMs))),
    band,
    figures() {
      const entries = latencyNames.flatMap((name) =>
        Object.entries(band(name) ?? {}).map(([part, value]) => [`${name}.${part}`, Number(value)] as const),
      );
      return Object.fromEntries(entries);
    },
    close: () => void delay.disable(),
  };
}
