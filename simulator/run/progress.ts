// What a run shows while it goes on: one screen that renews itself on a terminal, a line every few seconds elsewhere. It looks and
// never touches.
import type { Cancel, Clock } from '../../src/ports.ts';
import type { LatencyName } from '../core/thresholds.ts';
import type { Latencies } from './latency.ts';

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Progress {
  readonly elapsedS: number;
  readonly durationS: number;
  readonly phase: string;
  readonly online: number;
  readonly running: number;
  readonly devices: number;
  readonly facts: number;
  readonly acknowledged: number;
  readonly waiting: number;
  readonly commands: number;
  readonly faults: readonly string[];
  readonly breaches: number;
}

export interface ProgressView {
  /** A line that stays. */
  say(text: string): void;
  close(): void;
}

const plainEveryMs = 5000;
const screenEveryMs = 1000;
const upAndClear = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A\u001b[J`);

const clockText = (seconds: number): string => {
  const whole = Math.floor(seconds);
  return `${String(Math.floor(whole / 60)).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`;
};

function bandText(latencies: Latencies, name: LatencyName): string {
  const band = latencies.band(name);
  return band === null ? '-' : `${band.p50.toFixed(0)}/${band.p99.toFixed(0)}/${band.max.toFixed(0)}`;
}

interface Rate {
  readonly perS: number;
}

function screenOf(now: Progress, latencies: Latencies, rate: Rate): readonly string[] {
  const lag = latencies.band('lag');
  const isLate = (lag?.p99 ?? 0) > 250;
  return [
    `  ${clockText(now.elapsedS)} of ${clockText(now.durationS)}  ${now.phase}`,
    `  vehicles   ${now.online} online, ${now.running} on the road, ${now.devices} in all`,
    `  events     ${now.acknowledged} acknowledged, ${rate.perS.toFixed(1)}/s, ${now.waiting} waiting; ${now.facts} facts, ${now.commands} commands`,
    `  ms (p50/p99/max)  ingest ${bandText(latencies, 'ingest')}  visible ${bandText(latencies, 'visible')}  lag ${bandText(latencies, 'lag')}${isLate ? '  THE GENERATOR IS THE BOTTLENECK' : ''}`,
    `  faults     ${now.faults.length === 0 ? 'none' : now.faults.join(', ')}`,
    `  truth      ${now.breaches === 0 ? 'no breach so far' : `${now.breaches} BREACHES`}`,
  ];
}

function lineOf(now: Progress, latencies: Latencies, rate: Rate): string {
  const faults = now.faults.length === 0 ? '' : `, faults: ${now.faults.join(' ')}`;
  const breaches = now.breaches === 0 ? '' : `, ${now.breaches} BREACHES`;
  return `${clockText(now.elapsedS)} ${now.phase}: ${now.online}/${now.devices} online, ${now.facts} facts, ${now.acknowledged} events (${rate.perS.toFixed(1)}/s), ${now.waiting} waiting, ingest ${bandText(latencies, 'ingest')} ms, lag ${bandText(latencies, 'lag')} ms${faults}${breaches}`;
}

/** Begins to show. @param look gives the present. */
export function showProgress(options: {
  readonly clock: Clock;
  readonly output: Output;
  readonly latencies: Latencies;
  look(): Progress;
}): ProgressView {
  const { clock, output, latencies, look } = options;
  const isScreen = output.isTTY === true;
  const everyMs = isScreen ? screenEveryMs : plainEveryMs;
  let drawn = 0;
  let before = { acknowledged: 0, elapsedS: 0 };
  let timer: Cancel = () => undefined;
  const draw = (): void => {
    const now = look();
    const perS = (now.acknowledged - before.acknowledged) / Math.max(0.001, now.elapsedS - before.elapsedS);
    before = now;
    if (isScreen) {
      const width = (output.columns ?? 80) - 1;
      const lines = screenOf(now, latencies, { perS }).map((line) => line.slice(0, width));
      output.write(`${upAndClear(drawn)}${lines.join('\n')}\n`);
      drawn = lines.length;
    } else output.write(`${lineOf(now, latencies, { perS })}\n`);
  };
  const next = (): void => {
    timer = clock.after(everyMs, () => {
      draw();
      next();
    });
  };
  next();
  return {
    say(text) {
      output.write(`${upAndClear(drawn)}${text}\n`);
      drawn = 0;
      if (isScreen) draw();
    },
    close() {
      timer();
      output.write(upAndClear(drawn));
      drawn = 0;
    },
  };
}
