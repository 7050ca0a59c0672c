import { describe, expect, it } from 'vitest';
import { listBoardProfiles, parseBoardProfile, readBoardProfile } from '../../agent/boards.ts';
import { analogValue, type BoardOverrides, worstSampleGapMs } from '../../agent/core/board/board-profile.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import { type BoardName, fittedOverrides } from '../../simulator/hardware/board-maps.ts';

const names = await listBoardProfiles();

async function overridden(overrides: BoardOverrides) {
  return applyOverrides(await readBoardProfile('generic'), overrides);
}

describe('a board profile', () => {
  it('comes with the agent for the boards that can be bought', () => {
    expect(names).toEqual(['adam-4150', 'eletechsup', 'generic', 'waveshare-io-analog', 'waveshare-relay-d']);
  });

  for (const name of names) {
    it(`${name} is whole, safe when de-energised, and names its sources`, async () => {
      const profile = await readBoardProfile(name);
      expect(profile.name).toBe(name);
      expect(Object.keys(profile.inputs)).toEqual(['ignition', 'panic', 'cabinDoor', 'cargoDoor']);
      expect(profile.relays.enginecutoff?.safe).toBe('de-energised');
      expect(profile.polls[profile.inputs.panic?.poll ?? '']?.periodMs).toBeLessThanOrEqual(50);
    });

    it(`${name} takes the inputs that an installation has beyond it through the overrides`, async () => {
      const verdict = applyOverrides(await readBoardProfile(name), fittedOverrides(name as BoardName));
      expect(verdict.kind === 'ok' ? Object.keys(verdict.profile.inputs) : verdict.faults).toEqual([
        'ignition',
        'panic',
        'cabinDoor',
        'cargoDoor',
        'tamper',
        'externalPower',
        'motion',
      ]);
    });

    it(`${name} says how short a press it can miss, and misses none of 50 ms at 38400 baud`, async () => {
      const profile = await readBoardProfile(name);
      expect(worstSampleGapMs(profile, 'panic')).toBeLessThan(80);
      const fast = applyOverrides(profile, {
        serial: { baudRate: 38_400 },
        polls: { inputs: { periodMs: 25 } },
      });
      expect(fast.kind === 'ok' && worstSampleGapMs(fast.profile, 'panic')).toBeLessThanOrEqual(50);
    });
  }

  it('with an unknown key is refused by the key, the file and the keys that are known', async () => {
    const toml = 'name = "x"\n[serial]\nbaud = 9600\n';
    expect(() => parseBoardProfile(toml, '/etc/my.toml')).toThrow(
      /my\.toml.*\/serial\/baud: unknown key "baud"; allowed: baudRate, dataBits, parity, stopBits/,
    );
    expect(() => parseBoardProfile('a = [', '/etc/my.toml')).toThrow(/my\.toml is not TOML/);
    await expect(readBoardProfile('waveshare')).rejects.toMatchObject({
      code: 'config',
      hint: expect.stringContaining('waveshare-relay-d'),
    });
    await expect(readBoardProfile('/nowhere/my.toml')).rejects.toThrow(/nowhere/);
  });

  it('can be rewired by the installer, field by field', async () => {
    const verdict = await overridden({
      inputs: { ignition: { address: 7, invert: true }, cargoDoor: false, cabinDoor: false },
      analogs: {
        fuel: {
          table: [
            [0, 0],
            [2, 0.2],
            [5, 1],
          ],
        },
      },
      relays: { cargoaccess: false, enginecutoff: { address: 5 } },
      units: { io: { address: 9 } },
    });
    if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict));
    const { profile } = verdict;
    expect(profile.inputs.ignition).toEqual({ poll: 'inputs', address: 7, invert: true, debounceMs: 300 });
    expect(Object.keys(profile.inputs)).toEqual(['ignition', 'panic']);
    expect(profile.relays).toMatchObject({ enginecutoff: { address: 5 } });
    expect(profile.relays.cargoaccess).toBeUndefined();
    expect(profile.units['io']).toEqual({ address: 9 });
  });

  const faulty: readonly { what: string; overrides: BoardOverrides; pointer: string; message: RegExp }[] = [
    {
      what: 'a signal outside its poll',
      overrides: { inputs: { panic: { address: 8 } } },
      pointer: '/inputs/panic/address',
      message: /8 is not in poll "inputs" \(0 to 7\)/,
    },
    {
      what: 'a poll that is not there',
      overrides: { inputs: { panic: { poll: 'nope' } } },
      pointer: '/inputs/panic/poll',
      message: /no poll "nope"/,
    },
    {
      what: 'two features on one relay',
      overrides: { relays: { cargoaccess: { address: 0 } } },
      pointer: '/relays',
      message: /same relay/,
    },
    {
      what: 'a relay whose timer is another relay',
      overrides: { relays: { cargoaccess: { flashAddress: 0 } } },
      pointer: '/relays',
      message: /same relay/,
    },
    {
      what: 'a register relay without words',
      overrides: { relays: { cargoaccess: { kind: 'register' } } },
      pointer: '/relays/cargoaccess',
      message: /on and off/,
    },
    {
      what: 'a table that does not rise',
      overrides: {
        analogs: {
          fuel: {
            table: [
              [1, 0],
              [1, 1],
            ],
          },
        },
      },
      pointer: '/analogs/fuel/table',
      message: /rise/,
    },
    {
      what: 'a new signal without all its fields',
      overrides: { inputs: { service: { address: 7 } } },
      pointer: '/inputs/service',
      message: /^members are missing: poll, invert, debounceMs$/,
    },
    {
      what: 'a new signal that lacks one member',
      overrides: { inputs: { motion: { poll: 'inputs', address: 6, invert: false } } },
      pointer: '/inputs/motion',
      message: /^members are missing: debounceMs$/,
    },
  ];
  for (const fault of faulty) {
    it(`refuses ${fault.what}`, async () => {
      const verdict = await overridden(fault.overrides);
      if (verdict.kind !== 'faults') throw new Error('was accepted');
      const found = verdict.faults.find((each) => each.pointer === fault.pointer);
      expect(found?.message ?? JSON.stringify(verdict.faults)).toMatch(fault.message);
    });
  }

  it('turns registers into values along the tank table, and into unknown outside the valid range', () => {
    const fuel = {
      poll: 'analogs',
      address: 0,
      scale: 0.001,
      offset: 0,
      valid: [0.1, 5] as [number, number],
      table: [
        [0.5, 0],
        [2, 0.5],
        [4.5, 1],
      ] as [number, number][],
    };
    expect(analogValue(fuel, 50)).toBeNull();
    expect(analogValue(fuel, 5001)).toBeNull();
    expect(analogValue(fuel, 200)).toBe(0);
    expect(analogValue(fuel, 500)).toBe(0);
    expect(analogValue(fuel, 1250)).toBeCloseTo(0.25);
    expect(analogValue(fuel, 2000)).toBe(0.5);
    expect(analogValue(fuel, 4800)).toBe(1);
  });
});
