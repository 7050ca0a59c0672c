// Wires that prove a contact: antivalent ignition, life input and loop-back, from the profile to samples. Whatever a
// board answers, the bits of a dead wire, a lost supply or a lost common never become "off".
import * as fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { createBoard, stepBoard } from '../../agent/core/board/board.ts';
import { decodePoll } from '../../agent/core/board/board-decode.ts';
import { type BoardOverrides, type BoardProfile, proofOf } from '../../agent/core/board/board-profile.ts';
import type { BoardOutput, BoardState } from '../../agent/core/board/board-types.ts';
import { createInputs, readingOf, stepInputs } from '../../agent/core/board/inputs.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import { sharedCauses } from '../../agent/core/evidence/common-causes.ts';
import { causesOf, wiringOf } from '../../agent/core/kernel/vehicle-evidence.ts';
import { inputRules } from '../../agent/core/vehicle/vehicle-start.ts';
import type { InputName } from '../../src/core/events/event.ts';
import { permitAny } from '../support/guard/permit-any.ts';
import { modbusUnit } from '../support/serial/modbus-unit.ts';
import { good, runUntil, virtualBus } from '../support/virtual/virtual-bus.ts';

const plain = await readBoardProfile('generic');
const coil = { unit: 'io', kind: 'coil', poll: 'relays', safe: 'de-energised' } as const;
const off = { address: 4, invert: false };
const life = { poll: 'inputs', address: 5, invert: false };
const loopback = {
  output: { ...coil, address: 3 },
  input: { poll: 'inputs', address: 7, invert: false },
};

function profileWith(overrides: BoardOverrides, base = plain): BoardProfile {
  const verdict = applyOverrides(base, overrides);
  if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
  return verdict.profile;
}

const bit = fc.constantFrom(0, 1);
/** What one poll of eight bits may answer; null: nothing. */
const answers = fc.option(fc.array(fc.oneof(bit, bit, bit, fc.constant(7)), { minLength: 8, maxLength: 8 }), {
  freq: 20,
});

function inputsOf(outputs: readonly BoardOutput[]): Readonly<Partial<Record<InputName, boolean | null>>> {
  const found = outputs.find((output) => output.kind === 'inputs');
  if (found === undefined) throw new Error('no inputs in this poll');
  return found.values;
}

describe('an antivalent ignition', () => {
  it('reads off only in a sample in which the off contact is closed and the on contact is open, and on only the other way round', () => {
    fc.assert(
      fc.property(answers, fc.boolean(), (values, invert) => {
        const profile = profileWith({ inputs: { ignition: { invert, off: { address: 4, invert } } } });
        const raw = inputsOf(decodePoll(profile, 'inputs', { values, atMs: 0 })).ignition ?? null;
        const closed = (address: number) => {
          const value = values?.[address];
          return value === 0 || value === 1 ? (value === 1) !== invert : null;
        };
        const [onContact, offContact] = [closed(0), closed(4)];
        const expected =
          onContact === true && offContact === false
            ? 'on'
            : onContact === false && offContact === true
              ? 'off'
              : 'unknown';
        expect(raw === null ? 'unknown' : raw !== invert ? 'on' : 'off').toBe(expected);
      }),
    );
  });

  it('is unknown while both contacts have no supply, by every pair of inversions that is accepted', () => {
    const accepted: string[] = [];
    for (const invert of [false, true])
      for (const offInvert of [false, true]) {
        const ignition = { invert, off: { address: 4, invert: offInvert } };
        const verdict = applyOverrides(plain, { inputs: { ignition } });
        if (verdict.kind !== 'ok') continue;
        accepted.push(`${invert} ${offInvert}`);
        for (const dead of [0, 1]) {
          const values = Array.from({ length: 8 }, () => dead);
          const read = inputsOf(decodePoll(verdict.profile, 'inputs', { values, atMs: 0 }));
          expect(read.ignition, `bits ${dead} by ${invert} ${offInvert}`).toBeNull();
        }
      }
    expect(accepted).toEqual(['false false', 'true true']);
  });

  it('is valid for less than a second after its last clear sample, whatever samples follow', () => {
    const profile = profileWith({ inputs: { ignition: { off } } });
    const pair = fc.oneof(fc.constantFrom([0, 1], [1, 0], [0, 0], [1, 1]), {
      weight: 4,
      arbitrary: fc.constant(null),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(pair, fc.integer({ min: 1, max: 60 })), { maxLength: 20 }), (runs) => {
        let state = createInputs<InputName>(inputRules({ profile }), 0);
        let last: readonly number[] = [0, 0];
        const saidMs = { on: -Infinity, off: -Infinity, unknown: Infinity };
        let atMs = 0;
        for (const [given, samples] of runs) {
          last = given ?? last;
          const [on = 0, offBit = 0] = last;
          for (let at = 0; at < samples; at += 1) {
            atMs += 40;
            if (on !== offBit) saidMs[on === 1 ? 'on' : 'off'] = atMs;
            const values = inputsOf(
              decodePoll(profile, 'inputs', { values: [on, 0, 0, 0, offBit, 0, 0, 0], atMs }),
            );
            state = stepInputs(state, { kind: 'sample', atMs, values }).state;
            const { reading } = readingOf(state, 'ignition');
            if (reading !== 'unknown') expect(atMs - saidMs[reading]).toBeLessThan(1000);
            if (on === offBit && atMs - Math.max(saidMs.on, saidMs.off) >= 1000)
              expect(reading).toBe('unknown');
          }
        }
      }),
    );
  });
});

describe('a life input', () => {
  it('that reads 0 or is unknown makes inactive inputs of its unit unknown, and active normally closed ones', () => {
    fc.assert(
      fc.property(
        answers,
        fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
        fc.boolean(),
        (values, turned, lifeInvert) => {
          const [turnedIgnition = false, panic = false, cabinDoor = false, cargoDoor = false] = turned;
          // Unlike it a life input that is on at 0 is refused.
          const ignition = turnedIgnition || lifeInvert;
          const profile = profileWith({
            inputs: {
              ignition: { invert: ignition, off: { ...off, invert: ignition } },
              panic: { invert: panic },
              cabinDoor: { invert: cabinDoor },
              cargoDoor: { invert: cargoDoor },
            },
            life: { ...life, invert: lifeInvert },
          });
          const isAlive = values?.[5] === (lifeInvert ? 0 : 1);
          const read = inputsOf(decodePoll(profile, 'inputs', { values, atMs: 0 }));
          for (const [name, raw] of Object.entries(read)) {
            if (isAlive || raw === null) continue;
            const { invert } = profile.inputs[name as InputName] ?? { invert: false };
            expect(raw !== invert, `${name} reads active`).toBe(true);
            expect(raw, `${name} by a bit that a dead supply cannot make`).toBe(!lifeInvert);
          }
        },
      ),
    );
  });

  it('changes no contact while it reads 1, and delays no panic while it reads 0', () => {
    const profile = profileWith({ life });
    fc.assert(
      fc.property(fc.array(bit, { minLength: 8, maxLength: 8 }), (given) => {
        const values = given.map((value, at) => (at === 5 ? 1 : value));
        const at = { values, atMs: 0 };
        expect(decodePoll(profile, 'inputs', at)).toEqual(decodePoll(plain, 'inputs', at));
      }),
    );
    const dead = { values: [0, 1, 0, 0, 0, 0, 0, 0], atMs: 0 };
    expect(inputsOf(decodePoll(profile, 'inputs', dead))).toEqual({
      ignition: null,
      panic: true,
      cabinDoor: null,
      cargoDoor: null,
    });
  });

  it('leaves the external power input as it reads: its loss is what that input reports', () => {
    const externalPower = { poll: 'inputs', address: 6, invert: false, debounceMs: 500 };
    const profile = profileWith({ life, inputs: { externalPower } });
    const values = [0, 0, 0, 0, 0, 0, 0, 0];
    expect(inputsOf(decodePoll(profile, 'inputs', { values, atMs: 0 })).externalPower).toBe(false);
  });

  it('of another poll counts for one second, and is reported once it has read 0 for ten', () => {
    const unit = modbusUnit(1);
    for (let at = 0; at < 8; at += 1) {
      unit.coils.set(at, false);
      unit.inputs.set(at, false);
    }
    const profile = profileWith({
      polls: { doors: { unit: 'io', function: 2, first: 2, count: 2, periodMs: 100 } },
      inputs: { cabinDoor: { poll: 'doors' }, cargoDoor: { poll: 'doors' } },
      analogs: { fuel: false, supplyVoltage: false },
      life,
    });
    const bus = virtualBus([unit]);
    const outputs: BoardOutput[] = [];
    let state: BoardState = createBoard(profile);
    const feed = (input: Parameters<typeof stepBoard>[1]): void => {
      const step = stepBoard(state, input, permitAny);
      state = step.state;
      for (const output of step.outputs)
        if (output.kind === 'write') bus.send(output.bytes, input.atMs);
        else outputs.push(output);
    };
    const run = (fromMs: number, untilMs: number): void =>
      runUntil(
        bus,
        {
          wakeAtMs: () => state.wakeAtMs,
          bytes: (bytes, atMs) => feed({ kind: 'bytes', bytes, atMs }),
          time: (atMs) => feed({ kind: 'time', atMs }),
        },
        { fromMs, untilMs },
      );
    const door = (): unknown =>
      outputs
        .flatMap((output) => (output.kind === 'inputs' ? [output.values.cargoDoor] : []))
        .filter((value) => value !== undefined)
        .at(-1);
    const problems = (): readonly (string | null)[] =>
      outputs.flatMap((output) =>
        output.kind === 'problem' && output.place === 'life' ? [output.reason] : [],
      );
    unit.inputs.set(5, true);
    feed({ kind: 'up', atMs: 0 });
    run(0, 1000);
    expect(door()).toBe(false);
    unit.inputs.set(5, false);
    run(1000, 1300);
    expect(door()).toBeNull();
    run(1300, 10_500);
    expect(problems()).toEqual([]);
    run(10_500, 12_000);
    expect(problems()).toEqual([expect.stringMatching(/no supply/)]);
    unit.inputs.set(5, true);
    run(12_000, 12_500);
    expect(door()).toBe(false);
    expect(problems().at(-1)).toBeNull();
    // The poll of the life input is lost, and the other goes on.
    bus.fate = () => good;
    unit.inputs.delete(5);
    run(12_500, 14_500);
    expect(door()).toBeNull();
  });
});

describe('the wiring of a profile', () => {
  const positive = profileWith({ inputs: { ignition: { off } }, life, loopback });

  it('names the wires that prove an input', () => {
    expect(proofOf(plain, 'ignition')).toEqual({ isAntivalent: false, hasLife: false, hasLoopback: false });
    expect(proofOf(positive, 'ignition')).toEqual({ isAntivalent: true, hasLife: true, hasLoopback: true });
    expect(proofOf(positive, 'panic')).toEqual({ isAntivalent: false, hasLife: true, hasLoopback: true });
    expect(proofOf(positive, 'motion')).toBeNull();
  });

  it('makes contacts with one fuse or one line dependent, on any number of boards', () => {
    const motion = { poll: 'second', address: 6, invert: false, debounceMs: 200 };
    const onTwo = (more: BoardOverrides) => {
      const { motion: one, ignition: other } = causesOf(
        profileWith({
          units: { io2: { address: 2 } },
          polls: { second: { unit: 'io2', function: 2, first: 0, count: 8, periodMs: 50 } },
          inputs: { motion },
          ...more,
        }),
      );
      return sharedCauses(one, other).map((cause) => cause.split(':')[0]);
    };
    expect(onTwo({})).toEqual(['contacts', 'board']);
    // The loop-back takes the board of its own unit away while it answers: `evidence-state.ts`.
    expect(onTwo({ life, loopback })).toEqual(['board']);
  });

  const unit = { accountID: 'acme', deviceID: 'truck-1', hardwareID: 'unit-1' } as const;

  it('is a new one with each wire that is added or moved, and the old one without them', () => {
    const wirings = [
      plain,
      profileWith({ inputs: { ignition: { off } } }),
      profileWith({ inputs: { ignition: { off: { ...off, address: 6 } } } }),
      profileWith({ life }),
      profileWith({ life: { ...life, address: 6 } }),
      profileWith({ loopback }),
      positive,
    ].map((profile) => wiringOf(profile, unit));
    expect(new Set(wirings).size).toBe(wirings.length);
    const removed = profileWith(
      { inputs: { ignition: { off: false } }, life: false, loopback: false },
      positive,
    );
    expect(removed).toEqual(plain);
    expect(wiringOf(removed, unit)).toBe(wiringOf(plain, unit));
  });

  it('is another one on another unit, to which the disk was copied', () => {
    const units = [unit, { ...unit, hardwareID: 'unit-2' }, { ...unit, deviceID: 'truck-2' }];
    expect(new Set(units.map((one) => wiringOf(plain, one))).size).toBe(3);
  });

  it('can be changed by overrides member by member', () => {
    const moved = profileWith(
      {
        inputs: { ignition: { off: { address: 6 } }, cargoDoor: false },
        life: { address: 3 },
        loopback: { output: { address: 4 } },
      },
      positive,
    );
    expect(moved.inputs.ignition?.off).toEqual({ address: 6, invert: false });
    expect(moved.life).toEqual({ ...life, address: 3 });
    expect(moved.loopback).toEqual({ ...loopback, output: { ...loopback.output, address: 4 } });
  });

  it('may have a loop-back in a poll of its own on a unit that reads neither ignition nor motion', () => {
    const profile = profileWith({
      units: { io2: { address: 2 } },
      polls: {
        second: { unit: 'io2', function: 2, first: 0, count: 8, periodMs: 50 },
        far: { unit: 'io2', function: 1, first: 0, count: 8, periodMs: 5000 },
      },
      loopback: {
        output: { ...coil, unit: 'io2', poll: 'far', address: 3 },
        input: { poll: 'second', address: 7, invert: false },
      },
    });
    expect(proofOf(profile, 'ignition')?.hasLoopback).toBe(false);
  });

  const otherPoll = '[polls.other]\nunit = "io"\nfunction = 2\nfirst = 0\ncount = 8\nperiodMs = 100';
  const loopbackIn = (poll: string): string =>
    `[loopback]\noutput = { unit = "io", kind = "coil", address = 3, poll = "relays", safe = "de-energised" }\ninput = { poll = "${poll}", address = 7, invert = false }`;
  const faulty: readonly (readonly [string, string, string, RegExp])[] = [
    [
      'an off contact of another input',
      '[inputs]\npanic = { off = { address = 4, invert = false } }',
      '/inputs/panic/off',
      /only ignition/,
    ],
    [
      'an input that is another one, which would confirm itself',
      '[inputs]\nmotion = { poll = "inputs", address = 0, invert = true, debounceMs = 200 }',
      '/inputs/motion/address',
      /^0 is ignition too: it needs an input of its own/,
    ],
    [
      'an ignition that is read too seldom',
      '[polls]\ninputs = { periodMs = 600 }',
      '/inputs/ignition/poll',
      /poll "inputs" reads every 600 ms, not within 500 ms/,
    ],
    [
      'an off contact that is the on contact',
      '[inputs]\nignition = { off = { address = 0, invert = true } }',
      '/inputs/ignition/off/address',
      /^0 is ignition too/,
    ],
    [
      'an off contact that is another input',
      '[inputs]\nignition = { off = { address = 1, invert = false } }',
      '/inputs/ignition/off/address',
      /^1 is panic too/,
    ],
    [
      'an off contact outside of its poll',
      '[inputs]\nignition = { off = { address = 8, invert = false } }',
      '/inputs/ignition/off/address',
      /8 is not in poll "inputs" \(0 to 7\)/,
    ],
    [
      'an off contact with another inversion than ignition',
      '[inputs]\nignition = { off = { address = 4, invert = true } }',
      '/inputs/ignition/off/invert',
      /a lost supply could read as off: both contacts .* hang on one supply, give both the same invert/,
    ],
    [
      'an ignition that is inverted without its off contact',
      '[inputs]\nignition = { invert = true, off = { address = 4, invert = false } }',
      '/inputs/ignition/off/invert',
      /^ignition has invert = true and its off contact false/,
    ],
    [
      'half an off contact',
      '[inputs]\nignition = { off = { address = 4 } }',
      '/inputs/ignition/off',
      /members are missing: invert/,
    ],
    [
      'a life input that is another input',
      '[life]\npoll = "inputs"\naddress = 0\ninvert = false',
      '/life/address',
      /^0 is ignition too/,
    ],
    [
      'a life input that is on at the bit of an open ignition',
      '[life]\npoll = "inputs"\naddress = 5\ninvert = true',
      '/life/invert',
      /^life has invert = true, unlike ignition: it would read on for ever/,
    ],
    [
      'a life input in a poll that is not there',
      '[life]\npoll = "nope"\naddress = 5\ninvert = false',
      '/life/poll',
      /no poll "nope"/,
    ],
    [
      'a life input that is an output',
      '[life]\npoll = "relays"\naddress = 5\ninvert = false',
      '/life/poll',
      /function 1, not 2 or 3 or 4/,
    ],
    [
      'a life input in another poll than ignition',
      `${otherPoll}\n[life]\npoll = "other"\naddress = 5\ninvert = false`,
      '/life/poll',
      /ignition is in poll "inputs": both must come from one answer/,
    ],
    [
      'a life input that is read too seldom',
      '[polls.inputs]\nperiodMs = 1000\n[life]\npoll = "inputs"\naddress = 5\ninvert = false',
      '/life/poll',
      /every 1000 ms, not within 500 ms/,
    ],
    [
      'a life input of a unit without inputs',
      '[units]\nfar = { address = 9 }\n[polls.far]\nunit = "far"\nfunction = 2\nfirst = 0\ncount = 8\nperiodMs = 100\n[life]\npoll = "far"\naddress = 5\ninvert = false',
      '/life/poll',
      /no input is read from unit "far"/,
    ],
    [
      'a loop-back whose output is a relay',
      '[loopback]\noutput = { unit = "io", kind = "coil", address = 0, poll = "relays", safe = "de-energised" }\ninput = { poll = "inputs", address = 7, invert = false }',
      '/relays',
      /enginecutoff and loopback are the same relay/,
    ],
    [
      'a loop-back whose input is its own output',
      '[polls.quick]\nunit = "io"\nfunction = 3\nfirst = 0\ncount = 8\nperiodMs = 100\n[loopback]\noutput = { unit = "io", kind = "register", address = 3, on = 1, off = 0, poll = "quick", safe = "de-energised" }\ninput = { poll = "quick", address = 3, invert = false }',
      '/loopback/input/address',
      /reads the output itself/,
    ],
    [
      'a loop-back whose input is the life input',
      '[life]\npoll = "inputs"\naddress = 5\ninvert = false\n[loopback]\noutput = { unit = "io", kind = "coil", address = 3, poll = "relays", safe = "de-energised" }\ninput = { poll = "inputs", address = 5, invert = false }',
      '/loopback/input/address',
      /the life input too/,
    ],
    [
      'a loop-back whose input is in another poll than ignition',
      `${otherPoll}\n${loopbackIn('other')}`,
      '/loopback/input/poll',
      /ignition is in poll "inputs": both must come from one answer, so this input must be in that poll too/,
    ],
    [
      'a loop-back whose input is in another poll than motion',
      `${otherPoll}\n[inputs]\nmotion = { poll = "other", address = 6, invert = false, debounceMs = 200 }\n${loopbackIn('inputs')}`,
      '/loopback/input/poll',
      /motion is in poll "other": both must come from one answer/,
    ],
    [
      'half a loop-back',
      '[loopback]\ninput = { poll = "inputs", address = 7, invert = false }',
      '/loopback',
      /members are missing: output/,
    ],
    [
      'a loop-back that is not read back',
      '[loopback]\noutput = { unit = "io", kind = "coil", address = 30, poll = "relays", safe = "de-energised" }\ninput = { poll = "inputs", address = 7, invert = false }',
      '/loopback/output/address',
      /30 is not in poll "relays"/,
    ],
  ];
  it.each(faulty)('is refused with %s, by the place and the reason', (_, toml, pointer, message) => {
    const verdict = applyOverrides(plain, parse(toml));
    if (verdict.kind !== 'faults') throw new Error('was accepted');
    const found = verdict.faults.find((each) => each.pointer === pointer && message.test(each.message));
    expect(found, JSON.stringify(verdict.faults)).toBeDefined();
  });
});
