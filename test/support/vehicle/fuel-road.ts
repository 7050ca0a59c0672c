// Drives a simulated tank over simulated roads: hills tilt it, curves and brakes make it slosh, the engine empties it, and a
// sender of any resolution reads it. The true amount of fuel is known at every second; nothing here looks into the agent.
import type { SensorReading } from '../../../agent/core/board/inputs.ts';
import { shownLevel, type TankSender } from '../../../simulator/hardware/tank.ts';
import { seededRandom } from '../serial/nmea-lines.ts';
import type { TankSecond } from './fuel-runs.ts';

/** A stretch of the day. */
export interface Leg {
  readonly minutes: number;
  /** Driving, standing, or a queue: ten metres, then half a minute of waiting. */
  readonly kind: 'drive' | 'stand' | 'queue';
  /** How the attitude moves the level, as a fraction of the tank. */
  readonly tilt?: number;
  readonly ignition?: SensorReading;
  /** Taken out or poured in, in the middle of the leg, as a fraction. */
  readonly by?: number;
  readonly byS?: number;
}

/** `asleep`: what it reads with the ignition off; absent: the level. */
export type Sender = TankSender & { readonly asleep?: number | null };

const clamp = (level: number): number => Math.min(1, Math.max(0, level));

/** The seconds of a day of legs. */
export function roadDay(
  legs: readonly Leg[],
  given: {
    readonly level: number;
    readonly sender?: Sender;
    readonly seed?: number;
    readonly perHour?: number;
  },
): readonly TankSecond[] {
  const random = seededRandom(given.seed ?? 1);
  const { sender = { noise: 0.002 } } = given;
  const seconds: TankSecond[] = [];
  let fuel = given.level;
  let tilt = legs[0]?.tilt ?? 0;
  for (const { minutes, kind, tilt: to = 0, ignition = 'on', by = 0, byS = 180 } of legs) {
    const lengthS = Math.round(minutes * 60);
    const fromS = Math.max(0, Math.floor((lengthS - byS) / 2));
    for (let s = 0; s < lengthS; s += 1) {
      const moves = kind === 'drive' || (kind === 'queue' && s % 34 < 4);
      // The road bends into the slope within half a minute of driving, a queue within some moves.
      if (moves) tilt += (to - tilt) / (kind === 'drive' ? 15 : 10);
      if (s >= fromS && s < fromS + byS) fuel += by / byS;
      const perHour = ignition === 'off' ? 0 : kind === 'drive' ? (given.perHour ?? 0.06) : 0.01;
      fuel = Math.max(0.01, fuel - perHour / 3600);
      const slosh = kind === 'drive' ? 0.03 * Math.sin(s / 1.7 + 3 * Math.sin(s / 41)) : 0;
      const isAsleep = ignition === 'off' && sender.asleep !== undefined;
      seconds.push({
        level: isAsleep ? (sender.asleep ?? null) : shownLevel(sender, clamp(fuel + tilt + slosh), random),
        ignition,
        motion: moves ? 'moving' : 'standing',
        supplyV: null,
      });
    }
  }
  return seconds;
}

/** A random day in the hills in which nothing is taken or poured in. */
export function hillLegs(seed: number, most = 0.08): readonly Leg[] {
  const random = seededRandom(seed * 7919 + 1);
  const from = (low: number, high: number): number => low + random() * (high - low);
  const stop = (tilt: number): readonly Leg[] => {
    const kind = random();
    if (kind < 0.2) return [];
    const minutes = from(1, 25);
    if (kind < 0.35) return [{ kind: 'queue', minutes, tilt: -tilt }];
    if (kind < 0.6) return [{ kind: 'stand', minutes, tilt }];
    return [
      { kind: 'stand', minutes: from(0.1, 3), tilt },
      { kind: 'stand', minutes, tilt, ignition: 'off' },
      { kind: 'stand', minutes: from(0.1, 3), tilt },
    ];
  };
  const legs: Leg[] = random() < 0.5 ? [{ kind: 'drive', minutes: from(5, 25) }] : [];
  for (let hill = 0; hill < 3; hill += 1) {
    const up = from(0.3, 1) * most * (random() < 0.5 ? 1 : -1);
    const down = from(0.3, 1) * most * -Math.sign(up);
    const place = (slope: number): readonly Leg[] => {
      const tilt = random() < 0.5 ? slope : from(-0.3, 0.3) * slope;
      return [{ kind: 'drive', minutes: 0.7, tilt }, ...stop(tilt)];
    };
    legs.push({ kind: 'drive', minutes: from(4, 25), tilt: up }, ...place(up));
    legs.push({ kind: 'drive', minutes: from(4, 25), tilt: down });
    if (random() < 0.5) legs.push(...place(down));
    if (random() < 0.5) legs.push({ kind: 'drive', minutes: from(2, 20) });
  }
  return legs;
}
