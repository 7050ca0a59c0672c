// The relay guard at a moment in which it permits a cut, and what changes of it: for tests of each condition.
import {
  createGuard,
  type GuardFact,
  type GuardSetup,
  type GuardState,
  recordFact,
} from '../../../agent/guard/facts.ts';
import { askGuard, type LineRequest, type Refusal } from '../../../agent/guard/guard.ts';
import type { CommandBody } from '../../../src/core/wire/wire.ts';
import { createLineGuard, type Line, plainVerifier, verdictOf } from './guard-lines.ts';

export const guardSetup: GuardSetup = {
  accountID: 'acme',
  deviceID: 'truck-1',
  boot: 'b1',
  verifier: plainVerifier,
  verifyPersons: null,
  zoneCuts: true,
  outputs: [
    {
      feature: 'enginecutoff',
      unit: 1,
      addresses: [0, 512],
      off: null,
    },
    {
      feature: 'cargoaccess',
      unit: 1,
      addresses: [1, 513],
      off: null,
    },
    { feature: null, unit: 1, addresses: [2], off: null },
    { feature: null, unit: 1, addresses: [7], off: -1 },
    { feature: null, unit: 3, addresses: [0, 9], off: null },
  ],
  ignition: { invert: false },
  motion: { invert: false },
  warningMs: 3e4,
  mayLackFix: true,
};

/** A moment late enough that everything may lie before it. */
export const nowMs = 10_000_000;
export const utcMs = Date.UTC(2027, 0, 1);

export function tokenOf(over: Partial<CommandBody> = {}): string {
  const body: CommandBody = {
    accountID: 'acme',
    deviceID: 'truck-1',
    commandID: 'c1',
    boot: 'b1',
    counter: 1,
    issuedMs: utcMs,
    expiresMs: utcMs + 6e4,
    feature: 'enginecutoff',
    state: '1',
    mode: 'interlock',
    reason: '',
    issuer: 'acme/op',
    cancel: false,
    ...over,
  };
  return `good.${JSON.stringify(body)}`;
}

export const orderFact = (
  over: Partial<CommandBody> = {},
  origin: 'new' | 'waiting' | 'carried' = 'new',
  agoMs = 1000,
) =>
  ({ kind: 'order', atMs: nowMs - agoMs, origin, proof: { kind: 'broker', token: tokenOf(over) } }) as const;

export const inputsFact = (ignition: boolean | null, motion: boolean | null, agoMs = 100): GuardFact => ({
  kind: 'inputs',
  atMs: nowMs - agoMs + 20,
  askedMs: nowMs - agoMs,
  ignition,
  motion,
});

export const speedFact = (
  kmh: number | null,
  agoMs = 300,
  of: 'RMC' | 'VTG' = 'RMC',
  isFix: boolean | null = true,
) => ({ kind: 'speed', atMs: nowMs - agoMs, of, kmh, isFix }) as const;

/** Steps without a hold-up in the last seconds. */
const steps: readonly GuardFact[] = Array.from({ length: 31 }, (_, at) => ({
  kind: 'step',
  atMs: nowMs - 3e3 + at * 100,
}));
const cutOff: LineRequest = { kind: 'writeCoil', unit: 1, address: 0, on: true };
export const unlock: LineRequest = { kind: 'writeCoil', unit: 1, address: 1, on: true };

export const stateAfter = (
  facts: readonly GuardFact[],
  setup = guardSetup,
  before = createGuard(),
): GuardState => facts.reduce((state, fact) => recordFact(setup, state, fact), before);

/** Parked with its key off, a fix and an order to cut the engine. */
export const parked: readonly GuardFact[] = [
  ...steps,
  // Just often enough that the motion input is read without a gap.
  ...Array.from({ length: 20 }, (_, at) => inputsFact(false, false, 60_020 - at * 3000)),
  inputsFact(false, false),
  speedFact(0.2),
  orderFact(),
];

export interface Asking {
  readonly setup?: Partial<GuardSetup>;
  readonly request?: LineRequest;
  readonly atMs?: number;
  readonly isAllowed?: boolean | 'throw';
}

/** A case as lines of `guard-lines.mjs`; its last one asks. */
export function linesOf(facts: readonly GuardFact[], asking: Asking = {}): readonly Line[] {
  const { verifier, verifyPersons, ...rest } = { ...guardSetup, ...asking.setup };
  const setup = { ...rest, hasKey: verifier !== null, hasOwner: verifyPersons !== null };
  const { request = cutOff, atMs = nowMs, isAllowed = true } = asking;
  return [{ setup }, ...facts.map((fact) => ({ fact })), { ask: { nowMs: atMs, request, isAllowed } }];
}

/** The answer after these facts: `permit`, or the conditions that do not hold. */
export function answerTo(facts: readonly GuardFact[], asking: Asking = {}): 'permit' | readonly Refusal[] {
  const setup = { ...guardSetup, ...asking.setup };
  const { request = cutOff, atMs = nowMs, isAllowed = true } = asking;
  const { permit, refusals } = askGuard(setup, stateAfter(facts, setup), {
    request,
    nowMs: atMs,
    isAllowed: () => verdictOf(isAllowed),
  });
  return permit === null ? refusals : 'permit';
}

/** Facts and questions in which permits follow one another; a number asks for a cut of the parked vehicle at that time from now on, ms. */
export type Course = readonly [
  what: string,
  lines: readonly (GuardFact | number)[],
  answers: readonly ('permit' | readonly Refusal[])[],
];

const later = (fact: GuardFact, ms: number): GuardFact =>
  fact.kind === 'inputs' && fact.askedMs !== null
    ? { ...fact, atMs: fact.atMs + ms, askedMs: fact.askedMs + ms }
    : { ...fact, atMs: fact.atMs + ms };

/** A course as lines of `guard-lines.mjs`. */
export function linesOfCourse([, course]: Course): readonly Line[] {
  const facts = parked.filter(({ kind }) => kind !== 'order');
  const lines = course.flatMap((line): readonly Line[] => {
    if (typeof line !== 'number') return [{ fact: line }];
    const ask = { nowMs: nowMs + line, request: cutOff, isAllowed: true };
    return [...facts.map((fact) => ({ fact: later(fact, line) })), { ask }];
  });
  return [...linesOf([]).slice(0, 1), ...lines];
}

/** The answers of the guard in a course. */
export function answersOf(course: Course): Course[2] {
  const answer = createLineGuard();
  return linesOfCourse(course).flatMap((line) => {
    const text = answer(line);
    if (text === null) return [];
    const { permit, refusals } = JSON.parse(text) as { permit: boolean; refusals: readonly Refusal[] };
    return [permit ? ('permit' as const) : refusals];
  });
}
