// The rehearsal of a cut or an unlock: what it says is what would happen to one that a person orders at that moment, and asking changes
// nothing.
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../agent/core/evidence/testimony.ts';
import { createCommandsState } from '../../agent/core/protection/command-draft.ts';
import { createCommandRecord } from '../../agent/core/protection/command-record.ts';
import { rehearse, stepCommands } from '../../agent/core/protection/commands.ts';
import { type FeatureName, featureNames } from '../../src/core/events/event.ts';
import { isAllowed } from '../../src/core/verdict/verdict.ts';
import type { CommandBody } from '../../src/core/wire/wire.ts';
import {
  drivingAt,
  evidenceAt,
  moving,
  fixtureUtcMs as startUtcMs,
  unknownGnss,
} from '../support/vehicle/evidence-fixtures.ts';

const restrictive = (feature: FeatureName): CommandBody => ({
  accountID: 'demo',
  deviceID: 'truck-1',
  commandID: 'c1',
  boot: 'b1',
  counter: 1,
  issuedMs: startUtcMs,
  expiresMs: startUtcMs + 24 * 3_600_000,
  feature,
  state: '1',
  mode: 'interlock',
  reason: 'stolen',
  issuer: 'demo/admin',
  cancel: false,
});
const cut = restrictive('enginecutoff');

/** Freezes a state to its depth: a write to it throws. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) frozen(member);
  return value;
}

/** What becomes of a cut or an unlock that arrives now: the verdict that it waits for, or null when it is carried out. */
function outcomeOf(feature: FeatureName, evidence: Evidence) {
  const step = stepCommands(
    createCommandsState(createCommandRecord()),
    { kind: 'envelope', body: restrictive(feature), fitted: featureNames, boot: 'b1' },
    evidence,
  );
  const commit = step.effects.find(({ kind }) => kind === 'commit');
  const token = commit?.kind === 'commit' ? commit.token : '';
  const later = stepCommands(step.state, { kind: 'committed', token, durable: true }, evidence);
  const decided = stepCommands(later.state, { kind: 'time' }, evidence);
  return decided.state.record.active[feature]?.waiting ?? null;
}

const situations: readonly (readonly [string, Evidence])[] = [
  ['parked', evidenceAt(100_000)],
  ['driving', drivingAt(100_000)],
  ['rolling with ignition off', evidenceAt(100_000, { gnss: moving(20) })],
  ['without a position', evidenceAt(100_000, { gnss: unknownGnss('no_fix') })],
  ['with a silent board', { ...evidenceAt(100_000), boardAlive: false }],
  ['without a clock', { ...evidenceAt(100_000), trustedUtcMs: null, latestUtcMs: null }],
];

describe('the rehearsal of a cut or an unlock', () => {
  it.each(
    featureNames.flatMap((feature) =>
      situations.map(([what, evidence]) => [feature, what, evidence] as const),
    ),
  )('says for %s of a vehicle %s what would become of a real order', (feature, _what, evidence) => {
    const state = createCommandsState(createCommandRecord());
    const verdict = rehearse(state, feature, evidence);
    const real = outcomeOf(feature, evidence);
    expect(isAllowed(verdict)).toBe(real === null);
    if (real !== null) expect(verdict).toEqual(real);
  });

  it('writes nothing: neither to an idle vehicle nor to one on which a cut waits', () => {
    for (const [, evidence] of situations) {
      const idle = createCommandsState(createCommandRecord());
      const armed = stepCommands(
        idle,
        { kind: 'envelope', body: cut, fitted: ['enginecutoff'], boot: 'b1' },
        drivingAt(90_000),
      ).state;
      for (const state of [idle, armed]) {
        const before = structuredClone(state);
        for (const feature of featureNames)
          rehearse(frozen(state), feature, frozen(structuredClone(evidence)));
        expect(state).toEqual(before);
      }
    }
  });
});
