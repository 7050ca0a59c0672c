// Latencies and event loop delay of one interval of a run, such as a step of a ramp, in addition to the whole run's. Of fixed
// size.
import { createHistogram } from 'node:perf_hooks';
import type { Figures } from '../../core/scenario/thresholds.ts';
import { type MeasuredName, measuredNames } from '../../core/scenario/thresholds.ts';

export interface IntervalMetrics {
  record(name: MeasuredName | 'lag', ms: number): void;
  /** Begins a new interval. */
  reset(): void;
  figures(): Figures;
}

const names = [...measuredNames, 'lag'] as const;
const percentiles = { p50: 50, p90: 90, p95: 95, p99: 99, p999: 99.9 } as const;
const usPerMs = 1000;
const rounded = (us: number): number => Math.round(us / 10) / 100;

export function createIntervalMetrics(): IntervalMetrics {
  const histograms = Object.fromEntries(names.map((name) => [name, createHistogram()] as const));
  return {
    record: (name, ms) => histograms[name]?.record(Math.max(1, Math.round(ms * usPerMs))),
    reset() {
      for (const name of names) histograms[name]?.reset();
    },
    figures() {
      const entries = names.flatMap((name) => {
        const histogram = histograms[name];
        if (histogram === undefined || histogram.count === 0) return [];
        const bands = Object.entries(percentiles).map(
          ([part, percent]) => [`${name}.${part}`, rounded(histogram.percentile(percent))] as const,
        );
        const { max, mean, count } = histogram;
        const rest = { max: rounded(max), mean: rounded(mean), count };
        return [
          ...bands,
          ...Object.entries(rest).map(([part, value]) => [`${name}.${part}`, value] as const),
        ];
      });
      return Object.fromEntries(entries);
    },
  };
}
