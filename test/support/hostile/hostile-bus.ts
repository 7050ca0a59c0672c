// The vehicle bus of a hostile life: the nodes of a truck send frames as recorded trucks do, and the adapter passes them on, wrongly when it
// or they fail. The frames go through the decoder of the agent, so that what a fault makes of rest is decided by the code that runs.
import type { BusReading } from '../../../agent/core/bus/bus-reading.ts';
import { type BusValues, createBusValues } from '../../../agent/core/bus/bus-values.ts';
import type { CanFrame } from '../../../agent/core/bus/slcan-line.ts';
import { ccvs1, ebc2, eec1, tco1, vep1 } from '../../../simulator/hardware/j1939-frames.ts';
import { openAdapter } from '../bus/truck-bus.ts';
import type { Fault } from './hostile-senses.ts';
import { createLuck, stepMs, type Truth } from './hostile-truth.ts';

/**
 * `silent`: no frame comes. `repeats`: a gateway goes on with its last frames. `speed-stuck`: the node of the speeds goes on with its last
 * speed, and its volts go on measuring. `speed-zero`, `engine-zero`: a sensor is broken. `speed-lost`: the speeds are not available.
 * `zeros`: a gateway that has lost its nodes sends zeros for them. `parked`: and says that the brake is set.
 * `brake-set`: its switch is stuck. `half`: another scale. `restarts`: the nodes start anew every 15 s. `another`: the adapter is plugged into
 * another truck of the same make, which is parked. `late`: the adapter passes each frame on seconds after it came. A further one is of scripts
 * only, `fuse`: the one behind the key that feeds the ignition input and the node of the speeds; a gateway goes on with what that node said last.
 */
export const busFaults = [
  'silent',
  'repeats',
  'speed-stuck',
  'speed-zero',
  'speed-lost',
  'engine-zero',
  'zeros',
  'parked',
  'brake-set',
  'half',
  'restarts',
  'another',
  'late',
] as const;
export type BusFault = (typeof busFaults)[number];

const otherFaults = busFaults.filter((kind) => kind !== 'late');

/**
 * The fault of a bus that one draw stands for. The late ones are taken from the end of the share of each other kind, so that all other lives stay as
 * they are without them.
 */
export function drawnBusFault(drawn: number): { readonly kind: BusFault; readonly delayMs: number } {
  const place = drawn * otherFaults.length;
  const within = (place % 1) * busFaults.length - otherFaults.length;
  if (within >= 0) return { kind: 'late', delayMs: 3000 + within * 5000 };
  return { kind: otherFaults[Math.floor(place)] ?? 'silent', delayMs: 0 };
}

/** How this truck is made. */
interface Make {
  readonly hasAxle: boolean;
  readonly hasTachograph: boolean;
  readonly hasKeyVolts: boolean;
  /** The driver sets the parking brake when leaving. */
  readonly isBrakeUsed: boolean;
  /** Nodes go on for this long after the key is turned off; infinite: they stay awake. */
  readonly awakeMs: number;
  /** The engine's node ends before the others. */
  readonly engineAwakeMs: number;
}

export interface HostileBus {
  /** Addresses that give a speed, as a drive has shown them to the agent. */
  readonly senders: string;
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
    hasKeyVolts: luck() < 0.3,
    isBrakeUsed: luck() < 0.8,
    awakeMs,
    engineAwakeMs: luck() < 0.3 ? 3000 : awakeMs,
  };
}

/** What the nodes measure at one moment. */
interface Measured {
  readonly kmh: number;
  readonly rpm: number;
  readonly isBraked: boolean;
  readonly isKeyOn: boolean;
  readonly volts: number;
}

/**
 * @param seed of this bus alone: a life without it is the same life.
 * @param staysAwake its nodes stay awake, and its driver sets the parking brake.
 */
export function createHostileBus(seed: number, staysAwake: boolean): HostileBus {
  const luck = createLuck(seed ^ 0x62_75_73);
  const forEver = Number.POSITIVE_INFINITY;
  const awake = { awakeMs: forEver, engineAwakeMs: forEver, isBrakeUsed: true } as const;
  const make: Make = { ...makeOf(luck), ...(staysAwake ? awake : {}) };
  let values: BusValues = createBusValues();
  let isBraked = true;
  /** When the nodes last woke, and when the key was last on. */
  let wokeMs = Number.NEGATIVE_INFINITY;
  let keyMs = 0;
  let isAwake = true;
  let last: readonly CanFrame[] = [];
  let stuckKmh: number | null = null;
  let before: Measured | null = null;
  /** What the adapter holds back. */
  let held: { readonly atMs: number; readonly frames: readonly CanFrame[] }[] = [];

  const framesOf = ({ kmh, rpm, isBraked: isSet, isKeyOn, volts }: Measured, atMs: number): CanFrame[] => {
    const isSpeaking = atMs - keyMs < make.engineAwakeMs;
    return [
      ccvs1(kmh, 3, 0),
      ccvs1(null, isSet ? 1 : 0, 0x31),
      ...(isSpeaking ? [eec1(rpm, 0)] : []),
      ...(make.hasAxle ? [ebc2(kmh)] : []),
      ...(make.hasTachograph ? [tco1(kmh, kmh > 0 ? 1 : 0)] : []),
      ...(atMs % 1000 === 0 ? [vep1(volts, make.hasKeyVolts ? (isKeyOn ? 27 : 0.05) : null, 0)] : []),
    ];
  };
  /** What the nodes send at this moment, with what is wrong with them. */
  const sent = (truth: Truth, fault: string | undefined, atMs: number): readonly CanFrame[] => {
    const kmh = truth.speedKmh < 2 ? 0 : truth.speedKmh;
    const cycleMs = (atMs - wokeMs) % 15_000;
    const isDefault = atMs - wokeMs < defaultsMs || (fault === 'restarts' && cycleMs < defaultsMs);
    const volts = 27 + Math.round(luck() * 3) * 0.05;
    const rpm = truth.ignition ? 600 + truth.speedKmh * 12 : 0;
    const honest: Measured = { kmh, rpm, isBraked, isKeyOn: truth.ignition, volts };
    stuckKmh = fault === 'speed-stuck' ? (stuckKmh ?? kmh) : null;
    before = fault === 'fuse' ? (before ?? honest) : null;
    if (isDefault) return framesOf({ ...honest, kmh: 0, rpm: 0, isBraked: false }, atMs);
    switch (fault) {
      case 'speed-stuck':
        return framesOf({ ...honest, kmh: stuckKmh ?? 0 }, atMs);
      case 'speed-zero':
        return framesOf({ ...honest, kmh: 0 }, atMs);
      case 'speed-lost':
        return [ccvs1(null, isBraked ? 1 : 0, 0x31), eec1(rpm, 0)];
      case 'engine-zero':
        return framesOf({ ...honest, rpm: 0 }, atMs);
      case 'zeros':
        return framesOf({ ...honest, kmh: 0, rpm: 0 }, atMs);
      case 'parked':
        return framesOf({ ...honest, kmh: 0, rpm: 0, isBraked: true }, atMs);
      case 'fuse':
        return framesOf({ ...honest, ...before, isKeyOn: false, volts }, atMs);
      case 'brake-set':
        return framesOf({ ...honest, isBraked: true }, atMs);
      case 'half':
        return framesOf({ ...honest, kmh: kmh / 2 }, atMs);
      case 'another':
        return framesOf({ kmh: 0, rpm: 0, isBraked: true, isKeyOn: false, volts }, atMs);
      default:
        return framesOf(honest, atMs);
    }
  };
  const drive = (truth: Truth, fault: string | undefined, atMs: number): void => {
    if (truth.ignition) keyMs = atMs;
    const wakes = fault === 'another' || atMs - keyMs < make.awakeMs;
    if (wakes && !isAwake) wokeMs = atMs;
    isAwake = wakes;
    if (truth.targetKmh > 0) isBraked = false;
    else if (truth.speedKmh === 0 && !truth.ignition && make.isBrakeUsed) isBraked = true;
  };
  const senders = ['00', make.hasAxle ? '0b' : '', make.hasTachograph ? 'ee' : ''].filter(
    (one) => one !== '',
  );
  return {
    senders: senders.join(','),
    step(truth, fault, atMs) {
      const kind = fault?.kind;
      drive(truth, kind, atMs);
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
