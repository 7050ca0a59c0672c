// The credit of witnesses: earned by two independent ones in step through a drive and its end, lost by one contradiction, stale
// after a drive that it may not have seen, kept over restarts, and void after another wiring (DESIGN 8).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Causes } from '../../agent/core/evidence/common-causes.ts';
import {
  type Activities,
  type CreditContext,
  type CreditState,
  type Credits,
  createCreditState,
  creditState,
  stepCredits,
} from '../../agent/core/evidence/credit.ts';
import { emptyEvidence, parseEvidence } from '../../agent/core/evidence/evidence-record.ts';
import type { WitnessName } from '../../src/core/verdict/witness.ts';
import { plainCauses } from '../support/vehicle/plain-causes.ts';

const startUtcMs = Date.UTC(2026, 11, 1);
const dayMs = 86_400_000;
const silent: Activities = {
  gnss: null,
  motion: null,
  ignition: null,
  rpm: null,
  voltage: null,
};

/** Steps twice a second through what the witnesses are seen to do. */
function createCredit(credits: Credits = {}, causes: Causes = plainCauses) {
  let nowMs = 0;
  let state: CreditState = createCreditState(credits, causes, nowMs);
  const utcMs = (): number => startUtcMs + nowMs;
  const run = {
    for(seconds: number, doing: Partial<Activities>, given: Partial<CreditContext> = {}) {
      for (const endMs = nowMs + seconds * 1000; nowMs < endMs; ) {
        nowMs += 500;
        state = stepCredits(
          state,
          { ...silent, ...doing },
          { atMs: nowMs, utcMs: utcMs(), suspended: [], isTowed: false, isPinned: false, ...given },
        );
      }
      return run;
    },
    wait(ms: number) {
      nowMs += ms;
      return run;
    },
    of: (name: WitnessName) => creditState(state.credits[name]),
    credits: () => state.credits,
    proven: () =>
      (['gnss', 'motion', 'ignition', 'rpm', 'voltage'] as const).filter((name) => run.of(name) === 'proven'),
  };
  return run;
}

const drive = { gnss: 'active', ignition: 'active', motion: 'active' } as const;
const rest = { gnss: 'rest', ignition: 'rest', motion: 'rest' } as const;
const provenAgo = (ms: number): Credits => {
  const credit = { kind: 'proven', utcMs: startUtcMs - ms } as const;
  return {
    gnss: { ...credit, against: 'ignition' },
    ignition: { ...credit, against: 'gnss' },
    motion: { ...credit, against: 'gnss' },
  };
};

describe('credit is earned', () => {
  it('by twenty seconds of driving in step and five seconds of rest after it', () => {
    expect(createCredit().for(21, drive).for(4, rest).proven()).toEqual([]);
    expect(createCredit().for(21, drive).for(6, rest).proven()).toEqual(['gnss', 'motion', 'ignition']);
  });

  it('not by a shorter drive, nor by rest alone', () => {
    expect(createCredit().for(19, drive).for(60, rest).proven()).toEqual([]);
    expect(createCredit().for(3600, rest).proven()).toEqual([]);
  });

  it('by a drive whose end the receiver learns late', () => {
    const late = createCredit()
      .for(60, drive)
      .for(70, { ...rest, gnss: null });
    expect(late.proven()).toEqual([]);
    expect(late.for(6, rest).proven()).toEqual(['gnss', 'motion', 'ignition']);
  });

  it('not by engine speed and voltage without a receiver, even on two boards: one line may repeat for both', () => {
    const running = { rpm: 'active', voltage: 'active' } as const;
    const resting = { rpm: 'rest', voltage: 'rest' } as const;
    const apart: Causes = { ...plainCauses, voltage: ['sensor:voltage', 'board:analog'] };
    for (const causes of [apart, plainCauses])
      expect(createCredit({}, causes).for(40, running).for(6, resting).proven()).toEqual([]);
  });

  it('not by ignition and motion alone: they share one input block', () => {
    const both = { ignition: 'active', motion: 'active' } as const;
    expect(createCredit().for(60, both).for(60, { ignition: 'rest', motion: 'rest' }).proven()).toEqual([]);
  });

  it('not while the rest of an input does not count', () => {
    expect(
      createCredit()
        .for(60, drive)
        .for(60, rest, { suspended: ['ignition', 'motion'] })
        .proven(),
    ).toEqual([]);
  });

  it('only by steps at most two seconds apart: a longer gap was not observed', () => {
    const seldom = createCredit();
    for (let look = 0; look < 9; look += 1) seldom.wait(60_000).for(0.5, drive);
    expect(seldom.for(6, rest).proven()).toEqual([]);
  });
});

describe('credit is never earned', () => {
  it('by a motion input that pulses for one second in 25 and so counts as active for four', () => {
    const pulsing = createCredit();
    for (let pulse = 0; pulse < 200; pulse += 1) pulsing.for(4, drive).for(21, { ...drive, motion: 'rest' });
    expect(pulsing.of('motion')).toBe('contradicted');
    expect(pulsing.for(60, rest).of('motion')).toBe('contradicted');
    expect(pulsing.proven()).toEqual(['gnss', 'ignition']);
  });

  it('by an input that never changes', () => {
    expect(
      createCredit()
        .for(600, { ...drive, motion: 'rest' })
        .for(600, rest)
        .of('motion'),
    ).toBe('contradicted');
    expect(
      createCredit()
        .for(600, drive)
        .for(600, { ...rest, ignition: 'active' })
        .of('ignition'),
    ).toBe('unproven');
  });
});

describe('credit is lost', () => {
  it('by ten seconds at rest while the receiver drives', () => {
    const credit = createCredit(provenAgo(dayMs));
    expect(credit.for(9, { gnss: 'active', ignition: 'rest' }).of('ignition')).toBe('proven');
    expect(credit.for(2, { gnss: 'active', ignition: 'rest' }).of('ignition')).toBe('contradicted');
    expect(credit.of('motion')).toBe('proven');
  });

  it('by ten seconds in total over pauses of at most ten: lost sentences hide no failed input', () => {
    const credit = createCredit(provenAgo(dayMs));
    const [opposite, pause] = [{ gnss: 'active', ignition: 'rest' }, { ignition: 'rest' }] as const;
    // The first half second of each part may belong to the pause.
    for (let part = 0; part < 4; part += 1) credit.for(2.5, opposite).for(9, pause);
    expect(credit.of('ignition')).toBe('proven');
    credit.for(2.5, opposite);
    expect(credit.credits().ignition).toMatchObject({ kind: 'contradicted', against: 'gnss' });
  });

  it('not by disagreements more than ten seconds apart, nor if both agreed in between', () => {
    const credit = createCredit(provenAgo(dayMs));
    const opposite = { gnss: 'active', ignition: 'rest' } as const;
    for (let part = 0; part < 20; part += 1) credit.for(9, opposite).for(11, { ignition: 'rest' });
    for (let part = 0; part < 20; part += 1) credit.for(9, opposite).for(0.5, drive);
    for (let part = 0; part < 20; part += 1) credit.for(9, opposite).for(0.5, rest);
    expect(credit.of('ignition')).toBe('proven');
  });

  it('by a receiver that hangs and by a stuck motion input, over such pauses too', () => {
    const pause = { ignition: 'active', motion: 'active' } as const;
    const hung = createCredit(provenAgo(dayMs));
    for (let part = 0; part < 15; part += 1) hung.for(2.5, { ...pause, gnss: 'rest' }).for(3, pause);
    expect(hung.credits().gnss).toMatchObject({ kind: 'contradicted', against: 'motion' });
    const parked = { ignition: 'rest', motion: 'active' } as const;
    const stuck = createCredit(provenAgo(dayMs));
    for (let part = 0; part < 300; part += 1) stuck.for(2.5, { ...parked, gnss: 'rest' }).for(3, parked);
    expect(stuck.credits().motion).toMatchObject({ kind: 'contradicted', against: 'gnss' });
  });

  it('by ten seconds of ignition off while the engine turns', () => {
    const credit = createCredit(provenAgo(dayMs)).for(11, { rpm: 'active', ignition: 'rest' });
    expect(credit.credits().ignition).toMatchObject({ kind: 'contradicted', against: 'rpm' });
  });

  it('by a voltage that does not charge through a minute of driving, not through a shorter sag', () => {
    const credit = createCredit({ voltage: { kind: 'proven', utcMs: startUtcMs, against: 'gnss' } });
    expect(credit.for(59, { ...drive, voltage: 'rest' }).of('voltage')).toBe('proven');
    expect(credit.for(3, { ...drive, voltage: 'rest' }).of('voltage')).toBe('contradicted');
  });

  it('by a motion input that is active for ten minutes on a vehicle that is proven to be parked', () => {
    const stuck = createCredit(provenAgo(dayMs)).for(599, { ...rest, motion: 'active' });
    expect(stuck.of('motion')).toBe('proven');
    expect(stuck.for(2, { ...rest, motion: 'active' }).of('motion')).toBe('contradicted');
  });

  it('until a whole drive earns it again', () => {
    const credit = createCredit(provenAgo(dayMs)).for(11, { gnss: 'active', ignition: 'rest' });
    expect(credit.for(6, rest).of('ignition')).toBe('contradicted');
    expect(credit.for(31, drive).for(6, rest).of('ignition')).toBe('proven');
  });

  it('together with everything earned before the contradiction in the same drive', () => {
    const credit = createCredit()
      .for(60, drive)
      .for(11, { ...drive, motion: 'rest' });
    expect(credit.for(10, drive).for(6, rest).of('motion')).toBe('contradicted');
  });
});

describe('credit ages by driving', () => {
  it('and not by calendar: a vehicle that stood in a shed for years is as proven as before', () => {
    expect(createCredit(provenAgo(3000 * dayMs)).proven()).toEqual(['gnss', 'motion', 'ignition']);
  });

  it('and is written at most once a day, to spare the disk', () => {
    const credit = createCredit(provenAgo(dayMs / 2));
    const before = credit.credits();
    expect(credit.for(31, drive).for(6, rest).credits()).toBe(before);
  });

  it('and is stale for a receiver that repeated one position while the engine ran, until the next drive', () => {
    const pinned = createCredit(provenAgo(dayMs)).for(
      60,
      { ...rest, ignition: 'active' },
      { isPinned: true },
    );
    expect([pinned.of('gnss'), pinned.of('ignition')]).toEqual(['stale', 'proven']);
    expect(pinned.for(600, rest).of('gnss')).toBe('stale');
    expect(pinned.for(21, drive).for(6, rest).of('gnss')).toBe('proven');
  });

  it('and ends for a receiver that shows rest for 30 s while a proven motion input moves with the engine on', () => {
    const hung = { gnss: 'rest', motion: 'active', ignition: 'active' } as const;
    const credit = createCredit(provenAgo(dayMs)).for(29, hung);
    expect(credit.of('gnss')).toBe('proven');
    expect(credit.for(2, hung).credits().gnss).toMatchObject({ kind: 'contradicted', against: 'motion' });
    // Somebody loads a parked vehicle.
    expect(
      createCredit(provenAgo(dayMs))
        .for(300, { ...hung, ignition: 'rest' })
        .of('gnss'),
    ).toBe('proven');
  });

  it('and survives a tow with the key off', () => {
    const towed = { gnss: 'active', ignition: 'rest', rpm: 'rest' } as const;
    const credit = createCredit(provenAgo(dayMs)).for(600, towed, { isTowed: true });
    expect(credit.of('ignition')).toBe('proven');
    // A motion input that does not see a tow does not work.
    expect(credit.for(11, { ...towed, motion: 'rest' }, { isTowed: true }).of('motion')).toBe('contradicted');
  });
});

describe('the record on disk', () => {
  const wiring = 'board-0badcafe';
  const record = {
    wiring,
    credits: provenAgo(dayMs),
    motion: 'standing',
    by: 'gnss',
    utcMs: startUtcMs,
    parkedAt: { latitude: 43.65, longitude: -79.34 },
  } as const;

  it('comes back as it was written', () => {
    expect(parseEvidence(JSON.parse(JSON.stringify(record)), wiring)).toEqual(record);
  });

  it('is void after another wiring, except that a drive stays a drive', () => {
    expect(parseEvidence(record, 'board-deadbeef')).toEqual({
      ...emptyEvidence('board-deadbeef'),
      motion: 'standing',
      by: 'gnss',
      utcMs: startUtcMs,
    });
    expect(parseEvidence({ ...record, motion: 'driving' }, 'board-deadbeef').motion).toBe('driving');
  });

  it('keeps the parking place until the vehicle drives, and rejects impossible coordinates', () => {
    expect(parseEvidence({ ...record, motion: 'unknown' }, wiring).parkedAt).toEqual(record.parkedAt);
    expect(parseEvidence({ ...record, motion: 'driving' }, wiring).parkedAt).toBe(null);
    expect(parseEvidence({ ...record, parkedAt: { latitude: 91, longitude: 0 } }, wiring).parkedAt).toBe(
      null,
    );
  });

  it('is parsed without an exception from any content, and yields only credit that is valid in full', () => {
    const hostile = fc.oneof(
      fc.anything(),
      fc.record({
        wiring: fc.constant(wiring),
        credits: fc.dictionary(fc.constantFrom('gnss', 'motion', 'ignition', '__proto__'), fc.anything()),
        motion: fc.oneof(fc.constantFrom('standing', 'driving'), fc.anything()),
        by: fc.anything(),
        utcMs: fc.anything(),
        parkedAt: fc.oneof(fc.record({ latitude: fc.anything(), longitude: fc.anything() }), fc.anything()),
      }),
    );
    fc.assert(
      fc.property(hostile, (value) => {
        const read = parseEvidence(value, wiring);
        expect(['standing', 'driving', 'unknown']).toContain(read.motion);
        for (const credit of Object.values(read.credits)) {
          expect(['proven', 'contradicted']).toContain(credit.kind);
          expect(credit.utcMs === null || Number.isSafeInteger(credit.utcMs)).toBe(true);
        }
        if (read.parkedAt !== null) expect(Math.abs(read.parkedAt.latitude)).toBeLessThanOrEqual(90);
        expect(() => JSON.stringify(read)).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });
});
