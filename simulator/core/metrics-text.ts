// The broker's own figures, from the text that it shows to Prometheus (exposition format 0.0.4): what a run draws of them. Pure. What
// the text does not hold stays null and is never taken for zero.

export interface BrokerSample {
  /** CPU time since the start of the process, ms. */
  readonly cpuMs: number | null;
  /** Resident memory, MiB. */
  readonly memoryMb: number | null;
  /** Delay of its event loop, p99 as Node tells it, ms. */
  readonly lagMs: number | null;
  readonly commits: number | null;
  readonly statements: number | null;
  readonly commitMs: number | null;
  /** Writes that wait for a commit. */
  readonly queue: number | null;
  /** When the process started, epoch seconds: another one counts anew. */
  readonly startedS: number | null;
}

const mebibyte = 1024 * 1024;
/** One answer is some 100 KiB; more is not ours. */
export const metricsBytesMost = 4 * 1024 * 1024;

const linePattern = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{[^\n]*\})? (\S+)(?: \d+)?$/;

/** The wanted samples by name; of several with labels the sum. */
function readSamples(text: string, wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name = '', digits = ''] = linePattern.exec(line) ?? [];
    const value = Number(digits);
    if (!wanted.has(name) || !Number.isFinite(value)) continue;
    found.set(name, (found.get(name) ?? 0) + value);
  }
  return found;
}

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
const wanted: ReadonlySet<string> = new Set(Object.values(names));

/** Reads one answer; null when it is no such text. */
export function parseBrokerSample(text: string): BrokerSample | null {
  const samples = readSamples(text, wanted);
  if (samples.size === 0) return null;
  const of = (name: string, factor = 1): number | null => {
    const value = samples.get(name);
    return value === undefined ? null : value * factor;
  };
  return {
    cpuMs: of(names.cpu, 1000),
    memoryMb: of(names.memory, 1 / mebibyte),
    lagMs: of(names.lag, 1000),
    commits: of(names.commits),
    statements: of(names.statements),
    commitMs: of(names.commitTime, 1000),
    queue: of(names.queue),
    startedS: of(names.started),
  };
}

/** How much a counter grew; null when it cannot be said, as when the process is another one. */
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
