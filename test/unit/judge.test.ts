// The interlock as a specification, by its verdicts: each rule that alone is not met is named by the verdict's code, and nothing is
// allowed without two proven witnesses that agree (DESIGN 8, edge-agents 2.3).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cause } from '../../agent/core/evidence/common-causes.ts';
import type { GnssClaim } from '../../agent/core/evidence/gnss-claim.ts';
import type { Evidence, Witness, Witnesses } from '../../agent/core/evidence/testimony.ts';
import {
  judge,
  orderWithinMs,
  type RelayChange,
  wantsWarningOnly,
} from '../../agent/core/protection/interlock.ts';
import { createRules, interlockLimits, standardRules } from '../../agent/core/protection/interlock-rules.ts';
import { featureNames } from '../../src/core/events/event.ts';
import { isAllowed, ruleNames } from '../../src/core/verdict/verdict.ts';
import { verdictText } from '../../src/core/verdict/verdict-text.ts';
import { type WitnessName, witnessNames, witnessStates } from '../../src/core/verdict/witness.ts';
import {
  evidenceAt,
  fixtureUtcMs,
  moving,
  type Readings,
  still,
  unknownGnss,
} from '../support/vehicle/evidence-fixtures.ts';
import { apartCauses, livingCauses } from '../support/vehicle/plain-causes.ts';

const cut = { feature: 'enginecutoff', state: '1', occasion: 'command' } as const;
const unlock = { feature: 'cargoaccess', state: '1', occasion: 'command' } as const;
const automatic = { ...cut, occasion: 'automatic' } as const;
const reapply = { ...cut, occasion: 'reapply' } as const;
const attended = { ...cut, occasion: 'attended' } as const;

const nowMs = 1_000_000;
const at = (readings: Readings = {}): Evidence => evidenceAt(nowMs, readings);
const ago = (ms: number): number => nowMs - ms;
const quiet = { value: false, sinceMs: 0 } as const;
const blind: Readings = { gnss: unknownGnss('no_fix'), motion: quiet };
const garage: Readings = { ...blind, causes: apartCauses };
const on = { value: true, sinceMs: ago(60_000) } as const;
/** At a standstill with ignition on, after a whole warning. */
const warned: Readings = { ignition: on, motion: quiet, warning: { soundsForMs: 60_000, hasFault: false } };

const standstillRules = createRules({ cutMode: 'at_standstill' });
const zoneRules = createRules({ zoneCuts: true, isPanicFitted: true });
const fuelRules = createRules({ canStopEngine: true });
const waitRules = createRules({ noGnss: 'wait' });
const utcAgo = (ms: number): number => fixtureUtcMs + ago(ms);

/** What is allowed with nothing unmet, and then each rule that alone is not met. */
type Line = [code: string, change: RelayChange, readings: Readings, rules?: typeof standardRules];
const table: readonly Line[] = [
  ['allowed', cut, {}],
  ['board_alive', cut, { boardAlive: false }],
  ['time_known', cut, { trustedUtcMs: null, latestUtcMs: null }],
  ['time_known', { ...cut, isInherited: true }, { isTimeConfirmed: false }],
  ['change_interval_s', { ...cut, changesUtcMs: [utcAgo(9999)] }, {}],
  ['change_interval_s', { ...cut, changedMs: ago(9999), changesUtcMs: [utcAgo(60_000)] }, {}],
  ['allowed', { ...cut, changedMs: ago(10_000), changesUtcMs: [utcAgo(60_000)] }, {}],
  ['changes_per_hour', { ...cut, changesUtcMs: [1, 2, 3, 4, 5, 6].map((at) => utcAgo(at * 60_000)) }, {}],
  ['ignition_off', cut, { ignition: { value: null, sinceMs: 0 } }],
  ['ignition_off', cut, { ignition: on }],
  ['ignition_off', cut, { states: { ignition: 'suspended' }, motion: quiet }],
  ['ignition_off_s', cut, { ignition: { value: false, sinceMs: ago(9999) } }],
  ['speed_kmh', cut, { gnss: moving(3.1) }],
  ['no_movement', cut, { motion: { value: true, sinceMs: ago(100) } }],
  ['no_movement', cut, { motion: { value: true, sinceMs: ago(100) }, states: { motion: 'unproven' } }],
  ['no_movement', cut, { bus: { isMoving: true, isEngineRunning: false } }],
  ['engine_at_rest', cut, { bus: { isMoving: false, isEngineRunning: true } }],
  ['allowed', cut, { bus: { isMoving: false, isEngineRunning: false } }],
  ['engine_at_rest', cut, { rpm: 'active' }],
  ['engine_at_rest', cut, { voltage: 'active', states: { voltage: 'unproven' } }],
  ['standstill', cut, { gnss: unknownGnss('no_stop_seen'), motion: quiet }],
  ['standstill', cut, { gnss: unknownGnss('frozen'), motion: quiet }],
  ['standstill', cut, { gnss: unknownGnss('hdop'), motion: quiet }],
  ['standstill', cut, { gnss: unknownGnss('no_fix') }],
  ['standstill', cut, { ...blind, states: { motion: 'unproven' } }],
  ['standstill', cut, { ...blind, states: { motion: 'suspended' } }],
  ['standstill', cut, { ...blind, motion: { value: false, sinceMs: ago(29_999) } }],
  ['standstill_s', cut, { gnss: still(9999), motion: quiet }],
  ['witnesses', cut, { states: { ignition: 'unproven' } }],
  ['witnesses', cut, { states: { ignition: 'stale' } }],
  ['witnesses', cut, { states: { gnss: 'contradicted' } }],
  ['witnesses', cut, { states: { gnss: 'unproven' }, rpm: 'rest', voltage: 'rest' }],
  ['witnesses', cut, { states: { ignition: 'unproven' }, voltage: 'rest' }],
  ['ignition_off', cut, { states: { ignition: 'contradicted' }, motion: quiet }],
  ['speed_kmh', cut, { ...garage, gnss: { kind: 'unknown', fault: 'no_fix', saidKmh: 60 } }],
  ['allowed', cut, { ...garage, gnss: { kind: 'unknown', fault: 'no_fix', saidKmh: 0 } }],
  ['fix_age_ms', cut, { gnss: still(120_000, ago(301)) }],
  ['rising_kmh', cut, { gnss: still(120_000, undefined, 0.31) }],
  ['allowed', cut, { gnss: still(120_000, undefined, 0.3) }],
  ['allowed', { ...cut, isRehearsal: true }, { gnss: still(120_000, undefined, 1) }],
  ['allowed', { ...cut, isOnTheWay: true }, { gnss: still(120_000, undefined, 1) }],
  ['input_age_ms', cut, { askedMs: ago(601) }],
  ['input_age_ms', cut, { ...garage, askedMs: ago(601) }],
  ['allowed', cut, { ...garage, askedMs: ago(600) }],
  ['input_age_ms', cut, { ...garage, askedMs: ago(101), heldUpMs: ago(100) }],
  ['allowed', cut, { ...garage, askedMs: ago(100), heldUpMs: ago(100) }],
  ['fix_age_ms', cut, { gnss: still(120_000, ago(20), 0.1, ago(71)), heldUpMs: ago(200) }],
  ['allowed', cut, { gnss: still(120_000, ago(20), 0.1, ago(70)), heldUpMs: ago(200) }],
  ['allowed', { ...cut, isRehearsal: true }, { heldUpMs: ago(0) }],
  ['allowed', { ...cut, isOnTheWay: true }, { askedMs: ago(900) }],
  ['allowed', cut, { gnss: still(120_000, ago(300)) }],
  ['allowed', { ...cut, isRehearsal: true }, { gnss: still(120_000, ago(1000)) }],
  ['allowed', { ...cut, isOnTheWay: true }, { gnss: still(120_000, ago(1900)) }],
  ['common_cause', cut, blind],
  ['common_cause', cut, { ...blind, causes: livingCauses }],
  ['allowed', cut, garage],
  ['ignition_off_s', cut, { ...garage, ignition: { value: false, sinceMs: ago(59_999) } }],
  ['ignition_off_s', cut, { ...garage, ignition: { value: false, sinceMs: ago(9999) }, offSinceMs: 0 }],
  ['allowed', cut, { ...garage, ignition: { value: false, sinceMs: ago(10_000) }, offSinceMs: 0 }],
  ['position_trusted_s', cut, { ...garage, suspectMs: ago(59_999) }],
  ['no_position_allowed', cut, garage, waitRules],
  ['allowed', cut, {}, fuelRules],
  ['no_position_allowed', cut, blind, fuelRules],
  ['ignition_off_s', cut, { ignition: { value: false, sinceMs: ago(29_999) } }, fuelRules],
  ['standstill_s', cut, { gnss: still(29_999) }, fuelRules],
  ['witnesses', cut, { motion: quiet, states: { ignition: 'unproven' } }, fuelRules],
  ['allowed', cut, { motion: quiet, states: { ignition: 'unproven' } }],
  ['allowed', cut, { motion: quiet, rpm: 'rest', states: { ignition: 'unproven' } }, fuelRules],
  ['allowed', automatic, {}, zoneRules],
  ['automation_enabled', automatic, {}],
  ['panic_calm_s', automatic, { panic: { value: true, sinceMs: ago(5000) } }, zoneRules],
  ['panic_calm_s', automatic, { panic: { value: false, sinceMs: ago(299_999) } }, zoneRules],
  ['panic_calm_s', automatic, { panic: { value: null, sinceMs: 0 } }, zoneRules],
  ['position_trusted_s', automatic, { suspectMs: ago(59_999) }, zoneRules],
  ['ignition_off', automatic, warned, createRules({ cutMode: 'at_standstill', zoneCuts: true })],
  ['allowed', cut, warned, standstillRules],
  ['allowed', cut, {}, standstillRules],
  ['ignition_off', reapply, warned, standstillRules],
  ['speed_kmh', cut, { ...warned, gnss: moving(5) }, standstillRules],
  ['no_movement', cut, { ...warned, motion: { value: true, sinceMs: ago(100) } }, standstillRules],
  ['no_movement', cut, { ...warned, bus: { isMoving: true, isEngineRunning: true } }, standstillRules],
  ['standstill', cut, { ...warned, gnss: unknownGnss('no_fix') }, standstillRules],
  ['standstill_s', cut, { ...warned, gnss: still(9999) }, standstillRules],
  ['witnesses', cut, { ...warned, motion: null }, standstillRules],
  ['witnesses', cut, { ...warned, motion: { value: false, sinceMs: ago(29_999) } }, standstillRules],
  ['witnesses', cut, { ...warned, states: { motion: 'unproven' } }, standstillRules],
  ['witnesses', cut, { ...warned, states: { gnss: 'stale' }, rpm: 'rest' }, standstillRules],
  ['position_trusted_s', cut, { ...warned, suspectMs: ago(59_999) }, standstillRules],
  ['warning_output', cut, { ...warned, warning: { soundsForMs: 60_000, hasFault: true } }, standstillRules],
  ['warning_s', cut, { ...warned, warning: { soundsForMs: 29_999, hasFault: false } }, standstillRules],
  ['warning_s', cut, { ...warned, ignition: { value: true, sinceMs: ago(29_999) } }, standstillRules],
  [
    'allowed',
    reapply,
    { trustedUtcMs: null, latestUtcMs: null, ignition: { value: false, sinceMs: ago(1000) } },
  ],
  ['ignition_off_s', reapply, { ignition: { value: false, sinceMs: ago(999) } }],
  ['allowed', unlock, {}],
  ['allowed', unlock, { ignition: on, motion: quiet }],
  ['ignition_off', unlock, { ignition: on }],
  ['ignition_off', unlock, { ignition: on, voltage: 'rest' }],
  ['ignition_off', unlock, { ignition: { value: null, sinceMs: 0 } }],
  ['standstill', unlock, { ignition: on, motion: quiet, gnss: unknownGnss('no_fix') }],
  ['witnesses', unlock, { ignition: on, motion: { value: false, sinceMs: ago(29_999) } }],
  ['speed_kmh', unlock, { gnss: moving(8) }],
  ['no_movement', unlock, { motion: { value: true, sinceMs: ago(100) } }],
  ['no_movement', unlock, { bus: { isMoving: true, isEngineRunning: false } }],
  ['standstill', unlock, { gnss: unknownGnss('no_fix') }],
  ['standstill_s', unlock, { gnss: still(9999) }],
  [
    'allowed',
    attended,
    { states: { gnss: 'unproven', ignition: 'unproven' }, trustedUtcMs: null, latestUtcMs: null },
  ],
  ['ignition_off', attended, { ignition: on }],
  ['engine_at_rest', attended, { voltage: 'active' }],
  ['no_movement', attended, { bus: { isMoving: true, isEngineRunning: false } }],
  ['standstill', attended, { gnss: unknownGnss('no_stop_seen') }],
];

describe('the verdict', () => {
  it.each(table)('is %s (line %#)', (code, change, readings, rules) => {
    expect(judge(change, at(readings), rules).code).toBe(code);
  });

  it('names every rule of the vehicle at least once in its table', () => {
    // The command machine judges storage and relay; single witnesses only list what lacks in `witnesses`.
    const elsewhere = ruleNames.filter((name) => name.startsWith('witness_'));
    const judged = ruleNames.filter((name) => !['storage', 'relay_follows', ...elsewhere].includes(name));
    expect(judged.filter((name) => !table.some(([code]) => code === name))).toEqual([]);
  });

  it('lists each missing witness with its state', () => {
    const { rules } = judge(
      cut,
      at({ states: { ignition: 'stale' }, motion: { value: false, sinceMs: ago(5000) } }),
    );
    expect(
      rules.filter(({ rule }) => rule.startsWith('witness')).map(({ rule, value }) => [rule, value]),
    ).toEqual([
      ['witnesses', 1],
      ['witness_motion', 'silent'],
      ['witness_ignition', 'stale'],
    ]);
  });

  it('describes every unmet rule in a sentence', () => {
    for (const [code, change, readings, rules] of table)
      expect(verdictText(judge(change, at(readings), rules)) === '').toBe(code === 'allowed');
  });

  it('checks every rule, so that everything missing is reported at once', () => {
    const { rules } = judge(cut, at({ boardAlive: false, ignition: on, gnss: moving(60), rpm: 'active' }));
    const unmet = rules.filter(({ isMet }) => !isMet).map(({ rule }) => rule);
    expect(unmet).toEqual(
      expect.arrayContaining(['board_alive', 'ignition_off', 'speed_kmh', 'engine_at_rest']),
    );
  });

  it('needs a person to repeat the command after six changes within the hour, and nothing else', () => {
    const changesUtcMs = [1, 2, 3, 4, 5, 6].map((index) => utcAgo(index * 60_000));
    expect(isAllowed(judge({ ...cut, changesUtcMs, isReconfirmed: true }, at()))).toBe(true);
  });

  it('requests the warning only when everything else is proven', () => {
    const silent = { soundsForMs: null, hasFault: false };
    const verdict = (readings: Readings) =>
      judge(cut, at({ ...warned, warning: silent, ...readings }), standstillRules);
    expect(wantsWarningOnly(verdict({}))).toBe(true);
    expect(wantsWarningOnly(verdict({ gnss: moving(20) }))).toBe(false);
    expect(wantsWarningOnly(verdict({ motion: null }))).toBe(false);
  });

  it('is valid for 500 ms, because the proof holds for this moment only; a safe state has its usual time', () => {
    expect(interlockLimits.promptDriveMs).toBe(500);
    for (const feature of featureNames) {
      expect(orderWithinMs({ feature, state: '1' }, 1500)).toBe(500);
      expect(orderWithinMs({ feature, state: '1' }, 300)).toBe(300);
      expect(orderWithinMs({ feature, state: '0' }, 1500)).toBe(1500);
    }
  });
});

const sensed = fc.record({
  value: fc.constantFrom(true, false, null),
  sinceMs: fc.integer({ min: 0, max: nowMs }),
});
const gnssClaim: fc.Arbitrary<GnssClaim> = fc.oneof(
  fc.integer({ min: 0, max: 120_000 }).map(still),
  fc.integer({ min: 4, max: 130 }).map(moving),
  fc.constantFrom('no_fix', 'fix_old', 'fix_void', 'doubtful', 'frozen', 'no_stop_seen').map(unknownGnss),
);
const anyCauses = fc.uniqueArray(
  fc.constantFrom<Cause[]>('receiver', 'sensor:a', 'sensor:b', 'contacts', 'board:io'),
  { minLength: 1 },
);
const witness = (name: WitnessName): fc.Arbitrary<Witness> =>
  fc.record({
    state: fc.oneof(fc.constantFrom('proven' as const), fc.constantFrom(...witnessStates)),
    claim: fc.oneof(fc.constant('rest' as const), fc.constantFrom('rest' as const, 'active' as const, null)),
    restForMs: fc.option(fc.integer({ min: 0, max: 120_000 })),
    causes: fc.oneof(fc.constant<Cause[]>([`sensor:${name}`]), anyCauses),
  });
const witnesses: fc.Arbitrary<Witnesses> = fc.record({
  gnss: witness('gnss'),
  motion: witness('motion'),
  ignition: witness('ignition'),
  rpm: witness('rpm'),
  voltage: witness('voltage'),
});
const anyEvidence: fc.Arbitrary<Evidence> = fc.record({
  nowMs: fc.constant(nowMs),
  ignition: sensed,
  ignitionSuspension: fc.constantFrom(null, 'start' as const, 'chatter' as const),
  offSinceMs: fc.option(fc.integer({ min: 0, max: nowMs })),
  panic: sensed,
  gnss: gnssClaim,
  suspectMs: fc.option(fc.integer({ min: 0, max: nowMs })),
  witnesses,
  drive: fc.record({
    state: fc.constantFrom('standing' as const, 'driving' as const, 'unknown' as const),
    by: fc.constant(null),
    sinceMs: fc.integer({ min: 0, max: nowMs }),
  }),
  trustedUtcMs: fc.option(fc.constant(fixtureUtcMs)),
  latestUtcMs: fc.constant(fixtureUtcMs),
  isTimeBehind: fc.boolean(),
  isServerBehind: fc.boolean(),
  isTimeConfirmed: fc.boolean(),
  boardAlive: fc.boolean(),
  askedMs: fc.integer({ min: nowMs - 1000, max: nowMs }),
  heldUpMs: fc.integer({ min: nowMs - 1000, max: nowMs }),
  warning: fc.record({ soundsForMs: fc.option(fc.integer({ min: 0, max: 60_000 })), hasFault: fc.boolean() }),
});
const anyRules = fc
  .record({
    cutMode: fc.constantFrom('ignition_off' as const, 'at_standstill' as const),
    canStopEngine: fc.boolean(),
    noGnss: fc.constantFrom('wait' as const, 'ignition_off_only' as const),
    zoneCuts: fc.boolean(),
  })
  .map(createRules);
const anyChange = fc.record({
  feature: fc.constantFrom('enginecutoff' as const, 'cargoaccess' as const),
  state: fc.constant('1' as const),
  occasion: fc.constantFrom('command' as const, 'automatic' as const, 'reapply' as const),
  isInherited: fc.boolean(),
  isOnTheWay: fc.boolean(),
});

const anyBus = fc.record({ isMoving: fc.boolean(), isEngineRunning: fc.boolean() });

describe('an ignition that does not count', () => {
  it('names the reason: it must be seen on, or was switched too often', () => {
    const valueOf = (ignitionSuspension: Evidence['ignitionSuspension']) =>
      judge(cut, evidenceAt(nowMs, { ignitionSuspension })).rules.find(({ rule }) => rule === 'ignition_off');
    expect(valueOf('chatter')).toMatchObject({ isMet: false, value: 'unsteady' });
    for (const suspension of ['start', 'board', 'common', 'moved'] as const)
      expect(valueOf(suspension)).toMatchObject({ isMet: false, value: 'suspended' });
  });
});

describe('for any evidence', () => {
  it('a bus only ever refuses: a moving one refuses everything, a running engine each cut with the key off, no bus changes nothing', () => {
    let refused = 0;
    fc.assert(
      fc.property(anyChange, anyEvidence, anyRules, anyBus, (change, evidence, rules, bus) => {
        const without = isAllowed(judge(change, evidence, rules));
        const withBus = isAllowed(judge(change, { ...evidence, bus }, rules));
        if (without && !withBus) refused += 1;
        if (withBus) expect(without).toBe(true);
        if (bus.isMoving) expect(withBus).toBe(false);
        const isPreventStart = change.feature === 'enginecutoff' && evidence.ignition.value !== true;
        if (bus.isEngineRunning && isPreventStart) expect(withBus).toBe(false);
        if (!bus.isMoving && !bus.isEngineRunning) expect(withBus).toBe(without);
      }),
      { numRuns: 20_000 },
    );
    expect(refused).toBeGreaterThan(20);
  });

  it('what is allowed has two proven witnesses that agree, one of them of the vehicle, and no veto', () => {
    let allowed = 0;
    fc.assert(
      fc.property(anyChange, anyEvidence, anyRules, (change, evidence, rules) => {
        if (!isAllowed(judge(change, evidence, rules))) return;
        allowed += 1;
        const proven = witnessNames.filter((name) => {
          const { state, claim } = evidence.witnesses[name];
          return state === 'proven' && claim === 'rest';
        });
        // Two of them, one of the vehicle, that no single fault explains; and the voltage is none of them.
        const pairs = proven.flatMap((a, at) => proven.slice(at + 1).map((b) => [a, b] as const));
        const isKey = (name: string): boolean => name === 'gnss' || name === 'motion';
        const keys = pairs.filter(([a, b]) => {
          const causes = evidence.witnesses[a].causes.filter((cause) =>
            evidence.witnesses[b].causes.includes(cause),
          );
          return (isKey(a) || isKey(b)) && a !== 'voltage' && b !== 'voltage' && causes.length === 0;
        });
        expect(keys).not.toEqual([]);
        expect(evidence.gnss.kind).not.toBe('moving');
        const { motion, rpm, voltage } = evidence.witnesses;
        const speaks = ({ state, claim }: Witness): boolean => claim === 'active' && state !== 'contradicted';
        expect(speaks(motion)).toBe(false);
        if (!change.isOnTheWay) expect(evidence.boardAlive).toBe(true);
        if (change.feature === 'cargoaccess') {
          if (evidence.ignition.value !== false || evidence.ignitionSuspension !== null)
            expect([evidence.gnss.kind, ...proven]).toEqual(
              expect.arrayContaining(['still', 'gnss', 'motion']),
            );
          return;
        }
        expect(
          evidence.ignition.value === false && evidence.witnesses.ignition.state === 'contradicted',
        ).toBe(false);
        const isRunning = rules.cutMode === 'at_standstill' && change.occasion === 'command';
        if (!isRunning) expect([evidence.ignition.value, evidence.ignitionSuspension]).toEqual([false, null]);
        if (evidence.ignition.value === true) {
          expect(evidence.gnss.kind).toBe('still');
          expect(proven).toEqual(expect.arrayContaining(['gnss', 'motion']));
          expect(evidence.warning?.soundsForMs).toBeGreaterThanOrEqual(interlockLimits.warningMs);
        } else expect(speaks(rpm) || speaks(voltage)).toBe(false);
      }),
      { numRuns: 20_000 },
    );
    expect(allowed).toBeGreaterThan(50);
  });

  it('the doctor energises nothing with ignition on, a moving vehicle or a running engine', () => {
    fc.assert(
      fc.property(anyEvidence, anyRules, (evidence, rules) => {
        if (!isAllowed(judge(attended, evidence, rules))) return;
        expect(evidence.ignition.value).toBe(false);
        expect(evidence.gnss.kind).not.toBe('moving');
        expect(evidence.boardAlive).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  it('restoring the engine and locking the cargo are always allowed', () => {
    fc.assert(
      fc.property(anyChange, anyEvidence, anyRules, (change, evidence, rules) => {
        expect(isAllowed(judge({ ...change, state: '0' }, evidence, rules))).toBe(true);
      }),
    );
  });
});
