// The vehicle bus of a hostile life: the nodes of a truck send frames as recorded trucks do, and the adapter passes them on, wrongly when it
// or they fail. The frames go through the decoder of the agent, so that the code that runs decides what speaks against a change.
import type { BusReading } from '../../../agent/core/bus/bus-reading.ts';
import { type BusValues, createBusValues } from '../../../agent/core/bus/bus-values.ts';
import type { CanFrame } from '../../../agent/core/bus/slcan-line.ts';
import { ccvs1, ebc2, eec1, tco1 } from '../../../simulator/hardware/j1939-frames.ts';
import { openAdapter } from '../bus/truck-bus.ts';
import type { Fault } from './hostile-senses.ts';
import { createLuck, stepMs, type Truth } from './hostile-truth.ts';

/**
 * `silent`: no frame comes. `repeats`: a gateway goes on with its last frames. `speed-stuck`: the node of the speeds goes on with its last
 * speed. `speed-lost`: the speeds are not available. `zeros`: a gateway that has lost its nodes sends zeros for them. `half`: another scale.
 * `restarts`: the nodes start anew every 15 s. `late`: the adapter passes each frame on seconds after it came.
 */
export const busFaults = [
  'silent',
  'repeats',
  'speed-stuck',
  'speed-lost',
  'zeros',
  'half',
  'restarts',
  'late',
] as const;
export type BusFault = (typeof busFaults)[number];

/** The fault of a bus that one draw stands for. */
export function drawnBusFault(drawn: number): { readonly kind: BusFault; readonly delayMs: number } {
  const place = drawn * busFaults.length;
  const kind = busFaults[Math.floor(place)] ?? 'silent';
  return { kind, delayMs: kind === 'late' ? 3000 + (place % 1) * 5000 : 0 };
}

/** How this truck is made. */
interface Make {
  readonly hasAxle: boolean;
  readonly hasTachograph: boolean;
  /** Nodes go on for this long after the key is turned off; infinite: they stay awake. */
  readonly awakeMs: number;
  /** The engine's node ends before the others. */
  readonly engineAwakeMs: number;
}

export interface HostileBus {
  /** One step of the world. @param fault of now. */
  step(truth: Truth, fault: Pick<Fault, 'kind' | 'delayMs'> | undefined, atMs: number): void;
  /** What the agent has of it. */
  reading(nowMs: number): BusReading;
  /** The adapter was opened anew, as after a restart of the unit. */
  reopen(): void;
}

const frameMs = 100;
/** Nodes send defaults for so long after their start. */
const defaultsMs = 1500;

function makeOf(luck: () => number): Make {
  const staysAwake = luck() < 0.5;
  const awakeMs = staysAwake ? Number.POSITIVE_INFINITY : 3000 + luck() * 40_000;
  return {
    hasAxle: luck() < 0.5,
    hasTachograph: luck() < 0.4,
    awakeMs,
    engineAwakeMs: luck() < 0.3 ? 3000 : awakeMs,
  };
}

/** What the nodes measure at one moment. */
interface Measured {
  readonly kmh: number;
  readonly rpm: number;
}

/** @param seed of this bus alone: a life without it is the same life. */
export function createHostileBus(seed: number): HostileBus {
  const luck = createLuck(seed ^ 0x62_75_73);
  const make = makeOf(luck);
  let values: BusValues = createBusValues();
  /** When the nodes last woke, and when the key was last on. */
  let wokeMs = Number.NEGATIVE_INFINITY;
  let keyMs = 0;
  let isAwake = true;
  let last: readonly CanFrame[] = [];
  let stuckKmh: number | null = null;
  /** What the adapter holds back. */
  let held: { readonly atMs: number; readonly frames: readonly CanFrame[] }[] = [];

  const framesOf = ({ kmh, rpm }: Measured, atMs: number): CanFrame[] => [
    ccvs1(kmh, 3, 0),
    ccvs1(null, 3, 0x31),
    ...(atMs - keyMs < make.engineAwakeMs ? [eec1(rpm, 0)] : []),
    ...(make.hasAxle ? [ebc2(kmh)] : []),
    ...(make.hasTachograph ? [tco1(kmh, kmh > 0 ? 1 : 0)] : []),
  ];
  /** What the nodes send at this moment, with what is wrong with them. */
  const sent = (truth: Truth, fault: string | undefined, atMs: number): readonly CanFrame[] => {
    const kmh = truth.speedKmh < 2 ? 0 : truth.speedKmh;
    const cycleMs = (atMs - wokeMs) % 15_000;
    const isDefault = atMs - wokeMs < defaultsMs || (fault === 'restarts' && cycleMs < defaultsMs);
    const rpm = truth.ignition ? 600 + truth.speedKmh * 12 : 0;
    stuckKmh = fault === 'speed-stuck' ? (stuckKmh ?? kmh) : null;
    if (isDefault || fault === 'zeros') return framesOf({ kmh: 0, rpm: 0 }, atMs);
    if (fault === 'speed-lost') return [ccvs1(null, 3, 0x31), eec1(rpm, 0)];
    return framesOf({ kmh: stuckKmh ?? (fault === 'half' ? kmh / 2 : kmh), rpm }, atMs);
  };
  const drive = (truth: Truth, atMs: number): void => {
    if (truth.ignition) keyMs = atMs;
    const wakes = atMs - keyMs < make.awakeMs;
    if (wakes && !isAwake) wokeMs = atMs;
    isAwake = wakes;
  };
  return {
    step(truth, fault, atMs) {
      const kind = fault?.kind;
      drive(truth, atMs);
      if (kind !== 'late') held = [];
      for (let ms = atMs - stepMs + frameMs; ms <= atMs; ms += frameMs) {
        const isSending = isAwake && kind !== 'silent';
        if (isSending && (kind !== 'repeats' || last.length === 0)) last = sent(truth, kind, ms);
        if (isSending) held.push({ atMs: ms, frames: last });
        const delayMs = kind === 'late' ? (fault?.delayMs ?? 0) : 0;
        for (let one = held[0]; one !== undefined && one.atMs <= ms - delayMs; one = held[0]) {
          for (const frame of one.frames) values.take(frame, ms);
          held.shift();
        }
      }
    },
    reading: (nowMs) => ({ atMs: nowMs, adapter: openAdapter, view: values.view(nowMs) }),
    reopen() {
      values = createBusValues();
    },
  };
}
