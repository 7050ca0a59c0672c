// The relay guard: each condition at its bounds, what an order is worth, and every abstract state against the guarantees that it gives alone.
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { relayRequest, wiringsOf } from '../../agent/core/board/board-profile.ts';
import type { ModbusRequest } from '../../agent/core/board/modbus-frame.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import { readingPermit } from '../../agent/core/kernel/vehicle-guard.ts';
import type { GuardState } from '../../agent/guard/facts.ts';
import { askGuard } from '../../agent/guard/guard.ts';
import { boardNames, fittedOverrides } from '../../simulator/hardware/board-maps.ts';
import { ago, conditions, courses, lives, requests, without } from '../support/guard/guard-cases.ts';
import {
  answersOf,
  answerTo,
  guardSetup,
  nowMs,
  orderFact,
  parked,
  stateAfter,
} from '../support/guard/guard-rig.ts';

describe('the relay guard', () => {
  it.each(conditions.map((one) => [one[0], one] as const))(
    'answers by its facts: %s',
    (_what, [, facts, refusals, asking]) => {
      expect(answerTo(facts, asking)).toEqual(refusals);
    },
  );

  it.each(lives.map((one) => [one[0], one] as const))(
    'answers by its orders: %s',
    (_what, [, facts, refusals, asking]) => {
      expect(answerTo(facts, asking)).toEqual(refusals);
    },
  );

  it.each(courses.map((one) => [one[0], one] as const))('remembers its permits: %s', (_what, course) => {
    expect(answersOf(course)).toEqual(course[2]);
  });

  it.each(requests)('knows what closes a relay: %o', (request, answer) => {
    expect(answerTo([], { request })).toEqual(answer);
  });

  it.each(boardNames)('knows all that the agent writes to %s, and nothing else', async (name) => {
    const verdict = applyOverrides(await readBoardProfile(name), fittedOverrides(name, 'positive'));
    if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
    const { profile } = verdict;
    const permit = readingPermit(profile);
    const isPermitted = (request: ModbusRequest | null): boolean =>
      request === null || permit(request) !== null;
    const registers = profile.setup.map(({ unit, first, value }) => {
      return {
        kind: 'writeRegister',
        unit: profile.units[unit]?.address ?? 0,
        address: first,
        value,
      } as const;
    });
    const safe = wiringsOf(profile).map(([relay]) => relayRequest(profile, relay, { energised: false }));
    const others = (['warning', 'loopback'] as const).map((one) =>
      relayRequest(profile, one, { energised: true }),
    );
    expect([...registers, ...safe, ...others].map(isPermitted)).not.toContain(false);
    const cut = relayRequest(profile, 'enginecutoff', { energised: true });
    expect(isPermitted(cut)).toBe(false);
    const unit = cut?.unit ?? 0;
    expect(isPermitted({ kind: 'writeCoil', unit, address: 0xff, on: true })).toBe(false);
    expect(isPermitted({ kind: 'writeRegister', unit, address: 0x3fff, value: 0 })).toBe(false);
  });

  it('knows a relay that is a register by the value that opens it', () => {
    const setup = { outputs: [{ feature: 'enginecutoff', unit: 1, addresses: [3, 4], off: 2 } as const] };
    const write = (value: number, kind = 'writeRegister') =>
      answerTo([], { setup, request: { kind, unit: 1, address: 4, value } });
    expect([write(2), write(0)]).toEqual(['permit', ['order', 'expiry', 'holdup', 'key', 'place']]);
    expect(
      answerTo([], { setup, request: { kind: 'writeRegisters', unit: 1, first: 3, values: [2, 2] } }),
    ).toBe('permit');
    expect(
      answerTo([], { setup, request: { kind: 'writeRegisters', unit: 1, first: 3, values: [2, 7] } }),
    ).not.toBe('permit');
    expect(write(0, 'pulseCoil')).toEqual(['fault']);
  });

  it('refuses when it fails, and lets the safe write pass', () => {
    const fail = (): never => {
      throw new Error('the interlock fails');
    };
    expect(answerTo(parked, { isAllowed: 'throw' })).toEqual(['fault']);
    const broken = new Proxy({} as GuardState, { get: fail });
    const ask = (on: boolean) =>
      askGuard(guardSetup, broken, {
        request: { kind: 'writeCoil', unit: 1, address: 0, on },
        nowMs,
        isAllowed: fail,
      });
    expect(ask(true).permit).toBeNull();
    expect(ask(false).permit).not.toBeNull();
  });

  it('takes an order that was carried out as used by a safe write, and no other', () => {
    const after = (origin: 'new' | 'carried') => {
      const state = stateAfter([orderFact({}, origin), ...without('order')]);
      const safe = askGuard(guardSetup, state, {
        request: { kind: 'writeCoil', unit: 1, address: 0, on: false },
        nowMs,
        isAllowed: () => true,
      });
      return safe.state.orders.enginecutoff?.id;
    };
    expect([after('new'), after('carried')]).toEqual(['c1', undefined]);
  });
});

/** Every choice of one from each list. */
function* allOf<Item>(lists: readonly (readonly Item[])[]): Generator<readonly Item[]> {
  const [head, ...rest] = lists;
  if (head === undefined) return yield [];
  for (const item of head) for (const tail of allOf(rest)) yield [item, ...tail];
}

describe('alone, in every abstract state', () => {
  const base = stateAfter(parked);
  const { ignition, motion } = base;
  const order = base.orders.enginecutoff;
  const input = (isActive: boolean | null, agoMs: number) => ({ isActive, askedMs: ago(agoMs) });
  type Piece = Partial<GuardState>;
  const pieces: readonly (readonly Piece[])[] = [
    [
      { ignition },
      { ignition: input(true, 100) },
      { ignition: input(null, 100) },
      { ignition: input(false, 700) },
    ],
    [
      { motion },
      { motion: input(true, 100), activeMs: ago(100) },
      { motion: input(null, 100) },
      { motion: input(false, 700) },
      { motion, activeMs: ago(20_000) },
      { motion, activeMs: ago(2000) },
    ],
    [{}, { fix: { kmh: null, atMs: ago(100) } }, { fix: { kmh: 0, atMs: ago(5000) } }],
    [{}, { fastMs: ago(1000) }],
    [
      {},
      { orders: {} },
      ...(order === undefined
        ? []
        : [
            { orders: { enginecutoff: { ...order, endMs: ago(1) } } },
            { orders: { enginecutoff: { ...order, isCarried: true } } },
            { orders: { enginecutoff: { ...order, kind: 'zone', id: 'x' } as const } },
          ]),
    ],
    [{}, { heldUpMs: ago(50) }, { stepMs: ago(300) }],
    [{}, { signs: { ...base.signs, rpm: ago(100) } }, { signs: { ...base.signs, busKmh: ago(100) } }],
    [{}, { warning: { sinceMs: ago(40_000), atMs: ago(100) } }],
    [
      {},
      { relays: { ...base.relays, enginecutoff: { ...base.relays.enginecutoff, closedMs: [ago(1000)] } } },
    ],
  ];

  it('lets nothing through against what it guarantees, and everything else', () => {
    let permits = 0;
    let states = 0;
    for (const chosen of allOf(pieces)) {
      const state: GuardState = Object.assign({}, base, ...chosen);
      for (const isAllowed of [true, false]) {
        states += 1;
        const { permit, refusals } = askGuard(guardSetup, state, {
          request: { kind: 'writeCoil', unit: 1, address: 0, on: true },
          nowMs,
          isAllowed: () => isAllowed,
        });
        expect(permit === null).toBe(refusals.length > 0);
        if (permit === null) continue;
        permits += 1;
        const key = state.ignition.isActive;
        const facts = {
          isAllowed,
          order: state.orders.enginecutoff?.kind === 'broker',
          alive:
            state.orders.enginecutoff?.isCarried === true || nowMs < (state.orders.enginecutoff?.endMs ?? 0),
          key: key === false || (key === true && state.warning.sinceMs <= ago(30_000)),
          inputs: [state.ignition, state.motion].every(
            ({ isActive, askedMs }) => isActive === null || askedMs >= ago(600),
          ),
          still: state.fastMs < ago(2000) && state.activeMs < ago(3000) && state.motion.isActive !== true,
          bus: state.signs.busKmh < ago(2000) && (key === true || state.signs.rpm < ago(10_000)),
          heldUp: state.heldUpMs <= ago(100) && state.stepMs >= ago(200),
          pace: state.relays.enginecutoff.closedMs.length === 0,
        };
        expect(Object.entries(facts).filter(([, holds]) => !holds)).toEqual([]);
      }
    }
    expect(states).toBeGreaterThan(30_000);
    expect(permits).toBeGreaterThan(20);
  });
});
