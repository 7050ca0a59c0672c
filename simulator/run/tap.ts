// Measures one stretch of a run beside the figures of the whole: latencies and lag between two moments. Of fixed size.
import { createHistogram } from 'node:perf_hooks';
import type { Figures } from '../core/thresholds.ts';
import type { MeasuredName } from './part.ts';

export interface Tap {
  record(name: MeasuredName | 'lag', ms: number): void;
  /** Forgets what was measured. */
  reset(): void;
  figures(): Figures;
}

const names = ['ingest', 'visible', 'lag'] as const;
const parts = { p50: 50, p90: 90, p95: 95, p99: 99, p999: 99.9 } as const;
const usPerMs = 1000;
const rounded = (us: number): number => Math.round(us / 10) / 100;

/** Empty. */
export function createTap(): Tap {
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
        const bands = Object.entries(parts).map(
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
