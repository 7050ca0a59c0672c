// What the doctor shows of the wires that prove contacts: each input live as the bits change, and the loop-back followed.
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { type AgentConfig, standardProtection, standardSettings } from '../../agent/config.ts';
import type { BoardOverrides, BoardProfile } from '../../agent/core/board/board-profile.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import { emptyEvidence } from '../../agent/core/evidence/evidence-record.ts';
import { wiringOf } from '../../agent/core/kernel/vehicle-evidence.ts';
import { boardChecks } from '../../agent/doctor/board.ts';
import type { InputSight } from '../../agent/doctor/input-sights.ts';
import type { DoctorPorts } from '../../agent/doctor/ports.ts';
import { relayTestCheck } from '../../agent/doctor/relay-test.ts';
import { createSightings } from '../../agent/doctor/sightings.ts';
import { changeJson, changeLine, watchInputs } from '../../agent/doctor/watch.ts';
import { describeWitnesses, witnessCheck } from '../../agent/doctor/witnesses.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createBoard } from '../../simulator/hardware/board.ts';
import { fittedOverrides, type WiringName } from '../../simulator/hardware/board-maps.ts';
import type { OpenByteLink } from '../../src/ports.ts';

const name = 'waveshare-relay-d';

async function configOf(wiring: WiringName) {
  const verdict = applyOverrides(await readBoardProfile(name), fittedOverrides(name, wiring));
  if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
  const port: AgentConfig['boardPort'] = {
    path: 'board',
    baudRate: 9600,
    dataBits: 8,
    parity: 'none',
    stopBits: 1,
  };
  return {
    profile: verdict.profile,
    boardPort: port,
    gnssPort: { ...port, path: 'gnss' },
    earliestUtcMs: 0,
    settings: standardSettings,
    protection: standardProtection,
  };
}

async function createBench(wiring: WiringName = 'positive') {
  const clock = createVirtualClock(0);
  let receive: (bytes: Uint8Array) => void = () => undefined;
  const entropy = createSeededEntropy('doctor');
  const board = createBoard({ name, wiring, clock, entropy, send: (bytes) => receive(bytes) });
  const openByteLink: OpenByteLink = async ({ path }, handlers) => {
    if (path === 'board') receive = handlers.onBytes;
    return {
      write: (bytes: Uint8Array) => (path === 'board' ? board.receive(bytes) : undefined),
      close: async () => undefined,
    } as Awaited<ReturnType<OpenByteLink>>;
  };
  const pass = async (seconds: number): Promise<void> => {
    for (let turn = 0; turn < seconds * 100; turn += 1) {
      clock.advance(10);
      for (let tick = 0; tick < 4; tick += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const ports = { clock, openByteLink } as unknown as DoctorPorts;
  return { board, ports, pass, config: await configOf(wiring) };
}

describe('the doctor that looks for the board', () => {
  it.each([
    [null, 'ok'],
    ['before', 'warning'],
    ['lone', 'warning'],
    ['random', 'warning'],
  ] as const)('finds it on a line with noise, and names that: %s', async (noise, verdict) => {
    const { board, ports, pass, config } = await createBench();
    board.setFaults({ noise });
    const checks = boardChecks({ config, shipped: [], ports, isStopped: () => false });
    const [found, setup] = checks;
    const running = Promise.all([found?.run(), pass(3)]);
    const [[finding] = []] = await running;
    expect(finding).toMatchObject({ verdict, seen: expect.stringContaining('answers at 9600 baud') });
    expect(finding?.seen.includes('noise on the line')).toBe(noise !== null);
    expect(finding?.todo.includes('bias A and B')).toBe(noise !== null);
    // What comes after it goes on.
    const [next = []] = await Promise.all([setup?.run(), pass(3)]);
    expect(next.map((one) => one.verdict)).toEqual(['ok']);
  });
});

describe('the doctor that watches the inputs', () => {
  it('shows each input once, and then each change with its raw bits and its meaning', async () => {
    const { board, ports, pass, config } = await createBench();
    const shown: { readonly sight: InputSight; readonly atMs: number }[] = [];
    let isStopped = false;
    const running = watchInputs({
      config,
      ports,
      onChange: (sight, atMs) => shown.push({ sight, atMs }),
      isStopped: () => isStopped,
    });
    const changes = async (seconds: number): Promise<readonly string[]> => {
      const from = shown.length;
      await pass(seconds);
      return shown.slice(from).map(({ sight, atMs }) => changeLine(sight, atMs).slice(11));
    };
    expect(await changes(1)).toEqual([
      'ignition      off      on contact 0, off contact 1',
      'panic         off      bit 0',
      'cabinDoor     off      bit 0',
      'cargoDoor     off      bit 0',
      'motion        off      bit 0',
      'loopback      off      bit 0',
      'life          on       bit 1',
    ]);
    board.setSignal('ignition', true);
    expect(await changes(1)).toEqual(['ignition      on       on contact 1, off contact 0']);
    board.setFaults({ commonLost: true });
    const lost = await changes(1);
    expect(lost).toContain('ignition      unknown  on contact 0, off contact 0');
    expect(lost).toContain('life          off      bit 0');
    expect(lost).toContain('cabinDoor     unknown  bit 0');
    board.setFaults({ commonLost: false, silent: true });
    expect(await changes(3)).toContain('life          unknown  bit none');
    const last = shown.at(-1);
    if (last === undefined) throw new Error('nothing was shown');
    expect(JSON.parse(changeJson(last.sight, last.atMs))).toMatchObject({
      reading: 'unknown',
      raw: { bit: null },
    });
    isStopped = true;
    await pass(1);
    await running;
    expect(board.relayLog().changes).toEqual([]);
  });
});

describe('the relay test of the doctor', () => {
  const run = async (isFaulty: boolean) => {
    const { board, ports, pass, config } = await createBench();
    const asked: string[] = [];
    if (isFaulty) board.setFaults({ repeatsBits: true });
    const { relays: _, ...profile } = config.profile;
    const check = relayTestCheck({
      refusal: null,
      config: { ...config, profile: { ...profile, relays: {} } },
      ports,
      withEngine: false,
      ask: async (question) => {
        asked.push(question);
        return '';
      },
      say: () => undefined,
      isStopped: () => false,
    });
    const running = check.run();
    await pass(8);
    return { findings: await running, asked, isOn: board.relayLog().changes.at(-1)?.energised };
  };

  it('toggles the loop-back without asking for consent, and sees its input follow', async () => {
    const { findings, asked, isOn } = await run(false);
    expect(findings).toMatchObject([{ verdict: 'ok', seen: expect.stringContaining('followed') }]);
    expect([asked, isOn]).toEqual([[], false]);
  });

  it('finds a loop-back whose input does not follow, and leaves its output de-energised', async () => {
    const { findings, isOn } = await run(true);
    expect(findings).toMatchObject([{ verdict: 'fault', seen: expect.stringContaining('did not read on') }]);
    expect(isOn).toBe(false);
  });
});

describe('the relay test where nothing shows a position', () => {
  it('moves nothing beside a dead ignition wire, however long it lasts, and clicks a minute after the key was seen turned off', async () => {
    const { board, ports, pass, config } = await createBench('plain');
    const said: string[] = [];
    let isStopped = false;
    const check = relayTestCheck({
      refusal: null,
      config,
      ports,
      withEngine: true,
      ask: async () => 'YES',
      say: (line) => void said.push(line),
      isStopped: () => isStopped,
    });
    const running = check.run().finally(() => (isStopped = true));
    await pass(150);
    expect(board.relayLog().changes).toEqual([]);
    expect(said.at(-1)).toContain('must be seen on once before that counts');
    board.setSignal('ignition', true);
    await pass(2);
    board.setSignal('ignition', false);
    await pass(55);
    expect(board.relayLog().changes).toEqual([]);
    await pass(15);
    expect(await running).toMatchObject([{ verdict: 'ok' }, { verdict: 'ok' }]);
    expect(board.relayLog().changes.map(({ energised }) => energised)).toEqual([true, false, true, false]);
  });
});

describe('the check of the configuration', () => {
  it('names the wires that prove an input, and what helps where there is none', async () => {
    const positive = describeWitnesses(await configOf('positive'), standardProtection);
    expect(positive.lines).toContain('wires that prove ignition: off contact, life input, loop-back');
    expect(positive.lines).toContain('wires that prove motion: life input, loop-back');
    const plain = describeWitnesses(await configOf('plain'), standardProtection);
    expect(plain.lines.join('\n')).toMatch(
      /ignition is a plain contact.*an off contact or a life input helps/,
    );
  });

  it('warns of a relay that can stop a running engine, and of a plain ignition contact beside it', async () => {
    const warningsIn = async (wiring: 'plain' | 'positive') =>
      describeWitnesses(await configOf(wiring), { ...standardProtection, circuit: 'fuel' }).warnings;
    const circuit = expect.stringMatching(/^the cut-off relay is in the fuel circuit/);
    const contact = expect.stringMatching(/^ignition is a plain contact: one broken wire at a light/);
    expect(await warningsIn('plain')).toEqual([circuit, contact]);
    expect(await warningsIn('positive')).toEqual([circuit]);
  });

  it('warns of a life input that would read on without its wire, and names the inputs whose lost supply it would not show', async () => {
    const warningsOf = (overrides: BoardOverrides, profile: BoardProfile): readonly string[] => {
      const verdict = applyOverrides(profile, overrides);
      if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
      return describeWitnesses({ profile: verdict.profile }, standardProtection).warnings;
    };
    const { profile } = await configOf('positive');
    const inverted = { invert: true };
    const all = { ignition: { ...inverted, off: inverted }, motion: inverted };
    const doors = { panic: inverted, cabinDoor: inverted, cargoDoor: inverted };
    expect(warningsOf({}, profile)).toEqual([]);
    const [warning, ...more] = warningsOf({ life: inverted, inputs: all }, profile);
    expect(more).toEqual([]);
    expect(warning).toMatch(/^life has invert = true, unlike panic, cabinDoor, cargoDoor: /);
    expect(warning).toMatch(/Take the supply of the contacts away: `doctor --watch` must show `life off`$/);
    const isLeft = warningsOf({ life: inverted, inputs: { ...all, ...doors, cargoDoor: {} } }, profile);
    expect(isLeft).toEqual([expect.stringMatching(/unlike cargoDoor: /)]);
    expect(warningsOf({ life: inverted, inputs: { ...all, ...doors } }, profile)).toEqual([]);
    // On a board that reads 1 while a contact is open it is the other way round.
    expect(warningsOf({ inputs: all }, profile)).toEqual([
      expect.stringMatching(/^life has invert = false, unlike ignition, motion: /),
    ]);
    expect(warningsOf({ inputs: doors }, profile)).toEqual([]);
    // It does not speak for external power, nor for another unit.
    const elsewhere: BoardOverrides = {
      units: { far: { address: 9 } },
      polls: { far: { unit: 'far', function: 2, first: 0, count: 8, periodMs: 100 } },
      inputs: {
        ...all,
        ...doors,
        motion: { poll: 'far' },
        externalPower: { poll: 'inputs', address: 6, invert: false, debounceMs: 500 },
      },
      life: inverted,
    };
    expect(warningsOf(elsewhere, profile)).toEqual([]);
  });

  it('says that without a motion input a cut waits where there is no position', async () => {
    const config = await configOf('plain');
    const { inputs, ...others } = config.profile;
    const { motion: _, ...fewer } = inputs;
    const { lines } = describeWitnesses({ profile: { ...others, inputs: fewer } }, standardProtection);
    expect(lines).toContain('no motion input is mapped, so without a position a cut waits');
  });
});

describe('the check of a stopped unit', () => {
  it('counts the supply voltage as none of the two that a cut needs', async () => {
    const config = {
      ...(await configOf('plain')),
      accountID: 'acme',
      deviceID: 'truck-1',
      hardwareID: 'unit-1',
    } as const;
    const verdictWith = async (names: readonly string[]): Promise<string | undefined> => {
      const credits = Object.fromEntries(
        names.map((one) => [one, { kind: 'proven', utcMs: 1_790_000_000_000, against: 'gnss' }]),
      );
      const record = { ...emptyEvidence(wiringOf(config.profile, config)), credits };
      const ports = {
        clock: createVirtualClock(1_790_000_000_000),
        machine: { look: () => ({}) },
        inspectOutbox: () => ({ events: 0, integrity: 'ok', evidence: JSON.stringify(record) }),
      } as unknown as DoctorPorts;
      const check = witnessCheck({ ...config, earliestUtcMs: 0 }, 'outbox.db', {
        ports,
        sightings: createSightings(),
      });
      const [finding] = await check.run();
      return finding?.verdict;
    };
    expect(await verdictWith(['ignition', 'voltage'])).toBe('warning');
    expect(await verdictWith(['ignition', 'gnss'])).toBe('ok');
  });
});
