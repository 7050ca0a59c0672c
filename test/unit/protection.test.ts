// What an installer may choose for the cut-off, as a specification: the choices can only make the interlock stricter or name
// a mode, and a mode must fit its wiring (edge-agents 2.3, "configurable"). What the interlock makes of them is in `judge.test.ts`.
import fc from 'fast-check';
import { Create, Errors } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import { createRules } from '../../agent/core/protection/interlock-rules.ts';
import {
  describeProtection,
  type Protection,
  protectionFaults,
  protectionSchema,
  rulesOf,
  standardProtection,
} from '../../agent/core/protection/protection.ts';

const buzzer = { unit: 'io', kind: 'coil', address: 2, poll: 'relays', safe: 'de-energised' } as const;
const motion = { poll: 'inputs', address: 6, invert: false, debounceMs: 200 } as const;
const plain = await readBoardProfile('generic');
const verdict = applyOverrides(plain, { outputs: { warning: buzzer }, inputs: { motion } });
if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
const wired = verdict.profile;

const chosen = (over: Partial<Protection>): Protection => ({ ...standardProtection, ...over });
const faultsOf = (over: Partial<Protection>, profile = wired): string =>
  protectionFaults(chosen(over), profile)
    .map(({ pointer, message }) => `${pointer}: ${message}`)
    .join('; ');

describe('the table [protection]', () => {
  it('is prevent-start where nothing is chosen', () => {
    expect(standardProtection).toMatchObject({
      cutMode: 'ignition_off',
      circuit: 'starter',
      noGnss: 'ignition_off_only',
      zoneCuts: false,
    });
    expect(rulesOf(standardProtection, plain)).toEqual(createRules({ isPanicFitted: true }));
    expect(faultsOf({}, plain)).toBe('');
  });

  it.each<[string, object]>([
    ['a cut of a moving vehicle', { cutMode: 'below_speed' }],
    ['a shorter time of ignition off', { ignitionOffS: 9 }],
    ['a shorter time without a position', { ignitionOffNoFixS: 59 }],
    ['a shorter standstill', { standstillS: 9 }],
    ['a shorter warning', { warningS: 29 }],
    ['a worse HDOP', { hdopMost: 8.1 }],
    ['a mode that there is not', { cutMode: 'immediate' }],
    ['a place that is unsafe', { circuit: 'brakes' }],
    ['a circuit by its old name', { circuit: 'pump' }],
  ])('refuses %s', (_what, over) => {
    expect(Errors(protectionSchema, { ...Create(protectionSchema), ...over })).not.toEqual([]);
  });

  it('allows a cut with ignition on where the relay cannot stop a running engine only', () => {
    expect(faultsOf({ cutMode: 'at_standstill', circuit: 'starter' })).toBe('');
    for (const circuit of ['ignition', 'fuel'] as const) {
      expect(faultsOf({ cutMode: 'at_standstill', circuit })).toMatch(/setting off: leave ignition_off/);
      expect(rulesOf(chosen({ cutMode: 'at_standstill', circuit }), wired).cutMode).toBe('ignition_off');
    }
  });

  it('wants a warning output, a relay, the ignition and a motion input for a mode with ignition on', () => {
    const { ignition: _ignition, ...withoutIgnition } = wired.inputs;
    const { motion: _motion, ...withoutMotion } = wired.inputs;
    const { enginecutoff: _relay, ...relays } = wired.relays;
    const at = (profile: typeof wired): string => faultsOf({ cutMode: 'at_standstill' }, profile);
    expect(at(plain)).toMatch(/needs a warning output/);
    expect(at({ ...wired, inputs: withoutIgnition })).toMatch(/needs the input ignition/);
    expect(at({ ...wired, inputs: withoutMotion })).toMatch(/wire a motion input/);
    expect(at({ ...wired, relays })).toMatch(/no relay enginecutoff/);
  });

  it('reports the effective mode for the record', () => {
    expect(describeProtection(chosen({ cutMode: 'at_standstill', zoneCuts: true }))).toEqual({
      cutMode: 'at_standstill',
      circuit: 'starter',
      noGnss: 'ignition_off_only',
      zoneCuts: true,
    });
  });

  it.each<Protection['circuit']>(['ignition', 'fuel'])(
    'always waits for a position in the %s circuit, which can stop a running engine, and says so',
    (circuit) => {
      const protection = chosen({ circuit, noGnss: 'ignition_off_only' });
      expect(describeProtection(protection)).toMatchObject({ noGnss: 'wait' });
      expect(rulesOf(protection, wired)).toMatchObject({
        canStopEngine: true,
        noGnss: 'wait',
        ignitionOffMs: 30_000,
        standstillMs: 30_000,
      });
    },
  );
});

describe('rules', () => {
  it('are never weaker than their limits, whatever is put into them', () => {
    const any = fc.double({ min: -1e9, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(any, any, fc.boolean(), (ms, hdop, canStopEngine) => {
        const cutMode = 'at_standstill';
        const delays = { ignitionOffMs: ms, ignitionOffNoFixMs: ms, standstillMs: ms, warningMs: ms };
        const rules = createRules({ ...delays, hdopMost: hdop, canStopEngine, cutMode });
        const floorMs = canStopEngine ? 30_000 : 10_000;
        expect(rules.ignitionOffMs).toBeGreaterThanOrEqual(floorMs);
        expect(rules.ignitionOffNoFixMs).toBeGreaterThanOrEqual(60_000);
        expect(rules.standstillMs).toBeGreaterThanOrEqual(floorMs);
        expect(rules.warningMs).toBeGreaterThanOrEqual(30_000);
        expect(rules.hdopMost).toBeLessThanOrEqual(8);
        if (canStopEngine) expect(rules).toMatchObject({ noGnss: 'wait', cutMode: 'ignition_off' });
      }),
    );
  });
});
