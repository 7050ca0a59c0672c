// The whole vehicle on a board whose contacts are proven by wires: antivalent ignition, a life input and a loop-back.
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { boardAnsweredMs } from '../../agent/core/board/loopback.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import { sensed } from '../../agent/core/kernel/vehicle-state.ts';
import { type BoardName, boardNames, fittedOverrides } from '../../simulator/hardware/board-maps.ts';
import { createVehicleRig, type RigOptions } from '../support/vehicle/vehicle-rig.ts';

/** A commissioned vehicle in a garage: nothing but its inputs can prove that it stands. */
async function garageRig(options: RigOptions = {}) {
  const rig = await createVehicleRig({ wiring: 'positive', ...options });
  const loopbackRelay = 3;
  // The time is known, and then the sky is out of sight.
  rig.run(25);
  rig.sky(false);
  rig.run(5);
  return {
    ...rig,
    isCut: () => rig.board.isEnergised('enginecutoff'),
    answeredMs: () => boardAnsweredMs(rig.state().loopback),
    ignition: () => sensed(rig.state(), 'ignition').value,
    toggles: () => rig.changes.filter(({ relay, energised }) => relay === loopbackRelay && energised).length,
    isRestingOff: () => rig.changes.findLast(({ relay }) => relay === loopbackRelay)?.energised !== true,
  };
}

describe('a board with wires that prove its contacts', () => {
  it('fits every simulated board; one without a free input has no loop-back', async () => {
    for (const name of boardNames) {
      const verdict = applyOverrides(await readBoardProfile(name), fittedOverrides(name, 'positive'));
      if (verdict.kind !== 'ok') throw new Error(`${name}: ${JSON.stringify(verdict.faults)}`);
      const { inputs, life, loopback } = verdict.profile;
      expect(
        [inputs.ignition?.off, life].every((wire) => wire !== undefined),
        name,
      ).toBe(true);
      expect(loopback !== undefined, name).toBe(name !== 'adam-4150');
    }
  });

  for (const boardName of ['waveshare-relay-d', 'eletechsup'] satisfies BoardName[])
    it(`of ${boardName} cuts in a garage: the loop-back is asked once nothing else lacks, and rests before and after`, async () => {
      const rig = await garageRig({ boardName });
      rig.command('enginecutoff', '1');
      rig.run(50);
      expect([rig.isCut(), rig.toggles(), rig.answeredMs()]).toEqual([false, 0, null]);
      expect(rig.said()).toContain('armed');
      rig.run(30);
      expect(rig.isCut(), rig.reasons().at(-1)).toBe(true);
      expect(rig.toggles()).toBeLessThanOrEqual(2);
      const asked = rig.toggles();
      rig.run(60);
      rig.command('enginecutoff', '0');
      rig.run(60);
      expect([rig.isCut(), rig.toggles(), rig.isRestingOff()]).toEqual([false, asked, true]);
    });

  it('cuts nothing in a garage on plain wiring: one fault would look the same', async () => {
    const rig = await garageRig({ wiring: 'plain' });
    rig.command('enginecutoff', '1');
    rig.run(600);
    expect(rig.isCut()).toBe(false);
  });

  it('that is lost, repeats old bits or has lost its common cuts nothing until it is repaired', async () => {
    for (const faults of [{ repeatsBits: true }, { silent: true }, { commonLost: true }]) {
      const rig = await garageRig();
      rig.run(60);
      rig.board.setFaults(faults);
      rig.run(3);
      rig.command('enginecutoff', '1');
      rig.run(120);
      expect([rig.isCut(), rig.answeredMs()], JSON.stringify(faults)).toEqual([false, null]);
      rig.board.setFaults({ repeatsBits: false, silent: false, commonLost: false });
      rig.run(90);
      expect(rig.isCut(), JSON.stringify(faults)).toBe(true);
    }
  });

  it.each([
    { lost: 'two seconds, 32 seconds ago', lostS: 2, thenS: 32, isDone: true },
    { lost: 'two seconds, 20 seconds ago', lostS: 2, thenS: 20, isDone: false },
    { lost: 'more than three seconds', lostS: 5, thenS: 40, isDone: false },
  ])('cuts in a garage: $isDone, after it was silent for $lost', async ({ lostS, thenS, isDone }) => {
    const rig = await garageRig();
    rig.run(120);
    rig.board.setFaults({ silent: true });
    rig.run(lostS);
    rig.board.setFaults({ silent: false });
    rig.run(thenS);
    rig.command('enginecutoff', '1');
    rig.run(3);
    expect(rig.isCut(), rig.reasons().at(-1)).toBe(isDone);
  });

  it('cuts again after each bus failure and each unplugged port', async () => {
    const rig = await garageRig();
    for (let round = 0; round < 3; round += 1) {
      rig.run(60);
      rig.board.setFaults({ lost: 0.4, garbled: 0.2, cut: 0.1 });
      rig.command('enginecutoff', '1');
      rig.run(7.3 + round * 0.17);
      rig.board.setFaults({ lost: 0, garbled: 0, cut: 0 });
      rig.dispatch({ kind: 'down', port: 'board', reason: 'unplugged' });
      rig.run(120);
      expect(rig.isCut(), `round ${round}`).toBe(true);
      rig.command('enginecutoff', '0');
      rig.run(20);
      expect([rig.isCut(), rig.isRestingOff(), rig.state().loopback.isOrdered]).toEqual([false, true, false]);
    }
  });

  it('never takes a lost common for ignition off, parked or with the key on', async () => {
    for (const isOn of [true, false]) {
      const seen = new Set<boolean | null>();
      const rig = await garageRig();
      rig.board.setSignal('ignition', isOn);
      rig.run(5);
      expect(rig.ignition()).toBe(isOn);
      rig.board.setFaults({ commonLost: true });
      for (let at = 0; at < 300; at += 1) {
        rig.run(0.1);
        seen.add(rig.ignition());
      }
      expect([...seen]).toEqual([isOn, null]);
      expect(rig.ignition()).toBeNull();
      expect(rig.state().board.problems['life']).toMatch(/no supply/);
      rig.board.setFaults({ commonLost: false });
      rig.run(3);
      expect(rig.ignition()).toBe(isOn);
      expect(rig.state().board.problems['life']).toBeUndefined();
    }
  });

  it('cuts nothing in a tunnel when the plug of ignition and motion comes off, at whatever moment between two samples', async () => {
    for (let at = 0; at < 8; at += 1) {
      const rig = await garageRig({
        overrides: {
          inputs: { ignition: { poll: 'inputs', address: 0, off: false, debounceMs: 300 } },
          polls: { inputs: { periodMs: 60 } },
        },
      });
      rig.board.setSignal('ignition', true);
      rig.sky(true);
      rig.drive(50);
      rig.run(30);
      rig.command('enginecutoff', '1');
      rig.sky(false);
      rig.run(5 + at * 0.011);
      rig.unplug();
      rig.run(150);
      expect([rig.isCut(), rig.ignition()], `after ${at} x 11 ms`).toEqual([false, false]);
    }
  });

  it('still alarms at once when panic is pressed while the life wire is broken', async () => {
    const rig = await garageRig({
      overrides: {
        life: { poll: 'inputs', address: 4, invert: false },
        inputs: { ignition: { off: false } },
      },
    });
    // The life input hangs on the off contact here: with the key on it reads 0.
    rig.board.setSignal('ignition', true);
    rig.run(5);
    rig.board.setSignal('panic', true);
    rig.run(0.3);
    expect(rig.state().board.life.isAlive).toBe(false);
    expect(rig.said()).toContain('Panic');
  });

  it('never orders a loop-back if none is wired', async () => {
    const rig = await garageRig({ wiring: 'plain' });
    rig.command('enginecutoff', '1');
    rig.run(60);
    expect([rig.toggles(), rig.answeredMs()]).toEqual([0, null]);
  });
});
