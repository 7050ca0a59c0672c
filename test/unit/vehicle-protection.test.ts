// Protection as the whole vehicle does it, over the bytes of a simulated board: the lock that closes by itself, the warning
// before a cut with ignition on, the code of a person at the vehicle, and what a geozone may and may not do.
import { describe, expect, it } from 'vitest';
import { requestLocal } from '../../agent/core/kernel/vehicle-control.ts';
import { recordGrants } from '../../agent/core/kernel/vehicle-guard.ts';
import { serviceLimits } from '../../agent/core/protection/service-code.ts';
import type { ZoneConfig } from '../../src/core/geo/zone-config.ts';
import { extent } from '../support/extent.ts';
import { createVehicleRig, rigCodes, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const wire = { unit: 'io', kind: 'coil', poll: 'relays', safe: 'de-energised' } as const;
const buzzer = { outputs: { warning: { ...wire, address: 2 } } };
const button = {
  inputs: { service: { poll: 'inputs', address: 7, invert: false, debounceMs: 50 } },
  polls: { inputs: { periodMs: 50 } },
};

const energised = (rig: VehicleRig, feature: string) =>
  rig.changes.filter((change) => change.feature === feature && change.energised);

/** It stops, its key is turned off, and a cut that is ordered so long after that is carried out within so long. */
function parkAndCut(
  rig: VehicleRig,
  { offS, withinS }: { readonly offS: number; readonly withinS: number },
): void {
  rig.drive(0);
  rig.run(10);
  rig.board.setSignal('ignition', false);
  rig.run(offS);
  rig.command('enginecutoff', '1');
  rig.run(withinS);
  expect(rig.board.isEnergised('enginecutoff')).toBe(true);
}

describe('an agent that is held up as it is about to decide', () => {
  it.each(['bytes', 'time'] as const)(
    'moves no relay of a vehicle that set off meanwhile (%s first)',
    async (first) => {
      let decided = 0;
      for (let atS = 9; atS < 12; atS += extent({ gate: 0.3, nightly: 0.1 })) {
        const rig = await createVehicleRig({
          onContact: ({ energised: isOn }) => {
            if (isOn) expect(rig.speedKmh()).toBeLessThanOrEqual(3);
          },
        });
        rig.run(30);
        rig.board.setSignal('ignition', true);
        rig.drive(40);
        rig.run(40);
        rig.command('enginecutoff', '1');
        rig.drive(0);
        rig.run(10);
        rig.board.setSignal('ignition', false);
        rig.run(atS);
        if (rig.board.isEnergised('enginecutoff')) decided += 1;
        rig.hold();
        rig.board.setSignal('ignition', true);
        rig.run(0.3);
        rig.drive(60);
        rig.run(0.9);
        rig.goOn(first);
        rig.run(3);
      }
      // The moment of the decision lies within.
      expect(decided).toBeGreaterThan(0);
      expect(decided).toBeLessThan(extent({ gate: 10, nightly: 30 }));
    },
  );
});

it.each([1, 2.2, 3.2, 6])(
  'finds its stop after it was held up for %f s again and again in a drive',
  async (holdS) => {
    const rig = await createVehicleRig();
    rig.run(30);
    rig.board.setSignal('ignition', true);
    rig.drive(40);
    rig.run(40.5);
    for (let count = 0; count < 3; count += 1) {
      rig.hold();
      rig.run(holdS);
      rig.goOn('bytes');
      rig.run(5);
    }
    rig.run(30);
    parkAndCut(rig, { offS: 12, withinS: 10 });
  },
);

it('decides on a slow board as soon as it has answered, while its inputs are new', async () => {
  const rig = await createVehicleRig();
  rig.board.setFaults({ lateMs: 400 });
  rig.run(40);
  rig.board.setSignal('ignition', true);
  rig.drive(40);
  rig.run(40);
  parkAndCut(rig, { offS: 15, withinS: 2 });
});

describe('the cargo lock', () => {
  it('is closed by the board itself, whatever becomes of the agent', async () => {
    const rig = await createVehicleRig({ protection: { unlockS: 20 } });
    rig.run(20);
    rig.command('cargoaccess', '1');
    rig.run(2);
    expect(rig.board.isEnergised('cargoaccess')).toBe(true);
    expect(rig.changes.at(-1)?.cause).toBe('flash');
    rig.kill();
    rig.run(20);
    expect(rig.board.isEnergised('cargoaccess')).toBe(false);
    expect(rig.changes.at(-1)?.cause).toBe('flash end');
  });

  it.each(['waveshare-relay-d', 'eletechsup', 'generic'] as const)(
    '%s: closes after its time, and that is reported',
    async (boardName) => {
      const rig = await createVehicleRig({ boardName, protection: { unlockS: 20 } });
      rig.run(20);
      rig.command('cargoaccess', '1');
      rig.run(2);
      expect(rig.board.isEnergised('cargoaccess')).toBe(true);
      rig.run(30);
      expect(rig.board.isEnergised('cargoaccess')).toBe(false);
      expect(rig.reasons()).toContain('locked again: its time was over');
      expect(rig.disk.record.confirmed.cargoaccess?.state).toBe('0');
      expect(energised(rig, 'cargoaccess')).toHaveLength(1);
    },
  );

  it('is closed as soon as the vehicle drives, long before its time is over', async () => {
    const rig = await createVehicleRig({ boardName: 'generic', protection: { unlockS: 300 } });
    rig.run(20);
    rig.command('cargoaccess', '1');
    rig.run(2);
    expect(rig.board.isEnergised('cargoaccess')).toBe(true);
    rig.board.setSignal('ignition', true);
    rig.drive(40);
    rig.run(8);
    expect(rig.board.isEnergised('cargoaccess')).toBe(false);
    expect(rig.reasons()).toContain('locked again: the vehicle drives');
    rig.drive(0);
    rig.run(60);
    expect(energised(rig, 'cargoaccess')).toHaveLength(1);
  });

  it('that the board does not close is closed at once after a restart', async () => {
    const rig = await createVehicleRig({ boardName: 'generic', protection: { unlockS: 300 } });
    rig.run(20);
    rig.command('cargoaccess', '1');
    rig.run(2);
    rig.kill();
    rig.run(1);
    expect(rig.board.isEnergised('cargoaccess')).toBe(true);
    rig.start();
    rig.run(10);
    expect(rig.board.isEnergised('cargoaccess')).toBe(false);
  });

  it('closes although a further unlock waits because the vehicle moves', async () => {
    const rig = await createVehicleRig({ boardName: 'generic', protection: { unlockS: 20 } });
    rig.run(20);
    rig.command('cargoaccess', '1');
    rig.run(12);
    rig.drive(30);
    rig.run(5);
    rig.command('cargoaccess', '1');
    rig.run(15);
    expect(rig.board.isEnergised('cargoaccess')).toBe(false);
  });

  it('is not opened twice for one command whose outcome is unknown', async () => {
    const rig = await createVehicleRig({ protection: { unlockS: 5 } });
    rig.run(20);
    rig.board.setFaults({ silent: true });
    rig.command('cargoaccess', '1');
    rig.run(10);
    rig.board.setFaults({ silent: false });
    rig.run(60);
    expect(energised(rig, 'cargoaccess').length).toBeLessThanOrEqual(1);
  });
});

describe('a cut with ignition on', () => {
  const ignitionOn = async (
    protection: NonNullable<Parameters<typeof createVehicleRig>[0]>['protection'],
  ) => {
    const rig = await createVehicleRig({ overrides: buzzer, protection: protection ?? {} });
    // What inputs read after a start with ignition on counts once they were seen active.
    rig.board.setSignal('ignition', true);
    rig.drive(20);
    rig.run(20);
    rig.drive(0);
    rig.run(45);
    return rig;
  };
  const warned = (rig: VehicleRig) => rig.changes.filter(({ relay }) => relay === 2);

  it('is warned of for thirty seconds, happens, and ends the sound', async () => {
    const rig = await ignitionOn({ cutMode: 'at_standstill' });
    rig.command('enginecutoff', '1');
    rig.run(25);
    expect(rig.board.isEnergised('warning')).toBe(true);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    rig.run(25);
    expect(rig.board.isEnergised('enginecutoff')).toBe(true);
    expect(rig.board.isEnergised('warning')).toBe(false);
    const [sound] = warned(rig);
    const [cut] = energised(rig, 'enginecutoff');
    expect((cut?.atMs ?? 0) - (sound?.atMs ?? 0)).toBeGreaterThanOrEqual(30_000);
  });

  it('restarts its warning after the vehicle has moved, and is never carried out while it moves', async () => {
    const rig = await ignitionOn({ cutMode: 'at_standstill' });
    rig.command('enginecutoff', '1');
    rig.run(20);
    rig.drive(16);
    rig.run(20);
    expect(rig.board.isEnergised('warning')).toBe(false);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    rig.drive(0);
    rig.run(30);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    rig.run(40);
    expect(rig.board.isEnergised('enginecutoff')).toBe(true);
  });

  it('falls silent when the command is withdrawn', async () => {
    const rig = await ignitionOn({ cutMode: 'at_standstill' });
    rig.command('enginecutoff', '1');
    rig.run(15);
    rig.command('enginecutoff', '1', { commandID: 'c1', cancel: true });
    rig.run(5);
    expect(rig.board.isEnergised('warning')).toBe(false);
    rig.run(60);
    expect(energised(rig, 'enginecutoff')).toEqual([]);
  });

  it('waits while the warning output does not follow, and a restore does not', async () => {
    const rig = await ignitionOn({ cutMode: 'at_standstill' });
    rig.board.setFaults({ stuck: true });
    rig.command('enginecutoff', '1');
    rig.run(60);
    expect(rig.reasons()).toContain('warning_output');
    rig.board.setFaults({ stuck: false });
    rig.command('enginecutoff', '0');
    rig.run(3);
    expect(rig.disk.record.confirmed.enginecutoff?.state).toBe('0');
  });

  it('leaves no sound behind a restart', async () => {
    const rig = await ignitionOn({ cutMode: 'at_standstill' });
    rig.command('enginecutoff', '1');
    rig.run(15);
    rig.kill();
    rig.board.setSignal('ignition', false);
    rig.disk.record = { ...rig.disk.record, active: {} };
    rig.start();
    rig.run(10);
    expect(rig.board.isEnergised('warning')).toBe(false);
  });
});

describe('a code at the vehicle', () => {
  const cutOff = async () => {
    const rig = await createVehicleRig({ overrides: { ...buzzer, ...button } });
    rig.run(20);
    rig.command('enginecutoff', '1');
    rig.run(5);
    expect(rig.board.isEnergised('enginecutoff')).toBe(true);
    return rig;
  };

  it('restores the engine with ignition on and no network, and is used up in the same commit', async () => {
    const rig = await cutOff();
    rig.board.setSignal('ignition', true);
    rig.run(2);
    rig.dispatch({ kind: 'serviceCode', code: rigCodes.codeAt(0) });
    expect(rig.disk.record.service?.counter).toBe(1);
    rig.run(3);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    expect(rig.said().slice(-6)).toContain('Service_Code_Right');
    const confirmed = rig.told.findLast(({ commandState }) => commandState === 'confirmed');
    expect(confirmed?.attributes).toMatchObject({ source: 'service', state: '0' });
    expect(confirmed?.commandID).toMatch(/^local-b1-\d+$/);
  });

  it('overtakes a cut that waits', async () => {
    const rig = await createVehicleRig();
    rig.board.setSignal('ignition', true);
    rig.run(20);
    rig.command('enginecutoff', '1');
    rig.run(2);
    rig.dispatch({ kind: 'serviceCode', code: rigCodes.codeAt(0) });
    rig.run(3);
    rig.board.setSignal('ignition', false);
    rig.run(60);
    expect(energised(rig, 'enginecutoff')).toEqual([]);
  });

  it('is entered with the button, answered by the buzzer', async () => {
    const rig = await cutOff();
    const press = (downS: number, upS: number): void => {
      rig.board.setSignal('service', true);
      rig.run(downS);
      rig.board.setSignal('service', false);
      rig.run(upS);
    };
    press(3.5, 1);
    for (const digit of rigCodes.codeAt(0)) {
      const presses = digit === '0' ? 10 : Number(digit);
      for (let at = 0; at < presses; at += 1) press(0.4, at === presses - 1 ? 3 : 0.4);
    }
    rig.run(5);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    expect(
      rig.changes.filter(({ relay, energised: isOn }) => relay === 2 && isOn).length,
    ).toBeGreaterThanOrEqual(8);
    expect(rig.board.isEnergised('warning')).toBe(false);
  });

  it('locks for an hour after five wrong tries, over a restart', async () => {
    const rig = await cutOff();
    for (let tries = 0; tries < serviceLimits.wrongMost; tries += 1)
      rig.dispatch({ kind: 'serviceCode', code: 'wrong' });
    rig.kill();
    rig.start();
    rig.run(10);
    rig.dispatch({ kind: 'serviceCode', code: rigCodes.codeAt(0) });
    rig.run(3);
    expect(rig.board.isEnergised('enginecutoff')).toBe(true);
    rig.quiet(true);
    rig.run(3605);
    rig.quiet(false);
    rig.run(10);
    rig.dispatch({ kind: 'serviceCode', code: rigCodes.codeAt(0) });
    rig.run(3);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    expect(rig.said().filter((text) => text === 'Service_Code_Wrong')).toHaveLength(
      serviceLimits.wrongMost + 1,
    );
  });
});

describe('a geozone', () => {
  const zone = (
    rig: VehicleRig,
    state: '0' | '1',
    feature: 'enginecutoff' | 'cargoaccess' = 'enginecutoff',
  ) =>
    rig.within((work) => {
      const switches = ['departureEngineOff', 'departureCargoUnlock'] as const;
      recordGrants(work, [{ id: 'depot', zone: {} as ZoneConfig['zone'], switches }]);
      const side = { id: 'depot', to: 'outside' } as const;
      requestLocal(work, { feature, state, source: 'zone', reason: 'left the zone "depot"', side });
    });

  it('cuts nothing unless the installer allows it', async () => {
    const rig = await createVehicleRig();
    rig.run(400);
    zone(rig, '1');
    rig.run(30);
    expect(energised(rig, 'enginecutoff')).toEqual([]);
    expect(rig.reasons()).toContain('not permitted on this vehicle');
  });

  it('cuts with ignition off once panic has been calm, and may take its own cut back', async () => {
    const rig = await createVehicleRig({ protection: { zoneCuts: true } });
    rig.run(20);
    zone(rig, '1');
    rig.run(5);
    expect(rig.reasons()).toContain('panic_calm_s');
    rig.run(300);
    expect(rig.board.isEnergised('enginecutoff')).toBe(true);
    rig.run(15);
    zone(rig, '0');
    rig.run(5);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
  });

  it('does not cut while panic is active', async () => {
    const rig = await createVehicleRig({ protection: { zoneCuts: true } });
    rig.board.setSignal('ignition', true);
    rig.run(400);
    zone(rig, '1');
    rig.run(2);
    rig.board.setSignal('panic', true);
    rig.board.setSignal('ignition', false);
    rig.run(120);
    expect(energised(rig, 'enginecutoff')).toEqual([]);
    expect(rig.reasons().at(-1)).toBe('panic_calm_s');
  });

  it('gives way to a person: it replaces no command of a person and undoes no such cut', async () => {
    const rig = await createVehicleRig({ protection: { zoneCuts: true } });
    rig.board.setSignal('ignition', true);
    rig.run(20);
    rig.command('enginecutoff', '1');
    rig.run(2);
    zone(rig, '0');
    expect(rig.reasons()).toContain('a command of a person stands');
    rig.board.setSignal('ignition', false);
    // The key was turned since it was parked, so its place must be held for 60 s.
    rig.run(60);
    expect(rig.board.isEnergised('enginecutoff')).toBe(true);
    zone(rig, '0');
    rig.run(5);
    expect(rig.reasons().at(-1)).toBe('the engine was cut by a person');
    expect(rig.board.isEnergised('enginecutoff')).toBe(true);
  });

  it('unlocks the cargo at standstill only, wherever the vehicle is', async () => {
    const rig = await createVehicleRig();
    rig.board.setSignal('ignition', true);
    rig.drive(8);
    rig.run(20);
    zone(rig, '1', 'cargoaccess');
    rig.run(20);
    expect(energised(rig, 'cargoaccess')).toEqual([]);
    expect(rig.reasons().at(-1)).toBe('speed_kmh');
    rig.drive(0);
    // The motion input is the second witness while the ignition is on: 30 s without a pulse.
    rig.run(40);
    expect(energised(rig, 'cargoaccess')).toHaveLength(1);
  });

  it('has its request superseded by a person', async () => {
    const rig = await createVehicleRig({ protection: { zoneCuts: true } });
    rig.board.setSignal('ignition', true);
    rig.run(400);
    zone(rig, '1');
    rig.run(1);
    rig.command('enginecutoff', '0');
    rig.board.setSignal('ignition', false);
    rig.run(60);
    expect(energised(rig, 'enginecutoff')).toEqual([]);
  });
});

describe('a start', () => {
  it('reports by which mode the vehicle is protected', async () => {
    const rig = await createVehicleRig({ protection: { noGnss: 'wait' } });
    expect(rig.told[0]?.attributes).toMatchObject({
      cutMode: 'ignition_off',
      circuit: 'starter',
      noGnss: 'wait',
    });
  });

  it('brings a confirmed cut back within two fixes of the first read-back of a board that lost its power, on a vehicle that has stood for a minute', async () => {
    const rig = await createVehicleRig({ boardName: 'eletechsup' });
    rig.run(70);
    rig.command('enginecutoff', '1');
    rig.run(5);
    rig.board.setPower(false);
    rig.run(5);
    rig.board.setPower(true);
    rig.run(8);
    expect(rig.board.isEnergised('enginecutoff')).toBe(true);
  });

  it('brings a confirmed cut back once the receiver shows the vehicle where it was parked', async () => {
    const rig = await createVehicleRig({ boardName: 'eletechsup' });
    rig.run(20);
    rig.command('enginecutoff', '1');
    rig.run(5);
    rig.kill();
    rig.board.setPower(false);
    rig.run(5);
    rig.board.setPower(true);
    rig.start();
    rig.run(5);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    rig.run(12);
    expect(rig.board.isEnergised('enginecutoff')).toBe(true);
  });

  it('does not, when the key was turned off on a vehicle that still rolled', async () => {
    const rig = await createVehicleRig();
    rig.run(20);
    rig.command('enginecutoff', '1');
    rig.run(5);
    rig.board.setPower(false);
    rig.run(1);
    rig.board.setPower(true);
    rig.board.setSignal('ignition', true);
    rig.drive(60);
    rig.run(20);
    rig.board.setSignal('ignition', false);
    rig.run(3);
    rig.kill();
    rig.start();
    rig.run(4);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
  });
});
