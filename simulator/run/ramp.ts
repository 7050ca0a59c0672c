// Executes the ramp of a scenario: it raises the load, waits until it has settled, measures that step alone, and continues until
// a step is bad. The whole run is judged at its end.
import {
  failuresOf,
  formatLevel,
  kneeOf,
  levelsOf,
  type RampResult,
  type RampStep,
} from '../core/scenario/ramp.ts';
import type { Ramp } from '../core/scenario/scenario-schema.ts';
import { createLagMeter } from './measure/latency.ts';
import { type RunContext } from './run-context.ts';

/** Waits until that moment of the run; resolves true when the run was stopped. */
type WaitUntil = (untilMs: number) => Promise<boolean>;

const lagEveryMs = 200;
/** A step is judged this long before the next begins: after a bad one no further vehicle may start. */
const judgedMs = 500;

/** End of a step's measurement, ms of the run. */
const endOf = ({ stepS, settleS }: Ramp, no: number): number =>
  (no + 1) * stepS * 1000 - Math.min(judgedMs, ((stepS - settleS) * 1000) / 2);

interface Counters {
  readonly atMs: number;
  readonly events: number;
  readonly acknowledged: number;
  /** CPU time of each process of the generator, ms. */
  readonly cpuMs: readonly number[];
}

function countersOf({ time, ledger, machine }: RunContext): Counters {
  const { events, acknowledged } = ledger.counts();
  return { atMs: time.nowMs(), events, acknowledged, cpuMs: machine().eachCpuMs };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

function stepOf(
  context: RunContext,
  ramp: Ramp,
  of: { no: number; level: number; from: Counters },
): RampStep {
  const { no, level, from } = of;
  const to = countersOf(context);
  const tookMs = Math.max(1, to.atMs - from.atMs);
  const acknowledged = to.acknowledged - from.acknowledged;
  const made = to.events - from.events;
  const status = context.workers.status();
  const figures = {
    ...context.intervalMetrics.figures(),
    'events.count': acknowledged,
    'events.rate': rounded((acknowledged * 1000) / tookMs),
    'events.made': rounded((made * 1000) / tookMs),
    delivered: made === 0 ? 0 : rounded((acknowledged * 100) / made),
    online: status.running === 0 ? 0 : rounded((status.online * 100) / status.running),
  };
  const cores = to.cpuMs.map((cpuMs, at) => (cpuMs - (from.cpuMs[at] ?? 0)) / tookMs);
  return {
    no,
    level,
    fromS: from.atMs / 1000,
    toS: to.atMs / 1000,
    figures,
    online: status.online,
    waiting: status.waiting,
    generatorCore: rounded(Math.max(0, ...cores)),
    failures: failuresOf(ramp, figures),
  };
}

const stepText = (ramp: Ramp, { level, figures, failures }: RampStep): string =>
  `step ${formatLevel(ramp.of, level)}: ${figures['events.rate']} events/s, ingest p99 ${figures['ingest.p99'] ?? '-'} ms: ${failures.length === 0 ? 'good' : failures.join(', ')}`;

/** Executes all steps, or up to the first bad one. */
export async function executeRamp(
  context: RunContext,
  ramp: Ramp,
  of: { waitUntil: WaitUntil; print(text: string): void },
): Promise<RampResult> {
  const { workers, intervalMetrics, options } = context;
  const steps: RampStep[] = [];
  const to = options.scenario.fleet.devices - 1;
  const meter = createLagMeter(options.ports.clock);
  const timer = setInterval(() => intervalMetrics.record('lag', meter.readMs()), lagEveryMs);
  try {
    for (const [no, level] of levelsOf(ramp).entries()) {
      if (ramp.of === 'rate') workers.instruct({ kind: 'rate', rate: { factor: level, from: 0, to } });
      if (await of.waitUntil((no * ramp.stepS + ramp.settleS) * 1000)) break;
      intervalMetrics.reset();
      const from = countersOf(context);
      if (await of.waitUntil(endOf(ramp, no))) break;
      const step = stepOf(context, ramp, { no, level, from });
      steps.push(step);
      of.print(stepText(ramp, step));
      if (step.failures.length > 0) break;
    }
  } finally {
    clearInterval(timer);
    meter.close();
    // Events that were not delivered in time must still be delivered: stop the load.
    if (ramp.of === 'rate') workers.instruct({ kind: 'rate', rate: { factor: 0, from: 0, to } });
  }
  return { of: ramp.of, steps, knee: kneeOf(ramp.of, steps) };
}
