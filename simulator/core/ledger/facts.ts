// The facts that happen to a vehicle, and the event that must report each within a time. Data only, written from the interface's status
// codes and never from the agent's code, which it judges.
import type { InputName } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';

interface FactRule {
  /** Status code of its event. */
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

/** Kinds that a unit concludes from positions: it can't while its receiver is deceived. */
export const placedFacts: ReadonlySet<FactKind> = new Set(['tow']);
export const factKinds = Object.keys(factRules) as readonly FactKind[];

/** Reasons why a fact without its event is no breach: too late in the run, too short, during a hardware fault, during a stall. */
export const unjudgedReasons = ['late', 'brief', 'fault', 'stall'] as const;
export type UnjudgedReason = (typeof unjudgedReasons)[number];

/** The facts of one kind. What is neither found nor unjudged is a breach. */
export interface FactTally {
  readonly happened: number;
  /** With their event. */
  readonly found: number;
  readonly unjudged: Readonly<Record<UnjudgedReason, number>>;
}

export const unjudgedOf = ({ unjudged }: FactTally): number =>
  unjudgedReasons.reduce((sum, reason) => sum + unjudged[reason], 0);

/** A fact of the simulated world. Times are monotonic ms of the run. */
export interface Fact {
  /** 1, 2, 3 ... within a vehicle. */
  readonly no: number;
  readonly kind: FactKind;
  readonly atMs: number;
}

/** Inputs whose every change is a fact, with the state that needs no event at the start. Null: the first state is a fact. */
export const inputFacts = {
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

/** Changes at the terminals; `before` null: the vehicle has just started. */
export function changesOf(before: Terminals | null, now: Terminals): readonly FactKind[] {
  return watchedInputs.flatMap((name) => {
    const { on, off, rest } = inputFacts[name];
    const was = before === null ? rest : before[name];
    return was === now[name] ? [] : [now[name] ? on : off];
  });
}
