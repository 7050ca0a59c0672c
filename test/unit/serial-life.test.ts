// Bad lines and the vehicle, by count and in virtual time: garbage without end, a wrong speed, a unit that answers for another, an
// echo, a board that falls silent. Nothing false is believed, nothing grows, and what works goes on working.
import { describe, expect, it } from 'vitest';
import { startWatchdog } from '../../agent/agent-loop.ts';
import { evidenceOf } from '../../agent/core/kernel/vehicle-state.ts';
import { vehicleWakeMs } from '../../agent/core/vehicle/vehicle.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import type { Supervisor } from '../../src/ports.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const noise = createSeededEntropy('serial-life');

/** Random bytes without a line end. */
function garbage(bytes: number): Uint8Array {
  return noise.bytes(bytes).map((byte) => (byte === 0x0a || byte === 0x0d ? 0x55 : byte));
}

const sizeOf = (value: unknown): number => JSON.stringify(value).length;
const evidence = (rig: VehicleRig) => {
  let found: ReturnType<typeof evidenceOf> | undefined;
  rig.within((work) => {
    found = evidenceOf(work);
  });
  if (found === undefined) throw new Error('no evidence');
  return found;
};

describe('a receiver that sends garbage', () => {
  it('leaves nothing behind: 20 MB without a line end, no fix, no event, bounded state', async () => {
    const rig = await createVehicleRig();
    rig.run(20);
    const { fixes, nmea, epochs } = rig.state();
    const told = rig.told.length;
    const before = sizeOf({ nmea, epochs });
    rig.quiet(true);
    for (let piece = 0; piece < 5000; piece += 1)
      rig.dispatch({ kind: 'bytes', port: 'gnss', bytes: garbage(4096) });
    expect(rig.state().fixes).toBeLessThanOrEqual(fixes + 1);
    expect(rig.told.length).toBe(told);
    expect(rig.state().nmea.pending.length).toBeLessThanOrEqual(256);
    expect(sizeOf({ nmea: rig.state().nmea, epochs: rig.state().epochs })).toBeLessThan(before + 4096);
  });

  it('is opened anew after half a minute of it, and the board is polled all the while', async () => {
    const rig = await createVehicleRig();
    rig.run(20);
    rig.quiet(true);
    rig.board.setFaults({ silent: false });
    const { requests } = rig.board.counts();
    const reasons = new Set<string>();
    for (let tenth = 0; tenth < 400; tenth += 1) {
      rig.dispatch({ kind: 'bytes', port: 'gnss', bytes: garbage(50) });
      rig.run(0.1);
      const { gnss } = rig.state().ports;
      if (gnss.kind === 'waiting') reasons.add(gnss.why);
    }
    expect([...reasons]).toEqual(['nothing but garbage for 30 s: is the speed right?']);
    expect(rig.board.counts().requests - requests).toBeGreaterThan(100);
    expect(evidence(rig).gnss.kind).toBe('unknown');
    rig.quiet(false);
    rig.run(15);
    expect(evidence(rig).gnss.kind).toBe('still');
  });
});

describe('a board that cannot be understood', () => {
  it('at a wrong speed is lost, proves nothing, is asked seldom, and leaves positions alone', async () => {
    const rig = await createVehicleRig();
    rig.run(20);
    rig.board.setPower(false);
    const asked = rig.state().board.master.counters.requests;
    const { fixes } = rig.state();
    for (let tenth = 0; tenth < 600; tenth += 1) {
      rig.dispatch({ kind: 'bytes', port: 'board', bytes: garbage(30) });
      rig.run(0.1);
    }
    expect(rig.state().boardReport.isLost).toBe(true);
    expect(evidence(rig)).toMatchObject({ boardAlive: false, ignition: { value: null } });
    expect(rig.state().fixes - fixes).toBeGreaterThan(50);
    expect(rig.state().board.master.counters.requests - asked).toBeLessThan(120);
    expect(sizeOf(rig.state().board.master)).toBeLessThan(16_384);
    expect(rig.changes).toEqual([]);
  });

  it('that echoes every request of a dead bus is lost all the same, and its port is opened anew', async () => {
    const rig = await createVehicleRig();
    rig.board.setFaults({ echo: true });
    rig.run(30);
    expect(rig.state().boardReport.isLost).toBe(false);
    rig.board.setFaults({ echo: true, silent: true });
    const reasons = new Set<string>();
    for (let tenth = 0; tenth < 400; tenth += 1) {
      rig.run(0.1);
      const { board } = rig.state().ports;
      if (board.kind === 'waiting') reasons.add(board.why);
    }
    expect(rig.state().boardReport.isLost).toBe(true);
    expect(evidence(rig).boardAlive).toBe(false);
    expect([...reasons]).toEqual(['nothing but garbage for 30 s: is the speed right?']);
  });

  it('that falls silent: inputs are unknown within 1 s, all evidence of it is gone within 2.5 s', async () => {
    const rig = await createVehicleRig({ overrides: { polls: { inputs: { periodMs: 50 } } } });
    rig.run(30);
    for (let turn = 0; turn < 12; turn += 1) {
      rig.board.setPower(false);
      rig.run(1.05);
      expect(evidence(rig).ignition.value).toBe(null);
      rig.run(1.45);
      expect(evidence(rig).boardAlive).toBe(false);
      rig.board.setPower(true);
      rig.run(20 + turn * 0.37);
      expect(evidence(rig)).toMatchObject({ boardAlive: true, ignition: { value: false } });
    }
  });

  it('of which one unit is dead stays lost for operators although the other answers after each opening', async () => {
    const rig = await createVehicleRig({
      boardName: 'waveshare-io-analog',
      overrides: { units: { analog: { address: 77 } } },
    });
    rig.run(60);
    for (let turn = 0; turn < 5; turn += 1) {
      rig.dispatch({ kind: 'down', port: 'board', reason: 'unplugged' });
      rig.run(20);
    }
    expect(rig.said().filter((said) => said.startsWith('Board_'))).toEqual(['Board_Lost']);
    expect(evidence(rig).ignition.value).toBe(false);
  });
});

describe("the service manager's watchdog", () => {
  const standard = { idleMs: 0, overdueMs: 0, hangingMs: 0, stuckMs: 0 };

  /** How often it is fed in a minute of that. */
  function fedIn(seen: Partial<typeof standard>): number {
    const clock = createVirtualClock();
    const now = { ...standard, ...seen };
    let fed = 0;
    const supervisor: Supervisor = {
      ready() {},
      alive: () => void (fed += 1),
      status() {},
      stopping() {},
    };
    const stop = startWatchdog(
      { clock, supervisor, driverStuckMs: () => now.stuckMs },
      {
        idleMs: () => now.idleMs,
        overdueMs: () => now.overdueMs,
        hangingMs: () => now.hangingMs,
        status: () => '',
      },
    );
    clock.advance(59_000);
    stop();
    return fed;
  }

  it('is fed every ten seconds while all is well', () => {
    expect(fedIn({})).toBe(6);
  });

  it.each([
    ['the loop', { idleMs: 4999 }, { idleMs: 5000 }],
    ['a poll or the session', { overdueMs: 59_999 }, { overdueMs: 60_000 }],
    ['a commit', { hangingMs: 29_999 }, { hangingMs: 30_000 }],
    ['a serial driver', { stuckMs: 599_999 }, { stuckMs: 600_000 }],
  ])('is fed while %s is merely slow, and not when it is stuck', (_what, slow, stuck) => {
    expect(fedIn(slow)).toBe(6);
    expect(fedIn(stuck)).toBe(0);
  });

  it('of an agent that works finds no machine behind its time, offline and without a board', async () => {
    const rig = await createVehicleRig();
    for (let second = 0; second < 120; second++) {
      rig.run(1);
      expect(vehicleWakeMs(rig.state(), rig.config())).toBeGreaterThan(rig.nowMs() - 1000);
    }
  });
});
