// Parses the broker's Prometheus metrics (exposition format 0.0.4) that a run records. Pure. A missing metric is null and not zero.

export interface BrokerSample {
  /** CPU time since the start of the process, ms. */
  readonly cpuMs: number | null;
  /** Resident memory, MiB. */
  readonly memoryMb: number | null;
  /** Delay of its event loop, p99 as Node measures it, ms. */
  readonly lagMs: number | null;
  readonly commits: number | null;
  readonly statements: number | null;
  readonly commitMs: number | null;
  /** Writes that wait for a commit. */
  readonly queue: number | null;
  /** Start of the process, epoch seconds: counters begin at 0 with it. */
  readonly startedS: number | null;
  /** Since the start of the process. */
  readonly errors: BrokerErrors;
}

const mebibyte = 1024 * 1024;
/** Bound of one answer, which takes about 100 KiB. */
export const metricsBytesMost = 4 * 1024 * 1024;

const linePattern = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([^\n]*)\})? (\S+)(?: \d+)?$/;

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/** The wanted samples. */
function readSamples(text: string, wanted: ReadonlySet<string>): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    if (line === '' || line.startsWith('#')) return [];
    const [, name = '', labels = '', digits = ''] = linePattern.exec(line) ?? [];
    const value = Number(digits);
    return wanted.has(name) && Number.isFinite(value) ? [{ name, labels, value }] : [];
  });
}

/** Errors that a broker counts, by the name of the counter and one label. Counters begin at 0 with the process. */
const errorCounters = {
  connectionsRefused: ['fleetward_mqtt_connections_refused_total', null],
  publishesRefused: ['fleetward_mqtt_publishes_refused_total', null],
  connectionsUnread: ['fleetward_mqtt_unread_total', null],
  payloadsQuarantined: ['fleetward_ingest_quarantined_total', null],
  payloadsNotStored: ['fleetward_ingest_failures_total', null],
  commitsFailed: ['fleetward_commit_failures_total', null],
  requestsRefused: ['fleetward_http_requests_total', 'status="4xx"'],
  requestsFailed: ['fleetward_http_requests_total', 'status="5xx"'],
} as const satisfies Record<string, readonly [name: string, label: string | null]>;
export type BrokerError = keyof typeof errorCounters;
export const brokerErrors = Object.keys(errorCounters) as readonly BrokerError[];
export type BrokerErrors = Readonly<Record<BrokerError, number>>;

const names = {
  cpu: 'process_cpu_seconds_total',
  memory: 'process_resident_memory_bytes',
  started: 'process_start_time_seconds',
  lag: 'nodejs_eventloop_lag_p99_seconds',
  commits: 'fleetward_commit_duration_seconds_count',
  commitTime: 'fleetward_commit_duration_seconds_sum',
  statements: 'fleetward_commit_statements_sum',
  queue: 'fleetward_commit_queue_writes',
} as const;
const wanted: ReadonlySet<string> = new Set([
  ...Object.values(names),
  ...Object.values(errorCounters).map(([name]) => name),
]);

/** Reads one answer; null when it is no such text. */
export function parseBrokerSample(text: string): BrokerSample | null {
  const samples = readSamples(text, wanted);
  if (samples.length === 0) return null;
  /** Of several with labels the sum. */
  const sumOf = (name: string, label: string | null): number | null => {
    const found = samples.filter(
      (one) => one.name === name && (label === null || one.labels.includes(label)),
    );
    return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
  };
  const of = (name: string, factor = 1): number | null => {
    const value = sumOf(name, null);
    return value === null ? null : value * factor;
  };
  const errors = brokerErrors.map((error) => {
    const [name, label] = errorCounters[error];
    return [error, sumOf(name, label) ?? 0] as const;
  });
  return {
    cpuMs: of(names.cpu, 1000),
    memoryMb: of(names.memory, 1 / mebibyte),
    lagMs: of(names.lag, 1000),
    commits: of(names.commits),
    statements: of(names.statements),
    commitMs: of(names.commitTime, 1000),
    queue: of(names.queue),
    startedS: of(names.started),
    errors: Object.fromEntries(errors) as BrokerErrors,
  };
}

/** Growth of a counter; null when it is not known, as after a restart of the process. */
export function grownBy(
  before: BrokerSample | null,
  now: BrokerSample,
  name: 'cpuMs' | 'commits' | 'statements' | 'commitMs',
): number | null {
  const old = before?.[name] ?? null;
  const value = now[name];
  if (before === null || old === null || value === null || before.startedS !== now.startedS) return null;
  return value < old ? null : value - old;
}

export const noBrokerErrors = Object.fromEntries(brokerErrors.map((error) => [error, 0])) as BrokerErrors;

/** `total` with what a broker has counted since the sample before; a restarted process counts from 0. */
export function addErrors(total: BrokerErrors, before: BrokerSample, now: BrokerSample): BrokerErrors {
  const old = before.startedS === now.startedS ? before.errors : noBrokerErrors;
  const entries = brokerErrors.map((error) => [
    error,
    total[error] + Math.max(0, now.errors[error] - old[error]),
  ]);
  return Object.fromEntries(entries) as BrokerErrors;
}
