// The relay guard in JSON lines, and random lines that come near each of its limits: what the oracle in another language is compared by.
// `agent/guard/README.md` defines the lines.
import { createGuard, type GuardFact, type GuardSetup, recordFact } from '../../../agent/guard/facts.ts';
import { askGuard, type LineRequest } from '../../../agent/guard/guard.ts';
import { createSeededEntropy } from '../../../simulator/core/random.ts';
import type { CommandBody } from '../../../src/core/wire/wire.ts';

/** Stands for the verification of a signature. */
export const plainVerifier = {
  verify: (token: string): Uint8Array | null =>
    token.startsWith('good.') ? new TextEncoder().encode(token.slice('good.'.length)) : null,
};

export interface SetupLine {
  readonly setup: Omit<GuardSetup, 'verifier' | 'warningMs'> & {
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

const features = ['enginecutoff', 'cargoaccess'] as const;
const utcMs = Date.UTC(2027, 0, 1);

function randomSetup(luck: Luck): SetupLine['setup'] {
  const isCoil = luck.chance(0.7);
  const relays = features.map((feature, at) => ({
    feature,
    unit: 1,
    addresses: isCoil ? [at, 0x200 + at] : [at],
    off: isCoil ? null : at * 2,
  }));
  const input = () => (luck.chance(0.85) ? { invert: luck.chance(0.5) } : null);
  return {
    accountID: 'acme',
    deviceID: 'truck-1',
    boot: 'b1',
    relays,
    zoneCuts: luck.chance(0.7),
    ignition: input(),
    motion: input(),
    mayLackFix: luck.chance(0.7),
    warningMs: luck.chance(0.5) ? 3e4 : null,
  };
}

interface Life {
  readonly luck: Luck;
  readonly setup: SetupLine['setup'];
  nowMs: number;
  counter: number;
}

function randomProof(life: Life) {
  const { luck, nowMs } = life;
  const feature = pick(luck, features);
  const kind = mostly(luck, 'broker', ['zone', 'attended'] as const);
  if (kind === 'attended') return { kind, feature, agreedMs: nowMs - pick(luck, [0, 100, 124_999, 125_000]) };
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
    'rpm',
    'bus',
    'clock',
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
        askedMs: mostly(luck, atMs, [atMs - 100, atMs - 599, atMs - 600, atMs - 601, null]),
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
    case 'rpm':
      return { kind, atMs, value: pick(luck, [null, 0, 0, 99.9, 100, 800]) };
    case 'bus':
      return { kind, atMs, kmh: mostly(luck, null, [0, 3, 3.1]), rpm: mostly(luck, null, [0, 299, 300]) };
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
  const isCoil = setup.relays[0]?.off === null;
  const unit = mostly(luck, 1, [2]);
  const address = pick(luck, [0, 0, 0, 1, 1, 2, 0x200]);
  if (luck.chance(0.03))
    return { kind: pick(luck, ['readBits', 'readRegisters']), unit, first: 0, count: 8 } as LineRequest;
  if (luck.chance(0.06)) {
    const values = isCoil ? [luck.chance(0.5), luck.chance(0.5)] : [luck.integer(0, 2), luck.integer(0, 2)];
    return { kind: isCoil ? 'writeCoils' : 'writeRegisters', unit, first: pick(luck, [0, 1, 5]), values };
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
  200, 201, 600, 1870, 2000, 2001, 3000, 3001, 4000, 10_000, 30_000, 600_000, 3_600_000,
] as const;

/** Random lines from a seed: lives of some hundreds each. */
export function* randomLines(seed: string, steps: number): Generator<string> {
  const luck = createSeededEntropy(`guard-${seed}`);
  let life: Life | null = null;
  for (let at = 0; at < steps; at += 1) {
    if (life === null || luck.chance(0.003)) {
      life = { luck, setup: randomSetup(luck), nowMs: luck.integer(0, 1000), counter: 0 };
      yield JSON.stringify({ setup: life.setup });
    }
    life.nowMs += luck.chance(0.97) ? pick(luck, passes) : pick(luck, rarePasses);
    const { nowMs } = life;
    if (luck.chance(0.8)) yield JSON.stringify({ fact: { kind: 'step', atMs: nowMs } });
    if (luck.chance(0.7)) yield JSON.stringify({ fact: randomFact(life) });
    else {
      const isAllowed = mostly<boolean | 'throw'>(luck, true, [false, 'throw']);
      yield JSON.stringify({ ask: { nowMs, request: randomRequest(life), isAllowed } });
    }
  }
}
