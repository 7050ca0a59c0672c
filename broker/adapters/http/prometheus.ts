// The text that Prometheus reads, by prom-client: our own figures, and those of Node and of the process (loop delay, memory,
// collector, open files) under the names that everybody knows. Nothing is kept here.
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import type { TallyView } from '../../core/scheduling/tally.ts';
import { type Family, listFamilies, type MetricsSource } from '../../metrics/families.ts';

export interface MetricsText {
  readonly contentType: string;
  /** All figures as they are now. */
  text(): Promise<string>;
}

/** A sample as prom-client writes it. */
interface Written {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

function writeTally(name: string, labels: Readonly<Record<string, string>>, view: TallyView): Written[] {
  const buckets = view.counts.map((value, at) => ({
    metricName: `${name}_bucket`,
    labels: { ...labels, le: view.bounds[at] ?? '+Inf' },
    value,
  }));
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: view.sum },
    { metricName: `${name}_count`, labels, value: view.count },
  ];
}

function writeFamily(family: Family): readonly Written[] {
  if (family.type !== 'histogram') return family.series;
  return family.tallies.flatMap(({ labels, view }) => writeTally(family.name, labels, view));
}

/** Watches the loop and the collector from now on. */
export function createMetricsText(source: MetricsSource): MetricsText {
  const node = new Registry();
  collectDefaultMetrics({ register: node });
  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    async text() {
      const own = new Registry();
      for (const family of listFamilies(source)) {
        const { name, help, type } = family;
        // The registry asks a metric for `name` and `get` only; its type names the classes of the package.
        const shown = { name, get: async () => ({ name, help, type, values: writeFamily(family) }) };
        own.registerMetric(shown as unknown as Metric);
      }
      return `${await own.metrics()}\n${await node.metrics()}`;
    },
  };
}
