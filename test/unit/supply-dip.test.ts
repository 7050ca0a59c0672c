// A dip of the supply as the engine starts: the receiver starts anew with its last place, the contacts stay dead, and the unit may start anew too.
// What rested before it proves nothing (agent/SAFETY.md, H22).
import { describe, expect, it } from 'vitest';
import { commissioned, commissionedRecord, createEvidenceDrive } from '../support/vehicle/evidence-drive.ts';

describe('a dip of the supply at the start of the engine', () => {
  /** The receiver restarts and goes on with its last place, alive to the last digit; the contacts stay dead. */
  const dip = (lostS: number, isBoardSilent = false, isLossy = false) => {
    let place = { latitude: 0, longitude: 0 };
    let count = 0;
    const drive = commissioned({ fitted: ['gnss', 'ignition'] })
      .receiver((fix) => {
        place = fix;
        count += 1;
        return isLossy && count % 2 === 0 ? { ...fix, speedKmh: null, mode: null, rmcValid: false } : fix;
      })
      .set({ motion: false })
      .for(20)
      .trip()
      .for(2)
      .set({ ignition: false })
      .for(20)
      .set({ ignition: true })
      .for(1);
    if (isBoardSilent) drive.set({ ignition: null }).for(0.5);
    drive.set({ ignition: false });
    if (lostS > 0) drive.receiver(() => null).for(lostS, 10);
    const { latitude, longitude } = place;
    return drive.receiver((fix) => {
      count += 1;
      return { ...fix, latitude: latitude + (count % 5) * 1e-6, longitude, speedKmh: 0.1 };
    });
  };

  it('voids the rest that the receiver showed before it, for a minute', () => {
    for (const lostS of [2, 3, 4, 8]) {
      const drive = dip(lostS);
      for (let s = 0; s < 55; s += 1)
        expect([lostS, drive.for(1, 50).of('gnss').claim]).not.toEqual([lostS, 'rest']);
    }
  });

  it('is detected on a line that loses every other RMC: the rest shows the interval of the receiver', () => {
    for (const lostS of [2, 3]) {
      const drive = dip(lostS, false, true);
      for (let s = 0; s < 55; s += 1)
        expect([lostS, drive.for(1, 50).of('gnss').claim]).not.toEqual([lostS, 'rest']);
    }
    expect(dip(0, false, true).for(11, 0).of('gnss').claim).toBe('rest');
  });

  it('is not assumed after one missing fix, and delays a parked vehicle by a minute at most', () => {
    for (const lostS of [0, 1]) expect(dip(lostS).for(11, 0).of('gnss').claim).toBe('rest');
    expect(dip(2).for(75, 0).of('gnss').claim).toBe('rest');
  });

  it('voids that rest if the ignition was never read as on: its board was silent, or it is not proven', () => {
    const parked = () => commissioned({ fitted: ['gnss', 'ignition'] }).for(30);
    const { ignition: _ignition, ...credits } = commissionedRecord.credits;
    const unproven = () => createEvidenceDrive({ record: { ...commissionedRecord, credits } }).for(30);
    const restarted = (drive: ReturnType<typeof commissioned>, lostS: number) =>
      drive
        .receiver(() => null)
        .for(lostS, 10)
        .receiver((fix) => fix)
        .for(11, 0)
        .of('gnss').claim;
    expect(restarted(parked().set({ ignition: null }).for(0.5).set({ ignition: false }), 1)).not.toBe('rest');
    expect(restarted(unproven(), 2)).not.toBe('rest');
    expect(restarted(parked(), 2)).toBe('rest');
    expect(restarted(unproven(), 1)).toBe('rest');
  });

  it('voids that rest for a minute if it restarts the unit too', () => {
    const drive = dip(2).restart(true);
    for (let s = 0; s < 58; s += 1) expect(drive.for(1, 50).of('gnss').claim).not.toBe('rest');
    const parked = (isPower: boolean) => commissioned().for(60).restart(isPower).for(20).of('gnss').claim;
    expect([parked(false), parked(true)]).toEqual(['rest', null]);
    expect(commissioned().for(60).restart(true).for(62).of('gnss').claim).toBe('rest');
    // The clock of a process begins at 0, and its unit was switched on before.
    const started = commissioned({ poweredMs: -15_000 });
    expect([started.for(42).of('gnss').claim, started.for(5).of('gnss').claim]).toEqual([null, 'rest']);
  });

  it('voids that rest if no fix before it was complete', () => {
    const isDipped = (lostS: number) =>
      commissioned({ fitted: ['gnss', 'ignition'] })
        .receiver((fix) => ({ ...fix, speedKmh: null, mode: null, rmcValid: false }))
        .for(70)
        .set({ ignition: null })
        .receiver(() => null)
        .for(lostS)
        .set({ ignition: false })
        .receiver((fix) => fix)
        .for(20)
        .of('gnss').claim;
    expect([isDipped(3), isDipped(0)]).toEqual([null, 'rest']);
  });

  it('voids that rest if the receiver sent nothing between the start of the run and the dip', () => {
    const isDipped = (before: null | 'silent', beforeS: number, lostS: number) =>
      commissioned({ fitted: ['gnss', 'ignition'] })
        .receiver(() => before)
        .for(beforeS)
        .set({ ignition: null })
        .receiver(() => 'silent')
        .for(lostS)
        .set({ ignition: false })
        .receiver((fix) => fix)
        .for(20)
        .of('gnss').claim;
    expect([isDipped('silent', 17, 2), isDipped('silent', 0, 2)]).toEqual([null, 'rest']);
    // A receiver that looks for its first fix is there.
    expect([isDipped(null, 17, 3), isDipped(null, 17, 0)]).toEqual([null, 'rest']);
  });

  it('is not assumed when a 0.5 Hz receiver sends soon after the start: that is not its interval', () => {
    for (const beforeS of [61, 61.5, 61.9])
      expect(commissioned({ fixMs: 2000 }).for(beforeS).restart().for(20).of('gnss').claim).toBe('rest');
  });

  it('voids that rest after one missing fix, if the ignition fell while its board was silent', () => {
    const drive = dip(1, true);
    for (let s = 0; s < 55; s += 1) expect(drive.for(1, 50).of('gnss').claim).not.toBe('rest');
    // A silence of the board alone, and a missing fix alone, are none.
    expect(dip(0, true).for(11, 0).of('gnss').claim).toBe('rest');
    expect(dip(1, true).for(75, 0).of('gnss').claim).toBe('rest');
  });

  it('is distinguished from a stall of this process, after which fixes are late but complete', () => {
    const parked = () => commissioned({ fitted: ['gnss', 'ignition'] }).for(30);
    const stalled = (lateMs: number) => {
      const drive = parked().set({ ignition: null });
      drive.receiver(() => null).for(2);
      // The epochs of the stall are read at its end.
      drive.receiver((fix) => ({ ...fix, utcMs: (fix.utcMs ?? 0) - lateMs })).for(1);
      return drive
        .set({ ignition: false })
        .receiver((fix) => fix)
        .for(11)
        .of('gnss').claim;
    };
    expect(stalled(1500)).toBe('rest');
    expect(stalled(0)).not.toBe('rest');
  });

  it('is distinguished from a receiver that loses its fix long after the key', () => {
    const drive = commissioned().for(20).trip().for(2).set({ ignition: false }).for(20);
    drive
      .receiver(() => null)
      .for(3)
      .receiver((fix) => fix)
      .for(2);
    expect(drive.of('gnss').claim).toBe('rest');
  });
});
