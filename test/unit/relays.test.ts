// The relay supervisor as a specification: what is proved stays so, with bounded repairs; a cut that fell off comes back
// only when that is safe; a cargo lock never opens by itself (edge-agents 2.3 rules 8 to 10).
import { describe, expect, it } from 'vitest';
import { createCommandsState } from '../../agent/core/protection/command-draft.ts';
import { adoptRelay, createCommandRecord } from '../../agent/core/protection/command-record.ts';
import { interlockLimits } from '../../agent/core/protection/interlock-rules.ts';
import {
  createRelaysState,
  type RelaysState,
  recordRelays,
  recordRepair,
  relayLimits,
  superviseRelays,
} from '../../agent/core/protection/relays.ts';
import type { FeatureName, FeatureState } from '../../src/core/events/event.ts';
import { statusText } from '../../src/core/events/status-codes.ts';
import { evidenceAt, moving, type Readings, unknownGnss } from '../support/vehicle/evidence-fixtures.ts';
import { apartCauses } from '../support/vehicle/plain-causes.ts';

const noSky = unknownGnss('no_fix');
const on = (nowMs: number): Readings => ({ ignition: { value: true, sinceMs: nowMs - 5000 } });

function createRig(confirmed: Partial<Record<FeatureName, FeatureState>>) {
  let commands = createCommandsState(createCommandRecord());
  for (const feature of ['enginecutoff', 'cargoaccess'] as const) {
    const state = confirmed[feature];
    if (state !== undefined) commands = { ...commands, record: adoptRelay(commands.record, feature, state) };
  }
  let state: RelaysState = createRelaysState();
  const rig = {
    told: [] as string[],
    repairs: [] as string[],
    /** The board says this; `boardCameUp` for its first word. */
    read(nowMs: number, relays: Partial<Record<FeatureName, boolean>>, boardCameUp = false) {
      state = recordRelays(state, relays, { atMs: nowMs, boardCameUp });
      return rig;
    },
    look(nowMs: number, over: Readings = {}) {
      const step = superviseRelays(state, { commands, evidence: evidenceAt(nowMs, over), ordered: [] });
      state = step.state;
      for (const effect of step.effects) {
        if (effect.kind === 'repair') {
          rig.repairs.push(`${effect.feature} ${effect.state}`);
          const mostMs = effect.state === '1' ? interlockLimits.promptDriveMs : relayLimits.withinMs;
          expect(effect.withinMs).toBe(mostMs);
        } else rig.told.push(statusText(effect.draft.statusCode));
        if (effect.kind === 'adopt')
          commands = { ...commands, record: adoptRelay(commands.record, effect.feature, effect.state) };
      }
      return rig;
    },
    done(nowMs: number, readBack: boolean) {
      state = recordRepair(state, { feature: 'enginecutoff', readBack, atMs: nowMs });
      return rig;
    },
  };
  return rig;
}

describe('a relay', () => {
  it('that is in its required state is not written', () => {
    const rig = createRig({ enginecutoff: '1' }).read(0, { enginecutoff: true }, true).look(0);
    expect([...rig.told, ...rig.repairs]).toEqual([]);
  });

  it('that wrongly cuts the engine is repaired in any state of the vehicle, without end', () => {
    const rig = createRig({ enginecutoff: '0' });
    for (let ms = 0; ms < 3_600_000; ms += 5000) {
      rig.read(ms, { enginecutoff: true }).look(ms, { ...on(ms), gnss: moving(80) });
      rig.done(ms, true);
    }
    expect(rig.told).toEqual(['Relay_Mismatch', 'Relay_Fault']);
    expect(rig.repairs.length).toBeGreaterThan(50);
    expect(new Set(rig.repairs)).toEqual(new Set(['enginecutoff 0']));
  });

  it('is not judged by an old reading or a silent board', () => {
    const rig = createRig({ enginecutoff: '1' }).read(0, { enginecutoff: false });
    rig.look(relayLimits.readingMs + 1).look(1, { boardAlive: false });
    expect([...rig.told, ...rig.repairs]).toEqual([]);
  });
});

describe('a confirmed cut that fell off', () => {
  it('is re-applied at once after the board started', () => {
    const rig = createRig({ enginecutoff: '1' });
    rig.read(0, { enginecutoff: false }, true).look(0);
    expect(rig.repairs).toEqual(['enginecutoff 1']);
    rig.done(50, true).look(50);
    expect(rig.told).toEqual(['Relay_Restored']);
  });

  it('is re-applied without a position if two inputs that no single fault sets to zero show standstill', () => {
    const rig = createRig({ enginecutoff: '1' }).read(0, { enginecutoff: false }, true);
    const blind = { gnss: noSky, motion: { value: false, sinceMs: -120_000 } } as const;
    rig.look(0, blind);
    expect(rig.repairs).toEqual([]);
    rig.look(500, { ...blind, causes: apartCauses });
    expect(rig.repairs).toEqual(['enginecutoff 1']);
  });

  it('needs the ignition off for one second only while the vehicle has stood without a break', () => {
    const justOff = { ignition: { value: false, sinceMs: -1000 } } as const;
    const stood = createRig({ enginecutoff: '1' }).read(0, { enginecutoff: false }, true);
    expect(stood.look(0, justOff).repairs).toEqual(['enginecutoff 1']);
    const drove = createRig({ enginecutoff: '1' }).read(0, { enginecutoff: false }, true);
    const drive = { state: 'standing', by: 'gnss', sinceMs: -59_000 } as const;
    expect(drove.look(0, { ...justOff, drive }).repairs).toEqual([]);
  });

  it.each<[string, Readings]>([
    ['ignition is on', { ignition: { value: true, sinceMs: 0 } }],
    ['ignition is unknown', { ignition: { value: null, sinceMs: 0 } }],
    ['the ignition reads off and does not count', { states: { ignition: 'suspended' } }],
    ['the vehicle moves', { gnss: moving(5) }],
    ['there is no position and no motion input', { gnss: noSky }],
    ['the motion input reports movement', { motion: { value: true, sinceMs: 0 } }],
    [
      'an unproven motion input reports movement',
      { motion: { value: true, sinceMs: 0 }, states: { motion: 'unproven' } },
    ],
    ['the engine turns', { rpm: 'active' }],
    ['the alternator charges', { voltage: 'active' }],
    ['only one witness is proven', { states: { ignition: 'stale' } }],
  ])('stays off while %s', (_why, over) => {
    const rig = createRig({ enginecutoff: '1' }).read(0, { enginecutoff: false }, true).look(0, over);
    expect(rig.repairs).toEqual([]);
  });

  it('is re-applied neither on the road nor after it, until everything for a new cut is proven', () => {
    const rig = createRig({ enginecutoff: '1' }).read(0, { enginecutoff: false }, true).look(0, on(0));
    // In a tunnel the ignition wire drops for a moment: this must not stop the engine.
    const glitch: Readings = { ignition: { value: false, sinceMs: 5000 }, gnss: noSky };
    rig.read(5400, { enginecutoff: false }).look(5400, glitch);
    rig.read(5500, { enginecutoff: false }, true).look(5500, glitch);
    expect(rig.repairs).toEqual([]);
    rig.read(200_000, { enginecutoff: false }).look(200_000);
    expect(rig.repairs).toEqual(['enginecutoff 1']);
  });

  it('is tried three times, ten seconds apart, then reported as a fault', () => {
    const rig = createRig({ enginecutoff: '1' });
    for (let ms = 0; ms < 120_000; ms += 1000) rig.read(ms, { enginecutoff: false }).look(ms).done(ms, false);
    expect(rig.repairs).toHaveLength(relayLimits.tries);
    expect(rig.told).toEqual(['Relay_Mismatch', 'Relay_Fault']);
  });

  it('is written again no sooner than ten seconds after the latest moment of the write before', () => {
    const rig = createRig({ enginecutoff: '1' });
    const at: number[] = [];
    for (let ms = 0; ms < 60_000; ms += 100) {
      const before = rig.repairs.length;
      rig.read(ms, { enginecutoff: false }).look(ms).done(ms, false);
      if (rig.repairs.length > before) at.push(ms);
    }
    const leastMs = relayLimits.betweenTriesMs + interlockLimits.promptDriveMs;
    expect(at.slice(1).map((ms, index) => ms - (at[index] ?? 0))).toEqual([leastMs, leastMs]);
  });
});

describe('without a record', () => {
  it('keeps the engine relay as found, and reports it', () => {
    expect(createRig({}).read(0, { enginecutoff: true }).look(0).told).toEqual(['Vehicle_Disable']);
    expect(createRig({}).read(0, { enginecutoff: false }).look(0).told).toEqual(['Vehicle_Enable']);
  });

  it('locks an open cargo lock', () => {
    const rig = createRig({}).read(0, { cargoaccess: true }).look(0).look(500);
    expect(rig.told).toEqual(['Relay_Mismatch']);
    expect(rig.repairs).toEqual(['cargoaccess 0']);
  });
});

describe('a cargo lock', () => {
  it('that fell shut stays shut', () => {
    const rig = createRig({ cargoaccess: '1' }).read(0, { cargoaccess: false }, true).look(0).look(500);
    expect(rig.told).toEqual(['Door_Lock']);
    expect(rig.repairs).toEqual([]);
  });
});
