// What an installer may choose for the cut-off, as a specification: the choices can only make the interlock stricter or name
// a mode, a mode must fit the circuit and its wiring, and no number raises the ceiling (edge-agents 2.3, "configurable").
import fc from 'fast-check';
import { Create, Errors } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { applyOverrides } from '../../agent/core/board/board-profile.ts';
import type { Evidence } from '../../agent/core/protection/evidence.ts';
import {
  createRules,
  cutLimitKmh,
  decideChange,
  interlockLimits,
} from '../../agent/core/protection/interlock.ts';
import {
  describeProtection,
  type Protection,
  protectionFaults,
  protectionSchema,
  rulesOf,
  standardProtection,
} from '../../agent/core/protection/protection.ts';

const buzzer = { unit: 'io', kind: 'coil', address: 2, poll: 'relays', safe: 'de-energised' } as const;
const plain = await readBoardProfile('generic');
const verdict = applyOverrides(plain, { outputs: { warning: buzzer } });
if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
const wired = verdict.profile;

const chosen = (over: Partial<Protection>): Protection => ({ ...standardProtection, ...over });
const faultsOf = (over: Partial<Protection>, profile = wired): string =>
  protectionFaults(chosen(over), profile)
    .map(({ pointer, message }) => `${pointer}: ${message}`)
    .join('; ');

const cut = { feature: 'enginecutoff', state: '1', changesUtcMs: [] } as const;
const nowMs = 1_000_000;
/** Engine on, creeping at `speedKmh`, warned for `soundsForMs`. */
const creeping = (speedKmh: number, over: Partial<Evidence> = {}): Evidence => ({
  nowMs,
  ignition: { value: true, sinceMs: nowMs - 120_000 },
  panic: { value: false, sinceMs: 0 },
  motion: { value: null, sinceMs: 0 },
  speed: speedKmh <= 3 ? { kind: 'standing', forMs: 60_000 } : { kind: 'moving', speedKmh },
  trustedUtcMs: 1_800_000_000_000,
  latestUtcMs: 1_800_000_000_000,
  boardAlive: true,
  pace: { speedKmh, ageMs: 100, belowForMs: 60_000 },
  warning: { soundsForMs: 60_000, hasFault: false },
  ...over,
});
const standstillRules = createRules({ cutMode: 'at_standstill' });
const below = (cutBelowKmh: number) => createRules({ cutMode: 'below_speed', cutBelowKmh });

describe('the table [protection]', () => {
  it('is prevent-start where nothing is chosen', () => {
    expect(standardProtection).toMatchObject({
      cutMode: 'ignition_off',
      circuit: 'starter',
      noGnss: 'ignition_off_only',
      zoneCuts: false,
      unlockZones: 'never',
    });
    expect(rulesOf(standardProtection, plain)).toEqual(createRules({ isPanicFitted: true }));
    expect(faultsOf({}, plain)).toBe('');
  });

  it.each<[string, object]>([
    ['a speed above the ceiling', { cutMode: 'below_speed', cutBelowKmh: 20.1 }],
    ['a shorter time of ignition off', { ignitionOffS: 9 }],
    ['a shorter time without a position', { ignitionOffNoFixS: 59 }],
    ['a shorter standstill', { standstillS: 9 }],
    ['a shorter check period', { belowS: 9 }],
    ['a shorter warning', { warningS: 29 }],
    ['a worse HDOP', { hdopMost: 5.1 }],
    ['a mode that there is not', { cutMode: 'immediate' }],
    ['a place that is unsafe', { circuit: 'brakes' }],
  ])('refuses %s', (_what, over) => {
    expect(Errors(protectionSchema, { ...Create(protectionSchema), ...over })).not.toEqual([]);
  });

  it.each<[string, Partial<Protection>, RegExp | '']>([
    ['starter, at_standstill', { cutMode: 'at_standstill' }, ''],
    ['ignition, at_standstill', { cutMode: 'at_standstill', circuit: 'ignition' }, ''],
    ['pump, below_speed', { cutMode: 'below_speed', circuit: 'pump', cutBelowKmh: 10 }, ''],
    ['starter, below_speed', { cutMode: 'below_speed', cutBelowKmh: 10 }, /not for the starter circuit/],
    [
      'ignition, below_speed',
      { cutMode: 'below_speed', circuit: 'ignition', cutBelowKmh: 10 },
      /not for the ignition circuit/,
    ],
    ['below_speed without a speed', { cutMode: 'below_speed', circuit: 'pump' }, /needs it: 3 to 20 km\/h/],
    ['a speed without below_speed', { cutBelowKmh: 10 }, /means nothing with ignition_off/],
  ])('%s', (_what, over, words) => {
    if (words === '') expect(faultsOf(over)).toBe('');
    else expect(faultsOf(over)).toMatch(words);
  });

  it('wants a warning output, a relay and the ignition for a mode with ignition on', () => {
    expect(faultsOf({ cutMode: 'at_standstill' }, plain)).toMatch(/needs a warning output/);
    const { ignition: _ignition, ...inputs } = wired.inputs;
    expect(faultsOf({ cutMode: 'at_standstill' }, { ...wired, inputs })).toMatch(/needs the input ignition/);
  });

  it('tells the effective mode for the record', () => {
    expect(describeProtection(chosen({ cutMode: 'below_speed', circuit: 'pump', cutBelowKmh: 12 }))).toEqual({
      cutMode: 'below_speed',
      cutBelowKmh: 12,
      circuit: 'pump',
      noGnss: 'ignition_off_only',
      zoneCuts: false,
      unlockZones: 'never',
    });
  });
});

describe('rules', () => {
  it('are never weaker than their limits, whatever is put into them', () => {
    const any = fc.double({ min: -1e9, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(any, any, any, (ms, kmh, hdop) => {
        const delays = {
          ignitionOffMs: ms,
          ignitionOffNoFixMs: ms,
          standstillMs: ms,
          belowMs: ms,
          warningMs: ms,
        };
        const rules = createRules({ ...delays, cutBelowKmh: kmh, hdopMost: hdop });
        expect(rules.ignitionOffMs).toBeGreaterThanOrEqual(10_000);
        expect(rules.ignitionOffNoFixMs).toBeGreaterThanOrEqual(60_000);
        expect(rules.standstillMs).toBeGreaterThanOrEqual(10_000);
        expect(rules.belowMs).toBeGreaterThanOrEqual(10_000);
        expect(rules.warningMs).toBeGreaterThanOrEqual(30_000);
        expect(rules.hdopMost).toBeLessThanOrEqual(5);
        expect(cutLimitKmh({ ...rules, cutBelowKmh: kmh })).toBeLessThanOrEqual(20);
      }),
    );
  });

  it('cut nothing above the ceiling, even when somebody forged them', () => {
    const forged = { ...below(20), cutBelowKmh: 120 };
    for (let kmh = 20; kmh < 120; kmh += 1) expect(decideChange(cut, creeping(kmh), forged).go).toBe(false);
  });
});

describe('a cut with ignition on', () => {
  it.each<[string, ReturnType<typeof createRules>, Evidence]>([
    ['at standstill', standstillRules, creeping(0)],
    ['below 15 km/h', below(15), creeping(9)],
    ['below 15 km/h, standing', below(15), creeping(0)],
  ])('happens %s, after the warning, and must be on the wire at once', (_what, rules, evidence) => {
    expect(decideChange(cut, evidence, rules)).toEqual({ go: true, withinMs: interlockLimits.movingDriveMs });
  });

  it.each<[string, ReturnType<typeof createRules>, Evidence]>([
    ['ignition is on', createRules(), creeping(0)],
    ['ignition is unknown', below(15), creeping(0, { ignition: { value: null, sinceMs: 0 } })],
    ['the vehicle moves at 5 km/h', standstillRules, creeping(5)],
    ['the vehicle moves at 16 km/h', below(15), creeping(16)],
    [
      'below 15 km/h for less than 10 s',
      below(15),
      creeping(9, { pace: { speedKmh: 9, ageMs: 100, belowForMs: 9000 } }),
    ],
    [
      'the vehicle moves at 9 km/h',
      below(15),
      creeping(9, { pace: { speedKmh: 9, ageMs: 100, belowForMs: null } }),
    ],
    ['speed is unknown: too few positions in a row', below(15), creeping(9, { pace: null })],
    [
      'speed is unknown: no position',
      below(15),
      creeping(9, { speed: { kind: 'unknown', why: 'no position', suspect: false } }),
    ],
    ['the position was suspect lately', below(15), creeping(9, { wasSuspect: true })],
    // 14 km/h and 7 km/h more in each second that nobody sees: 20 km/h may be passed before the contact closes.
    [
      'the position is too old for this speed',
      below(15),
      creeping(14, { pace: { speedKmh: 14, ageMs: 900, belowForMs: 60_000 } }),
    ],
    [
      'the warning sounds for 30 s first',
      below(15),
      creeping(9, { warning: { soundsForMs: 29_999, hasFault: false } }),
    ],
    [
      'the warning sounds for 30 s first',
      below(15),
      creeping(9, { ignition: { value: true, sinceMs: nowMs - 20_000 } }),
    ],
    [
      'the warning output does not follow',
      standstillRules,
      creeping(0, { warning: { soundsForMs: null, hasFault: true } }),
    ],
    ['the I/O board is silent', standstillRules, creeping(0, { boardAlive: false })],
  ])('waits: %s', (waiting, rules, evidence) => {
    expect(decideChange(cut, evidence, rules)).toMatchObject({ go: false, waiting });
  });

  it('is never automatic: a geozone cuts with ignition off only, whatever the mode', () => {
    const rules = createRules({ cutMode: 'below_speed', cutBelowKmh: 15, zoneCuts: true });
    expect(decideChange({ ...cut, isAutomatic: true }, creeping(0), rules)).toMatchObject({
      waiting: 'ignition is on',
    });
  });

  it('a fault of the warning output is in the way of no restore', () => {
    const broken = creeping(80, { warning: { soundsForMs: null, hasFault: true } });
    expect(decideChange({ ...cut, state: '0' }, broken, standstillRules)).toEqual({ go: true });
  });
});

describe('without a position', () => {
  const parked = creeping(0, {
    ignition: { value: false, sinceMs: 0 },
    motion: { value: false, sinceMs: 0 },
    speed: { kind: 'unknown', why: 'no position', suspect: false },
    pace: null,
  });

  it('ignition off and a motion sensor will do, unless the installer wants it to wait', () => {
    expect(decideChange(cut, parked).go).toBe(true);
    expect(decideChange(cut, parked, createRules({ noGnss: 'wait' }))).toMatchObject({ go: false });
  });
});

describe('an automatic cut', () => {
  const rules = createRules({ zoneCuts: true, isPanicFitted: true });
  const off = creeping(0, { ignition: { value: false, sinceMs: 0 } });
  const automatic = { ...cut, isAutomatic: true };

  it.each<[string, Partial<Evidence>]>([
    ['panic is active', { panic: { value: true, sinceMs: nowMs - 5000 } }],
    ['panic was active or unknown lately', { panic: { value: false, sinceMs: nowMs - 299_000 } }],
    ['panic was active or unknown lately', { panic: { value: null, sinceMs: 0 } }],
    ['the position was suspect lately', { wasSuspect: true }],
  ])('waits: %s; a person does not', (waiting, over) => {
    expect(decideChange(automatic, { ...off, ...over }, rules)).toMatchObject({ go: false, waiting });
    expect(decideChange(cut, { ...off, ...over }, rules).go).toBe(true);
  });

  it('is off unless the installer allows it', () => {
    expect(decideChange(automatic, off, rules).go).toBe(true);
    expect(decideChange(automatic, off)).toMatchObject({ waiting: 'automatic cuts are switched off' });
  });
});

describe('the cargo lock', () => {
  const unlock = { feature: 'cargoaccess', state: '1', changesUtcMs: [] } as const;
  const allowed = createRules({ unlockZones: true });

  it('opens in an allowed zone, slowly, by a believable fix; elsewhere at standstill only', () => {
    expect(decideChange(unlock, creeping(8, { zone: true }), allowed).go).toBe(true);
    expect(decideChange(unlock, creeping(8, { zone: true })).go).toBe(false);
    expect(decideChange(unlock, creeping(8, { zone: false }), allowed).go).toBe(false);
    expect(decideChange(unlock, creeping(40, { zone: true }), allowed).go).toBe(false);
    const lost = { speed: { kind: 'unknown', why: 'no position', suspect: false } } as const;
    expect(decideChange(unlock, creeping(8, { zone: true, ...lost }), allowed).go).toBe(false);
  });
});
