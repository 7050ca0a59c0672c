// What happens to a vehicle, and which event must come of it by when. Data only: the predictions that the truth check rests on
// are written from the interface's status codes and never from the agent's code.
import type { InputName } from '../../src/core/event.ts';
import { statusCodes } from '../../src/core/status-codes.ts';

interface FactRule {
  /** Status code of the event that tells of it. */
  readonly code: number;
  /** The event is on the vehicle's disk within this of the fact. */
  readonly withinMs: number;
  readonly words: string;
}

/** Inputs: one reading, debouncing, one commit, and a machine that is busy. */
const inputMs = 10_000;
/** A level of the tank counts when it has settled; a tow when the vehicle is 100 m away. */
const settledMs = 300_000;

export const factRules = {
  ignitionOn: { code: statusCodes.IGNITION_ON.code, withinMs: inputMs, words: 'ignition on' },
  ignitionOff: { code: statusCodes.IGNITION_OFF.code, withinMs: inputMs, words: 'ignition off' },
  cabinDoorOpen: { code: statusCodes.DOOR_OPEN_CABIN.code, withinMs: inputMs, words: 'cabin door opened' },
  cabinDoorClosed: { code: statusCodes.DOOR_CLOSE_CABIN.code, withinMs: inputMs, words: 'cabin door closed' },
  cargoDoorOpen: { code: statusCodes.DOOR_OPEN_CARGO.code, withinMs: inputMs, words: 'cargo door opened' },
  cargoDoorClosed: { code: statusCodes.DOOR_CLOSE_CARGO.code, withinMs: inputMs, words: 'cargo door closed' },
  panicOn: { code: statusCodes.PANIC_ON.code, withinMs: inputMs, words: 'panic pressed' },
  panicOff: { code: statusCodes.PANIC_OFF.code, withinMs: inputMs, words: 'panic released' },
  tamperOn: { code: statusCodes.TAMPER_ON.code, withinMs: inputMs, words: 'housing opened' },
  tamperOff: { code: statusCodes.TAMPER_OFF.code, withinMs: inputMs, words: 'housing closed' },
  powerOff: { code: statusCodes.POWER_FAILURE.code, withinMs: inputMs, words: 'supply cut' },
  powerOn: { code: statusCodes.POWER_RESTORED.code, withinMs: inputMs, words: 'supply back' },
  refuel: { code: statusCodes.FUEL_REFILL.code, withinMs: settledMs, words: 'tank filled' },
  fuelTheft: { code: statusCodes.FUEL_THEFT.code, withinMs: settledMs, words: 'fuel stolen' },
  tow: { code: statusCodes.TOWING_START.code, withinMs: settledMs, words: 'towed away' },
} as const satisfies Record<string, FactRule>;

export type FactKind = keyof typeof factRules;

/** A fact of the simulated world. Times are monotonic ms of the run. */
export interface Fact {
  /** 1, 2, 3 ... within a vehicle. */
  readonly no: number;
  readonly kind: FactKind;
  readonly atMs: number;
}

/** Inputs whose every change is a fact, and what it rests at when the vehicle is found. Null: the first sight is news. */
const inputFacts = {
  ignition: { on: 'ignitionOn', off: 'ignitionOff', rest: null },
  cabinDoor: { on: 'cabinDoorOpen', off: 'cabinDoorClosed', rest: false },
  cargoDoor: { on: 'cargoDoorOpen', off: 'cargoDoorClosed', rest: false },
  panic: { on: 'panicOn', off: 'panicOff', rest: false },
  tamper: { on: 'tamperOn', off: 'tamperOff', rest: false },
  externalPower: { on: 'powerOn', off: 'powerOff', rest: true },
} as const satisfies Partial<Record<InputName, { on: FactKind; off: FactKind; rest: boolean | null }>>;

export type WatchedInput = keyof typeof inputFacts;
export const watchedInputs = Object.keys(inputFacts) as readonly WatchedInput[];
export type Terminals = Readonly<Record<WatchedInput, boolean>>;

const opposites: ReadonlyMap<FactKind, FactKind> = new Map(
  Object.values(inputFacts).flatMap(({ on, off }): readonly (readonly [FactKind, FactKind])[] => [
    [on, off],
    [off, on],
  ]),
);

/** The fact that ends the state which this one begins; null where it begins none. */
export function oppositeOf(kind: FactKind): FactKind | null {
  return opposites.get(kind) ?? null;
}

/** The longest debouncing of an input on any shipped board, and an exchange on the bus. */
const debounceMs = 600;

/** A state that lasts shorter than this may go unseen: two readings and the debouncing. */
export function briefMs(inputsMs: number): number {
  return 2 * inputsMs + debounceMs;
}

/** Codes of which no event may come without a fact. */
export const watchedCodes: ReadonlySet<number> = new Set(
  Object.values(inputFacts).flatMap(({ on, off }) => [factRules[on].code, factRules[off].code]),
);

/** What changed at the terminals; `before` null: the vehicle has just been started. */
export function changesOf(before: Terminals | null, now: Terminals): readonly FactKind[] {
  return watchedInputs.flatMap((name) => {
    const { on, off, rest } = inputFacts[name];
    const was = before === null ? rest : before[name];
    return was === now[name] ? [] : [now[name] ? on : off];
  });
}
