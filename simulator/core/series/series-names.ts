// The columns of the time series, and the merge of two values of each. Neighbouring moments merge when the resolution is
// halved, processes at the same moment. Data only.

/** Summed over time and over processes. Null in a bucket: not measured. */
export const counterNames = [
  'stored',
  'sent',
  'acknowledged',
  'visible',
  'facts',
  'commands',
  'connects',
  'generatorCpuMs',
  'brokerSeenMs',
  'brokerCpuMs',
  'brokerCommits',
  'brokerStatements',
  'brokerCommitMs',
] as const;
export type CounterName = (typeof counterNames)[number];

interface GaugeRule {
  /** Of neighbouring moments: the worse one is kept. */
  readonly fold: 'min' | 'max';
  readonly across: 'sum' | 'max';
}

/** States of a moment. */
export const gaugeRules = {
  /** Vehicles that are connected, and that have been started. */
  online: { fold: 'min', across: 'sum' },
  road: { fold: 'max', across: 'sum' },
  /** Events without an acknowledgement. */
  waiting: { fold: 'max', across: 'sum' },
  breaches: { fold: 'max', across: 'sum' },
  /** The generator's own event loop, ms late. */
  lagMs: { fold: 'max', across: 'max' },
  generatorMb: { fold: 'max', across: 'sum' },
  brokerMb: { fold: 'max', across: 'max' },
  brokerLagMs: { fold: 'max', across: 'max' },
  /** Writes that wait for a commit. */
  brokerQueue: { fold: 'max', across: 'max' },
} as const satisfies Record<string, GaugeRule>;
export type GaugeName = keyof typeof gaugeRules;
export const gaugeNames = Object.keys(gaugeRules) as readonly GaugeName[];

/** Latencies that have a moment: when they ended. */
export const seriesLatencies = ['ingest', 'visible', 'restore', 'cut'] as const;
export type SeriesLatency = (typeof seriesLatencies)[number];
