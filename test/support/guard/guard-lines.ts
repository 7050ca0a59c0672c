// The relay guard in JSON lines, and random lines that come near each of its limits: what the oracle in another language is compared by.
// `agent/guard/README.md` defines the lines.
import { createGuard, type GuardFact, type GuardSetup, recordFact } from '../../../agent/guard/facts.ts';
import { askGuard, type LineRequest } from '../../../agent/guard/guard.ts';
import { createSeededEntropy } from '../../../simulator/core/random.ts';
import type { VerifyPersons } from '../../../src/core/persons/persons.ts';
import type { CommandBody } from '../../../src/core/wire/wire.ts';

const features = ['enginecutoff', 'cargoaccess'] as const;
const utcMs = Date.UTC(2027, 0, 1);

/** Stands for the verification of a signature. */
export const plainVerifier = {
  verify: (token: string): Uint8Array | null =>
    token.startsWith('good.') ? new TextEncoder().encode(token.slice('good.'.length)) : null,
};

/** A list of persons as lines have it: their credentials stand for them. */
export interface PlainList {
  readonly validUntilMs: number;
  readonly needed: Readonly<Record<(typeof features)[number], number>>;
  readonly persons: readonly string[];
}

/** Stands for the check of assertions: their credentials must be on the list. */
export const plainPersons: VerifyPersons = (given, { feature, expiresMs }, assertions, nowMs) => {
  const list = given as unknown as PlainList | null;
  const by = assertions.map(({ credential }) => credential);
  const agrees =
    list !== null &&
    nowMs !== null &&
    nowMs < Math.min(list.validUntilMs, expiresMs) &&
    by.every((one) => list.persons.includes(one)) &&
    new Set(by).size >= list.needed[feature];
  return agrees ? { ok: true, persons: by } : { ok: false, refusal: { reason: 'too_few' } };
};

export interface SetupLine {
  readonly setup: Omit<GuardSetup, 'verifier' | 'verifyPersons' | 'warningMs'> & {
    /** An owner's key is pinned. */
    readonly hasOwner: boolean;
    readonly warningMs: number | null;
    /** False: no key of a broker is pinned. */
    readonly hasKey?: boolean;
  };
}
interface AskLine {
  readonly ask: {
    readonly nowMs: number;
    readonly request: LineRequest;
    readonly isAllowed: boolean | 'throw';
  };
}
export type Line = SetupLine | AskLine | { readonly fact: GuardFact };

export const setupOfLine = ({ setup }: SetupLine): GuardSetup => ({
  ...setup,
  warningMs: setup.warningMs ?? Number.POSITIVE_INFINITY,
  verifier: setup.hasKey === false ? null : plainVerifier,
  verifyPersons: setup.hasOwner ? plainPersons : null,
});

/** The verdict of an interlock as a line names it. */
export function verdictOf(said: boolean | 'throw'): boolean {
  if (said === 'throw') throw new Error('the interlock fails');
  return said;
}

const ours = { createGuard, recordFact, askGuard };

/** Takes one line after the other; answers questions, and null to all else. @param guard a mutant, where it is not the guard itself. */
export function createLineGuard(guard = ours): (line: Line) => string | null {
  let setup: GuardSetup | null = null;
  let state = guard.createGuard();
  return (line) => {
    if ('setup' in line) {
      setup = setupOfLine(line);
      state = guard.createGuard();
      return null;
    }
    if (setup === null) throw new Error('the first line must be a setup');
    if ('fact' in line) {
      state = guard.recordFact(setup, state, line.fact);
      return null;
    }
    const { nowMs, request, isAllowed } = line.ask;
    const answer = guard.askGuard(setup, state, { request, nowMs, isAllowed: () => verdictOf(isAllowed) });
    state = answer.state;
    const { permit, refusals } = answer;
    return JSON.stringify(permit === null ? { permit: false, refusals } : { permit: true });
  };
}

type Luck = ReturnType<typeof createSeededEntropy>;
const pick = <Item>(luck: Luck, items: readonly Item[]): Item =>
  items[luck.integer(0, items.length - 1)] as Item;
/** The first with a chance of nine in ten or so: worlds in which a cut is permitted must not be rare. */
const mostly = <Item>(luck: Luck, usual: Item, others: readonly Item[]): Item =>
  luck.chance(0.93) ? usual : pick(luck, others);

function randomSetup(luck: Luck): SetupLine['setup'] {
  const isCoil = luck.chance(0.7);
  const cargoUnit = mostly(luck, 1, [2]);
  const relays = features.map((feature, at) => ({
    feature,
    unit: at === 0 ? 1 : cargoUnit,
    addresses: isCoil ? [at, 0x200 + at] : [at],
    off: isCoil ? null : at * 2,
  }));
  const input = () => (luck.chance(0.85) ? { invert: luck.chance(0.5) } : null);
  return {
    accountID: 'acme',
    deviceID: 'truck-1',
    boot: 'b1',
    outputs: [
      ...relays,
      { feature: null, unit: 1, addresses: [2], off: isCoil ? null : 0 },
      { feature: null, unit: 1, addresses: [0x1000], off: -1 },
      { feature: null, unit: 2, addresses: [0], off: null },
    ],
    zoneCuts: luck.chance(0.7),
    ignition: input(),
    motion: input(),
    mayLackFix: luck.chance(0.7),
    warningMs: luck.chance(0.5) ? 3e4 : null,
    hasOwner: luck.chance(0.2),
    hasKey: luck.chance(0.98),
  };
}

interface Life {
  readonly luck: Luck;
  readonly setup: SetupLine['setup'];
  nowMs: number;
  counter: number;
}

function agreed(luck: Luck): NonNullable<CommandBody['assertions']> {
  const by = mostly(luck, ['ann', 'bob'], [['ann'], [], ['ann', 'ann'], ['ann', 'eve'], ['bob', 'cid']]);
  return by.map((credential) => ({ credential, clientData: 'x', authenticatorData: 'x', signature: 'x' }));
}

function randomList(luck: Luck): PlainList | null {
  if (luck.chance(0.1)) return null;
  const needed = { enginecutoff: mostly(luck, 2, [1, 3]), cargoaccess: 1 };
  const validUntilMs = utcMs + mostly(luck, 9e9, [0, 30_000]);
  return { validUntilMs, needed, persons: mostly(luck, ['ann', 'bob'], [['ann'], []]) };
}

function randomProof(life: Life, feature = pick(life.luck, features)) {
  const { luck, nowMs } = life;
  const kind = mostly(luck, 'broker', ['zone', 'attended'] as const);
  if (kind === 'attended')
    return { kind, feature, agreedMs: nowMs - pick(luck, [-1, 0, 100, 124_999, 125_000]) };
  if (kind === 'zone')
    return {
      kind,
      feature,
      zoneID: 'z1',
      to: 'inside',
      untilMs: utcMs + pick(luck, [-1, 0, 1, 9e5]),
    } as const;
  life.counter += mostly(luck, 1, [0, -1, 2]);
  const body: CommandBody = {
    accountID: mostly(luck, 'acme', ['other']),
    deviceID: mostly(luck, 'truck-1', ['truck-2']),
    commandID: `c${luck.integer(1, 3)}`,
    boot: mostly(luck, 'b1', ['b0']),
    counter: Math.max(0, life.counter),
    issuedMs: utcMs,
    expiresMs: utcMs + pick(luck, [0, 1, 1e3, 6e4, 9e5]),
    feature,
    state: mostly(luck, '1', ['0']),
    mode: 'interlock',
    reason: '',
    issuer: 'acme/op',
    cancel: luck.chance(0.05),
    ...(life.setup.hasOwner ? { assertions: agreed(luck) } : {}),
  };
  return { kind, token: `${mostly(luck, 'good.', ['bad.'])}${JSON.stringify(body)}` } as const;
}

function randomFact(life: Life): GuardFact {
  const { luck, setup, nowMs: atMs } = life;
  const kinds = [
    'speed',
    'speed',
    'inputs',
    'inputs',
    'inputs',
    'relays',
    'sign',
    'sign',
    'clock',
    'owner',
    'grants',
    'order',
  ] as const;
  const bit = (fitted: { readonly invert: boolean } | null) =>
    mostly(luck, fitted?.invert === true, [fitted?.invert !== true, null]);
  const kind = pick(luck, kinds);
  switch (kind) {
    case 'inputs':
      return {
        kind,
        atMs,
        askedMs: mostly(luck, atMs, [atMs - 100, atMs - 599, atMs - 600, atMs - 601, atMs + 1, null]),
        ...(luck.chance(0.9) ? { ignition: bit(setup.ignition) } : {}),
        ...(luck.chance(0.9) ? { motion: bit(setup.motion) } : {}),
      };
    case 'relays':
      return {
        kind,
        atMs,
        enginecutoff: mostly(luck, luck.chance(0.5), [null]),
        warning: mostly(luck, true, [false, null]),
        ...(luck.chance(0.8) ? { cargoaccess: luck.chance(0.5) } : {}),
      };
    case 'sign': {
      const of = pick(luck, ['rpm', 'busRpm', 'busKmh'] as const);
      const least = { rpm: 100, busRpm: 300, busKmh: 3 }[of];
      return { kind, atMs, of, value: mostly(luck, pick(luck, [null, 0, least - 0.1]), [least, 800]) };
    }
    case 'owner':
      return { kind, atMs, list: randomList(luck) } as unknown as GuardFact;
    case 'speed':
      return {
        kind,
        atMs,
        of: mostly(luck, 'RMC', ['VTG']),
        kmh: mostly(luck, pick(luck, [0, 0.4, 3]), [3.01, 50, null]),
        isFix: mostly<boolean | null>(luck, true, [false, null]),
      };
    case 'clock':
      return { kind, atMs, utcMs: utcMs + pick(luck, [-1000, 0, 500, 899_000]), isSigned: luck.chance(0.3) };
    case 'grants':
      return {
        kind,
        atMs,
        grants: mostly(luck, ['enginecutoff inside z1', 'cargoaccess inside z1'], [[], ['x']]),
      };
    case 'order':
      return {
        kind,
        atMs,
        proof: randomProof(life),
        origin: mostly(luck, 'new', ['waiting', 'carried'] as const),
      };
  }
}

function randomRequest({ luck, setup }: Life): LineRequest {
  const isCoil = setup.outputs[0]?.off === null;
  const unit = mostly(luck, 1, [0, 2, 3]);
  const address = mostly(luck, pick(luck, [0, 0, 0, 1, 1, 2, 0x200]), [3, 0x1000]);
  if (luck.chance(0.03))
    return { kind: pick(luck, ['readBits', 'readRegisters']), unit, first: 0, count: 8 } as LineRequest;
  if (luck.chance(0.06)) {
    const values = isCoil ? [luck.chance(0.5), luck.chance(0.5)] : [luck.integer(0, 2), luck.integer(0, 2)];
    return { kind: isCoil ? 'writeCoils' : 'writeRegisters', unit, first: pick(luck, [0, 1, 2, 5]), values };
  }
  if (mostly(luck, isCoil, [!isCoil]))
    return luck.chance(0.8)
      ? { kind: 'writeCoil', unit, address, on: luck.chance(0.8) }
      : { kind: 'pulseCoil', unit, address, value: 50 };
  return { kind: 'writeRegister', unit, address, value: luck.integer(0, 3) };
}

/** Times that pass between two lines, ms; the rare ones are limits. */
const passes = [0, 5, 19, 20, 50, 50, 50, 100, 100] as const;
const rarePasses = [
  200, 201, 600, 1870, 2000, 2001, 3000, 3001, 4000, 6000, 10_000, 30_000, 600_000, 3_600_000,
] as const;

const factLine = (fact: GuardFact): string => JSON.stringify({ fact });

/** What the record kept, before the first step. */
function* keptLines(life: Life): Generator<string> {
  const { luck, nowMs: atMs } = life;
  for (let at = luck.integer(0, 2); at > 0; at -= 1) {
    const origin = pick(luck, ['waiting', 'carried'] as const);
    yield factLine({ kind: 'order', atMs, proof: randomProof(life), origin });
  }
  if (life.setup.hasOwner)
    yield factLine({ kind: 'owner', atMs, list: randomList(luck) } as unknown as GuardFact);
}

/** Steps that are due, readings of a parked vehicle, and an order: mostly what a cut needs. */
function* parkedLines(life: Life, scene: { readonly isActive: boolean; readonly hasFix: boolean }) {
  const { luck, setup } = life;
  for (let at = 0; at < 4; at += 1) {
    life.nowMs += 90;
    yield factLine({ kind: 'step', atMs: life.nowMs });
  }
  const atMs = life.nowMs;
  const bit = (fitted: { readonly invert: boolean } | null, isOn: boolean) =>
    (fitted?.invert ?? false) !== isOn;
  const [ignition, motion] = [bit(setup.ignition, false), bit(setup.motion, scene.isActive)];
  yield factLine({ kind: 'inputs', atMs, askedMs: atMs - 20, ignition, motion });
  if (scene.hasFix) yield factLine({ kind: 'speed', atMs, of: 'RMC', kmh: 0, isFix: true });
  yield factLine({ kind: 'clock', atMs, utcMs, isSigned: true });
  const feature = mostly(luck, 'enginecutoff', ['cargoaccess'] as const);
  if (luck.chance(0.9))
    yield factLine({ kind: 'order', atMs, proof: randomProof(life, feature), origin: 'new' });
  yield ask(life, mostly(luck, cutOf(life), [randomRequest(life)]));
}

/** A vehicle that reads the same for long: at rest without a position, or with a motion input that is stuck. */
function* longLines(life: Life): Generator<string> {
  const { luck, setup } = life;
  const isActive = luck.chance(0.2);
  const motion = (setup.motion?.invert ?? false) !== isActive;
  for (let at = luck.integer(isActive ? 204 : 9, isActive ? 214 : 13); at > 0; at -= 1) {
    life.nowMs += mostly(luck, 2900, [3000, 1]);
    const atMs = life.nowMs;
    yield factLine({ kind: 'step', atMs });
    yield factLine({ kind: 'inputs', atMs, askedMs: atMs, motion: luck.chance(0.999) ? motion : !motion });
  }
  yield* parkedLines(life, { isActive, hasFix: isActive || luck.chance(0.3) });
}

/** A relay that is read after a cut, past the life of its order, and falls off. */
function* cutLines(life: Life): Generator<string> {
  const { luck } = life;
  const relays = (enginecutoff: boolean) => factLine({ kind: 'relays', atMs: life.nowMs, enginecutoff });
  for (let at = luck.integer(1, 8); at > 0; at -= 1) {
    yield* parkedLines(life, { isActive: false, hasFix: true });
    life.nowMs += mostly(luck, 100, [0, 1999, 2000, 3999, 4000, 4001]);
    yield relays(luck.chance(0.9));
    life.nowMs += mostly(luck, 4000, [3999, 3899, 3900, 10_000, 61_000]);
    yield relays(luck.chance(0.9));
    life.nowMs += pick(luck, [0, 1000, 5999, 6000, 61_000, 600_000]);
    yield relays(luck.chance(0.5));
  }
}

const cutOf = ({ setup }: Life): LineRequest =>
  setup.outputs[0]?.off === null
    ? { kind: 'writeCoil', unit: 1, address: 0, on: true }
    : { kind: 'writeRegister', unit: 1, address: 0, value: 1 };

function ask(life: Life, request = randomRequest(life)): string {
  const { luck } = life;
  const isAllowed = mostly<boolean | 'throw'>(luck, true, [false, 'throw']);
  const nowMs = life.nowMs - (luck.chance(0.01) ? 1 : 0);
  return JSON.stringify({ ask: { nowMs, request, isAllowed } });
}

/** Random lines from a seed: lives of some hundreds each. */
export function* randomLines(seed: string, steps: number): Generator<string> {
  const luck = createSeededEntropy(`guard-${seed}`);
  let life: Life | null = null;
  for (let at = 0; at < steps; at += 1) {
    if (life === null || luck.chance(0.003)) {
      life = { luck, setup: randomSetup(luck), nowMs: luck.integer(0, 1000), counter: 0 };
      yield JSON.stringify({ setup: life.setup });
      yield* keptLines(life);
    }
    if (luck.chance(0.003)) yield* longLines(life);
    if (luck.chance(0.003)) yield* cutLines(life);
    life.nowMs += luck.chance(0.97) ? pick(luck, passes) : pick(luck, rarePasses);
    if (luck.chance(0.8)) yield factLine({ kind: 'step', atMs: life.nowMs });
    yield luck.chance(0.7) ? factLine(randomFact(life)) : ask(life);
  }
}
