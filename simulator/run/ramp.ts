// Drives the ramp of a scenario: raises the load, waits until it has settled, measures, and goes on until a step is bad. What it
// measures is of that step alone; the truth of the whole run is judged at its end as always.
import { failuresOf, formatLevel, kneeOf, levelsOf, type RampResult, type RampStep } from '../core/ramp.ts';
import type { Ramp } from '../core/scenario-schema.ts';
import type { Scene } from './drive.ts';
import { createLagMeter } from './latency.ts';

/** Waits until that moment of the run; true when the run was stopped. */
type Pass = (untilMs: number) => Promise<boolean>;

const lagEveryMs = 200;
/** A step is judged this long before the next begins: where it was bad, no further vehicle may have come on the road by then. */
const judgedMs = 500;

/** When the measuring of a step ends, ms of the run. */
const endOf = ({ stepS, settleS }: Ramp, no: number): number =>
  (no + 1) * stepS * 1000 - Math.min(judgedMs, ((stepS - settleS) * 1000) / 2);

interface Mark {
  readonly atMs: number;
  readonly events: number;
  readonly acknowledged: number;
  /** CPU time of each process of the generator, ms. */
  readonly cpuMs: readonly number[];
}

function markOf({ time, ledger, machine }: Scene): Mark {
  const { events, acknowledged } = ledger.counts();
  return { atMs: time.nowMs(), events, acknowledged, cpuMs: machine().eachCpuMs };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

function stepOf(scene: Scene, ramp: Ramp, of: { no: number; level: number; from: Mark }): RampStep {
  const { no, level, from } = of;
  const to = markOf(scene);
  const tookMs = Math.max(1, to.atMs - from.atMs);
  const acknowledged = to.acknowledged - from.acknowledged;
  const made = to.events - from.events;
  const look = scene.parts.look();
  const figures = {
    ...scene.tap.figures(),
    'events.count': acknowledged,
    'events.rate': rounded((acknowledged * 1000) / tookMs),
    'events.made': rounded((made * 1000) / tookMs),
    delivered: made === 0 ? 0 : rounded((acknowledged * 100) / made),
    online: look.running === 0 ? 0 : rounded((look.online * 100) / look.running),
  };
  const cores = to.cpuMs.map((cpuMs, at) => (cpuMs - (from.cpuMs[at] ?? 0)) / tookMs);
  return {
    no,
    level,
    fromS: from.atMs / 1000,
    toS: to.atMs / 1000,
    figures,
    online: look.online,
    waiting: look.waiting,
    generatorCore: rounded(Math.max(0, ...cores)),
    failures: failuresOf(ramp, figures),
  };
}

const stepWords = (ramp: Ramp, { level, figures, failures }: RampStep): string =>
  `step ${formatLevel(ramp.of, level)}: ${figures['events.rate']} events/s, ingest p99 ${figures['ingest.p99'] ?? '-'} ms: ${failures.length === 0 ? 'good' : failures.join(', ')}`;

/** Runs all steps, or up to the first bad one. */
export async function driveRamp(
  scene: Scene,
  ramp: Ramp,
  of: { pass: Pass; say(text: string): void },
): Promise<RampResult> {
  const { parts, tap, options } = scene;
  const steps: RampStep[] = [];
  const to = options.scenario.fleet.devices - 1;
  const meter = createLagMeter(options.ports.clock);
  const timer = setInterval(() => tap.record('lag', meter.takeMs()), lagEveryMs);
  try {
    for (const [no, level] of levelsOf(ramp).entries()) {
      if (ramp.of === 'rate') parts.order({ kind: 'rate', rate: { factor: level, from: 0, to } });
      if (await of.pass((no * ramp.stepS + ramp.settleS) * 1000)) break;
      tap.reset();
      const from = markOf(scene);
      if (await of.pass(endOf(ramp, no))) break;
      const step = stepOf(scene, ramp, { no, level, from });
      steps.push(step);
      of.say(stepWords(ramp, step));
      if (step.failures.length > 0) break;
    }
  } finally {
    clearInterval(timer);
    meter.close();
    // What could not be delivered in time must still be delivered.
    if (ramp.of === 'rate') parts.order({ kind: 'rate', rate: { factor: 0, from: 0, to } });
  }
  return { of: ramp.of, steps, knee: kneeOf(ramp.of, steps) };
}
