// All witnesses joined: what a vehicle may know of itself after a drive, a stop, a restart, a lost board and a common loss; and what
// it must never take for standstill (DESIGN 8). Receiver, inputs and credit alone are in their own tests.
import { describe, expect, it } from 'vitest';
import { looksStill } from '../../agent/core/evidence/testimony.ts';
import type { Fix } from '../../agent/core/gnss/epochs.ts';
import { commissioned, commissionedRecord, createEvidenceDrive } from '../support/vehicle/evidence-drive.ts';
import { brakingFrom, north } from '../support/vehicle/gnss-drive.ts';
import { livingCauses, plainCauses } from '../support/vehicle/plain-causes.ts';

const contactsOf = (drive: ReturnType<typeof createEvidenceDrive>) => [
  drive.of('ignition').state,
  drive.of('motion').state,
];
const all = { fitted: ['gnss', 'motion', 'ignition', 'rpm', 'voltage'] } as const;

describe('a vehicle fresh from the shop', () => {
  it('proves nothing while it stands, however long', () => {
    const drive = createEvidenceDrive().for(600);
    expect(['gnss', 'motion', 'ignition'].map((name) => drive.of(name as 'gnss').state)).toEqual([
      'unproven',
      'unproven',
      'unproven',
    ]);
  });

  it('is commissioned by one drive of a minute, a stop and the key', () => {
    const drive = createEvidenceDrive().for(20).trip().for(2).set({ ignition: false }).for(12);
    expect(drive.of('gnss')).toMatchObject({ state: 'proven', claim: 'rest' });
    expect(drive.of('ignition')).toMatchObject({ state: 'proven', claim: 'rest' });
    expect(drive.of('motion').state).toBe('proven');
    expect(drive.disk()).toMatchObject({ motion: 'standing', by: 'gnss' });
    expect(drive.disk().parkedAt).not.toBe(null);
  });

  it('reports witnesses that the configuration does not name as absent, not as at rest', () => {
    const drive = commissioned({ fitted: ['gnss', 'ignition'] }).for(60);
    expect(drive.of('motion').state).toBe('absent');
    expect([drive.of('rpm'), drive.of('voltage')]).toMatchObject([
      { state: 'absent', claim: null },
      { state: 'absent', claim: null },
    ]);
  });
});

describe('the motion state', () => {
  it('is driving from the third moving fix, standing after an observed stop, and names the witness', () => {
    const drive = commissioned().for(20).set({ ignition: true }).for(2).for(4, 20);
    expect(drive.testimony().drive).toMatchObject({ state: 'driving', by: 'gnss' });
    drive.for(1, 13).for(1, 6).for(12, 0);
    expect(drive.testimony().drive).toMatchObject({ state: 'standing', by: 'gnss' });
  });

  it('is unknown, never standing, when everything that shows movement is lost on the road', () => {
    const drive = commissioned().for(20).trip().for(1, 20).for(1, 40).for(10, 60);
    drive.receiver(() => null).for(30, 60);
    expect(drive.testimony().drive).toMatchObject({ state: 'driving', by: 'motion' });
    drive.set({ ignition: null, motion: null }).for(30);
    expect(drive.testimony().drive.state).toBe('unknown');
  });

  it('is unknown with the first sign of a running engine or of movement', () => {
    expect(
      commissioned()
        .for(20)
        .set({ ignition: true })
        .receiver(() => null)
        .for(2)
        .testimony().drive.state,
    ).toBe('unknown');
    const towed = commissioned()
      .for(20)
      .receiver(() => null)
      .set({ motion: true })
      .for(6);
    expect(towed.testimony().drive).toMatchObject({ state: 'unknown', by: 'motion' });
  });

  it('is standing without a position only by two proven inputs that no single fault sets to zero', () => {
    const parked = (causes = plainCauses) =>
      commissioned({ causes })
        .for(20)
        .trip()
        .set({ ignition: false })
        .receiver(() => null);
    expect(parked().for(65).testimony().drive).toMatchObject({ state: 'unknown' });
    expect(parked(livingCauses).for(65).testimony().drive).toMatchObject({ state: 'unknown' });
    const answered = parked(livingCauses).answer(true).for(65);
    expect(answered.testimony().drive).toMatchObject({ state: 'standing', by: 'motion' });
    const unproven = createEvidenceDrive()
      .set({ ignition: true, motion: true })
      .receiver(() => null)
      .for(20);
    expect(
      unproven.set({ ignition: false }).for(1).set({ motion: false }).for(300).testimony().drive.state,
    ).toBe('unknown');
  });

  it('on disk is the worst since the ignition was last on', () => {
    const drive = commissioned().for(20).trip();
    expect(drive.disk()).toMatchObject({ motion: 'driving', parkedAt: null });
    // At a traffic light it stands, and the disk is not written for it.
    expect(drive.for(30).disk().motion).toBe('driving');
    expect(drive.set({ ignition: false }).for(12).disk().motion).toBe('standing');
  });
});

describe('a start', () => {
  it('leaves the motion state unknown at best after a drive', () => {
    const drive = commissioned().for(20).trip().restart();
    expect(drive.testimony().drive.state).toBe('unknown');
  });

  it('ignores the inputs until the receiver shows the vehicle at its parking place', () => {
    const drive = commissioned().for(9);
    expect(contactsOf(drive)).toEqual(['suspended', 'suspended']);
    drive.for(8);
    expect(contactsOf(drive)).toEqual(['proven', 'proven']);
    expect(drive.of('ignition')).toMatchObject({ claim: 'rest' });
  });

  it('uses the parking place also after a lost board left the state unknown without a movement', () => {
    const drive = commissioned().for(40).trip().for(5, 0).set({ ignition: false }).for(30);
    drive
      .receiver(() => null)
      .set({ ignition: null, motion: null })
      .for(10);
    drive.set({ ignition: false, motion: false }).for(2);
    expect(drive.disk()).toMatchObject({ motion: 'unknown' });
    expect(
      drive
        .receiver((fix) => fix)
        .restart()
        .for(70)
        .of('ignition').state,
    ).toBe('proven');
  });

  it('on the road ignores live contacts too: the plug that carries them all may have come off', () => {
    const plugged = commissioned({ causes: livingCauses }).for(20).trip();
    const drive = plugged
      .receiver(() => null)
      .for(5, 50)
      .set({ ignition: false, motion: false })
      .for(1, 50)
      .restart();
    for (let s = 0; s < 120; s += 1) expect(drive.for(1, 50).of('ignition').state).toBe('suspended');
    // Where a receiver shows one place for a minute, they count.
    expect(
      drive
        .receiver((fix) => fix)
        .for(75, 0)
        .of('ignition').claim,
    ).toBe('rest');
    // ... and for good once they were seen alive.
    drive
      .set({ ignition: true })
      .for(2)
      .set({ ignition: false })
      .receiver(() => null);
    expect(drive.for(5).of('ignition').claim).toBe('rest');
    // A parked vehicle has them at once.
    const parked = commissioned({ causes: livingCauses }).for(60).restart();
    expect(
      parked
        .receiver(() => null)
        .for(2)
        .of('ignition').claim,
    ).toBe('rest');
  });

  it('ignores the inputs at another place until the key is turned', () => {
    const drive = commissioned()
      .receiver((fix) => ({ ...fix, ...north(40) }))
      .for(120);
    expect(drive.of('ignition').state).toBe('suspended');
    expect(drive.set({ ignition: true }).for(2).set({ ignition: false }).for(5).of('ignition').state).toBe(
      'proven',
    );
  });

  it('ignores the inputs while the receiver has no credit', () => {
    const { gnss: _gnss, ...credits } = commissionedRecord.credits;
    const drive = createEvidenceDrive({ record: { ...commissionedRecord, credits } }).for(300);
    expect(drive.of('ignition').state).toBe('suspended');
  });

  it('with the ignition on drops the parking place', () => {
    const drive = commissioned().set({ ignition: true }).for(2);
    expect(drive.disk().parkedAt).toBe(null);
  });
});

describe('a lost board', () => {
  const states = (drive: ReturnType<typeof commissioned>) => [
    drive.of('ignition').state,
    drive.of('motion').state,
  ];
  const lost = () => commissioned().for(30).set({ ignition: null, motion: null });

  it('of more than three seconds suspends both inputs until the receiver shows the parking place', () => {
    const drive = lost().for(5);
    expect(drive.of('ignition').claim).toBe(null);
    drive.set({ ignition: false, motion: false }).for(5);
    expect(states(drive)).toEqual(['proven', 'proven']);
  });

  it('together with a lost receiver is one lost supply: the inputs count after a minute at one place', () => {
    const drive = lost()
      .receiver(() => null)
      .for(5);
    drive.set({ ignition: false, motion: false }).for(5);
    drive.receiver((fix) => fix).for(50);
    expect(states(drive)).toEqual(['suspended', 'suspended']);
    expect(states(drive.for(25))).toEqual(['proven', 'proven']);
  });
});

describe('a common loss', () => {
  const onTheRoad = () =>
    commissioned().for(20).set({ ignition: true }).for(3).set({ motion: true }).for(60, 60);

  it('of both inputs on the road makes them unknown, and the vehicle with them', () => {
    const drive = onTheRoad()
      .receiver(() => null)
      .for(5)
      .set({ ignition: false, motion: false })
      .for(600);
    expect(contactsOf(drive)).toEqual(['suspended', 'suspended']);
    expect(drive.testimony()).toMatchObject({
      ignitionSuspension: 'common',
      drive: { state: 'unknown' },
    });
  });

  it('is detected although the board was silent while the inputs fell', () => {
    const drive = onTheRoad()
      .receiver(() => null)
      .for(5)
      .set({ ignition: null, motion: null })
      .for(2);
    drive.set({ ignition: false, motion: false }).for(600);
    expect(contactsOf(drive)).toEqual(['suspended', 'suspended']);
    expect(drive.testimony().drive.state).toBe('unknown');
  });

  it('is not detected while the receiver shows standstill: a driver stops the engine', () => {
    const drive = commissioned().for(20).trip().for(15).set({ motion: true }).for(1);
    drive.set({ ignition: false, motion: false }).for(20);
    expect(drive.of('ignition').state).toBe('proven');
  });

  it('suspends live contacts too: a plug that comes off carries both wires and not the life input', () => {
    const drive = commissioned({ causes: livingCauses }).for(20).trip().set({ motion: true }).for(30, 50);
    drive.receiver(() => null).for(5, 50);
    drive.set({ ignition: false, motion: false }).for(600, 50);
    expect(contactsOf(drive)).toEqual(['suspended', 'suspended']);
    expect(drive.testimony().drive.state).toBe('unknown');
    drive.set({ ignition: true, motion: true }).for(3, 50).set({ motion: false }).for(5);
    expect(contactsOf(drive.set({ ignition: false }).for(5))).toEqual(['proven', 'proven']);
  });

  it('ends when the receiver shows the stop a moment later: a driver turns the key as the vehicle stops', () => {
    const drive = commissioned().for(20).set({ ignition: true }).for(3).for(60, 60);
    for (const kmh of brakingFrom(60).slice(0, -1)) drive.for(1, kmh);
    drive.set({ ignition: false });
    expect(contactsOf(drive.for(1, 0))).toEqual(['suspended', 'suspended']);
    expect(contactsOf(drive.for(20))).toEqual(['proven', 'proven']);
  });

  it('does not end at the next stop if a fix since has shown movement', () => {
    const drive = onTheRoad().set({ ignition: false, motion: false }).for(2);
    for (const kmh of brakingFrom(60)) drive.for(1, kmh);
    expect(contactsOf(drive.for(120, 0))).toEqual(['suspended', 'suspended']);
  });

  it('does not end when dead inputs twitch together at the next stop', () => {
    const drive = onTheRoad().set({ ignition: false, motion: false }).for(2);
    for (const kmh of brakingFrom(60)) drive.for(1, kmh);
    drive.set({ ignition: true, motion: true }).for(0.5, 0).set({ ignition: false, motion: false });
    expect(contactsOf(drive.for(120))).toEqual(['suspended', 'suspended']);
  });

  it('does not end as the vehicle stops if an analog value was lost with the inputs', () => {
    const drive = commissioned(all).set({ rpm: 800, supplyV: 14 }).for(20).trip();
    drive.set({ ignition: false, rpm: null, supplyV: null }).for(60, 0).set({ rpm: 0, supplyV: 12.6 });
    expect(contactsOf(drive.for(60))).not.toContain('proven');
  });
});

describe('a veto', () => {
  it('is a motion input that pulses: between two pulses it is not at rest, and soon after one it is active', () => {
    const drive = commissioned().for(60);
    expect(drive.of('motion').claim).toBe('rest');
    drive.set({ motion: true }).for(0.5).set({ motion: false }).for(1);
    expect(drive.of('motion').claim).toBe('active');
    drive.for(3);
    expect(drive.of('motion').claim).toBe(null);
    expect(drive.for(30).of('motion').claim).toBe('rest');
  });

  it('is engine speed from 100 a minute, and a charging alternator of 12 V and 24 V', () => {
    const drive = commissioned(all).for(30).set({ rpm: 0, supplyV: 12.6 }).for(15);
    expect([drive.of('rpm').claim, drive.of('voltage').claim]).toEqual(['rest', 'rest']);
    drive.set({ ignition: true, rpm: 700, supplyV: 13.8 }).for(1);
    expect([drive.of('rpm').claim, drive.of('voltage').claim]).toEqual(['active', 'active']);
    drive.set({ rpm: 60, supplyV: 25 }).for(15);
    expect([drive.of('rpm').claim, drive.of('voltage').claim]).toEqual([null, 'rest']);
    expect(drive.set({ supplyV: 27.9 }).for(1).of('voltage').claim).toBe('active');
    expect(drive.set({ supplyV: 0.4 }).for(15).of('voltage').claim).toBe(null);
  });

  it('is a charging voltage with the key off until it falls, and for ten minutes after a rise: a charger is no engine', () => {
    const stopped = () =>
      commissioned(all).for(20).set({ ignition: true, supplyV: 14.4 }).for(10).set({ ignition: false });
    expect(stopped().for(600).of('voltage').claim).toBe('active');
    const resting = stopped().for(5).set({ supplyV: 13.4 }).for(11);
    expect(resting.of('voltage').claim).toBe('rest');
    // It rises again: an engine for ten minutes, and a charger after that.
    expect(resting.set({ supplyV: 14.4 }).for(590).of('voltage').claim).toBe('active');
    expect(resting.for(30).of('voltage').claim).toBe('rest');
  });

  it('is no battery that rests at a charging voltage: after ten minutes it counts as neither', () => {
    const stopped = (supplyV: number) =>
      commissioned(all).for(20).set({ ignition: true, supplyV }).for(10).set({ ignition: false });
    for (const [chargingV, restingV] of [
      [13.5, 13.35],
      [27, 26.7],
    ] as const) {
      const resting = stopped(chargingV).for(5).set({ supplyV: restingV });
      expect(resting.for(590).of('voltage').claim).toBe('active');
      expect(resting.for(20).of('voltage').claim).toBe(null);
    }
    // No battery rests as high as this.
    expect(stopped(14.4).for(5).set({ supplyV: 14.2 }).for(900).of('voltage').claim).toBe('active');
  });

  it('is a charging voltage after a restart on the road, but not a charger on a parked vehicle', () => {
    const onTheRoad = { ...commissionedRecord, motion: 'driving', parkedAt: null } as const;
    const started = commissioned({ ...all, record: onTheRoad });
    expect(started.set({ supplyV: 13.8 }).for(60).of('voltage').claim).toBe('active');
    // Parked, and at a charger.
    const charged = commissioned(all).set({ supplyV: 13.8 }).for(60);
    expect(charged.of('voltage').claim).not.toBe('active');
    // The key was turned for a moment: what charges since then is not known, until it has fallen.
    charged.set({ supplyV: 12.6 }).for(5).set({ supplyV: 13.8 }).for(5);
    charged.set({ ignition: true }).for(3).set({ ignition: false }).for(30);
    expect(charged.of('voltage').claim).toBe('active');
    expect(charged.set({ supplyV: 12.6 }).for(11).of('voltage').claim).toBe('rest');
  });

  it('ends the place where the vehicle was parked', () => {
    for (const readings of [{ ignition: true }, { rpm: 700 }])
      expect(commissioned(all).for(30).set(readings).for(1).disk().parkedAt).toBe(null);
    const towed = commissioned().for(30).for(5, 8);
    expect(towed.disk().parkedAt).toBe(null);
  });
});

describe('a motion input that was contradicted', () => {
  it('contradicts rest when it works again, and is ignored after ten minutes of activity', () => {
    const drive = commissioned().for(40).set({ ignition: true, motion: false }).for(60, 30);
    expect(drive.of('motion')).toMatchObject({ state: 'contradicted' });
    drive.set({ motion: true }).for(30, 30);
    expect(drive.of('motion')).toMatchObject({ state: 'contradicted', claim: 'active' });
    drive.for(5, 8).for(590);
    expect(drive.of('motion')).toMatchObject({ state: 'contradicted', claim: null });
  });

  it('is ignored after ten minutes of pulses on a parked vehicle', () => {
    const drive = commissioned().for(40).trip().for(5, 0).set({ ignition: false });
    const pulse = (seconds: number) => {
      for (let s = 0; s < seconds; s += 2)
        drive.set({ motion: true }).for(0.5).set({ motion: false }).for(1.5);
      return drive.of('motion');
    };
    expect(pulse(560)).toMatchObject({ state: 'proven', claim: 'active' });
    expect(pulse(60)).toMatchObject({ state: 'contradicted', claim: null });
  });
});

describe('an ignition that chatters', () => {
  const turned = (times: number) => {
    const drive = commissioned().for(40).trip().for(15, 0);
    for (let turn = 0; turn < times; turn += 1)
      drive.set({ ignition: false }).for(2).set({ ignition: true }).for(1);
    return drive.set({ ignition: false });
  };

  it('counts again after a minute off while the receiver shows rest: a person tried the key', () => {
    const drive = turned(4);
    expect(drive.for(50).of('ignition').state).toBe('suspended');
    expect(drive.for(15).of('ignition')).toMatchObject({ state: 'proven', claim: 'rest' });
  });

  it('does not count again without a position, nor if the chatter began on the road', () => {
    expect(
      turned(4)
        .receiver(() => null)
        .for(600)
        .of('ignition').state,
    ).toBe('suspended');
    const drive = commissioned().for(40).trip(20).for(20, 50);
    for (let flip = 0; flip < 6; flip += 1) drive.set({ ignition: flip % 2 === 1 }).for(1);
    for (const kmh of brakingFrom(50)) drive.for(1, kmh);
    expect(drive.set({ ignition: false }).for(600).of('ignition').state).toBe('suspended');
  });
});

describe('a tow', () => {
  const towed = () => commissioned().for(30).for(30, 40).for(1, 20).for(1, 8).for(30, 0);

  it('with the key off suspends the ignition until it is seen on, and costs no credit', () => {
    const drive = towed();
    expect(drive.of('ignition').state).toBe('suspended');
    expect(drive.of('gnss')).toMatchObject({ state: 'proven', claim: 'rest' });
    drive.set({ ignition: true }).for(2).set({ ignition: false }).for(12);
    expect(drive.of('ignition')).toMatchObject({ state: 'proven', claim: 'rest' });
  });

  it('is not assumed if the ignition was on before it fell on the road: its wire is broken', () => {
    const drive = commissioned().for(20).trip(20).for(5, 30).set({ ignition: false }).for(11, 30);
    expect(drive.of('ignition').state).toBe('contradicted');
  });
});

describe('a drive of seconds', () => {
  it('suspends live contacts that were off before it: one plug carries both wires', () => {
    const drive = commissioned({ causes: livingCauses }).receiver(() => null);
    drive.set({ ignition: false, motion: false }).for(20);
    expect(contactsOf(drive)).toEqual(['proven', 'proven']);
    drive.receiver((fix) => fix).for(6, 40);
    drive.receiver(() => null).for(120, 40);
    expect(contactsOf(drive)).toEqual(['suspended', 'suspended']);
    drive.set({ ignition: true, motion: true }).for(2).set({ ignition: false }).for(1);
    expect(contactsOf(drive.set({ motion: false }).for(1))).toEqual(['proven', 'proven']);
  });

  it('does not suspend the motion input if the ignition shows the drive: it may pulse rarely', () => {
    const drive = commissioned().for(20).trip().set({ motion: false }).for(6, 40);
    expect(contactsOf(drive)).toEqual(['proven', 'proven']);
  });

  it('does not suspend inputs that were active in it, if a smoothing receiver shows its end late', () => {
    let shownKmh = 0;
    const smoothed = (fix: Fix): Fix => {
      shownKmh += ((fix.speedKmh ?? 0) - shownKmh) * 0.22;
      return { ...fix, speedKmh: shownKmh };
    };
    const drive = commissioned().for(20).receiver(smoothed).set({ ignition: true }).for(3).for(60, 50);
    for (const kmh of [35, 20, 8, 0]) drive.for(1, kmh);
    expect(shownKmh).toBeGreaterThan(25);
    expect(contactsOf(drive.set({ ignition: false }).for(60))).toEqual(['proven', 'proven']);
  });
});

describe('a receiver that was parked under the sky', () => {
  it('and gives no position for 5 s is suspect, and one that misses an epoch is not', () => {
    const drive = commissioned().for(30);
    drive
      .receiver(() => null)
      .for(2)
      .receiver((fix) => fix);
    expect(drive.for(3).testimony().suspectMs).toBe(null);
    drive.receiver(() => null).for(8);
    expect(drive.testimony().suspectMs).toBeGreaterThan(0);
  });

  it('and repeats its position while the engine runs is stale until the next drive', () => {
    const pinned = { latitude: 43.65, longitude: -79.34 };
    const drive = commissioned()
      .receiver((fix) => ({ ...fix, ...pinned }))
      .for(30)
      .set({ ignition: true })
      .for(29);
    expect(drive.of('gnss').state).toBe('proven');
    drive.for(3);
    expect(drive.of('gnss').state).toBe('stale');
    expect(
      drive
        .receiver((fix) => fix)
        .trip(25)
        .for(8)
        .set({ ignition: false })
        .for(12)
        .of('gnss').state,
    ).toBe('proven');
  });
});

describe('a parked vehicle with good sensors', () => {
  it('is known to stand within 30 s of a start, by two proven witnesses that agree', () => {
    const drive = commissioned().for(30);
    expect(drive.of('gnss')).toMatchObject({ state: 'proven', claim: 'rest' });
    expect(drive.of('ignition')).toMatchObject({ state: 'proven', claim: 'rest' });
    expect(drive.testimony()).toMatchObject({ gnss: { kind: 'still' }, ignitionSuspension: null });
  });

  it('is known to stand within 30 s of a stop and the key', () => {
    const drive = commissioned().for(20).trip(600).set({ ignition: false }).for(12);
    expect(drive.testimony().drive.state).toBe('standing');
    expect(drive.of('gnss').claim).toBe('rest');
  });

  it('appears at rest in reports before that is proven', () => {
    const drive = createEvidenceDrive().for(20);
    expect(drive.claim().kind).toBe('unknown');
    expect(looksStill(drive.claim())).toBe(true);
    expect(looksStill(drive.for(5, 20).claim())).toBe(false);
    expect(looksStill({ kind: 'unknown', fault: 'no_fix' })).toBe(false);
  });
});
