// Bytes on the line that are no part of an answer: an answer is found wherever it stands, nothing else is taken for one, and the safe
// state of a relay needs no answer at all.
import { describe, expect, it } from 'vitest';
import { encodeRequest, type ModbusRequest } from '../../agent/core/board/modbus-frame.ts';
import { createRtuMaster, stepRtuMaster } from '../../agent/core/board/rtu-master.ts';
import type { RtuMasterOptions, RtuResult } from '../../agent/core/board/rtu-types.ts';
import { type BoardFaults, noBoardFaults, noiseKinds } from '../../simulator/hardware/board.ts';
import { extent } from '../support/extent.ts';
import { permitAny } from '../support/guard/permit-any.ts';
import { frame } from '../support/serial/modbus-unit.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const inputs: ModbusRequest = { kind: 'readBits', unit: 1, function: 2, first: 0, count: 8 };
const word: ModbusRequest = { kind: 'readRegisters', unit: 1, function: 3, first: 4, count: 1 };
const coil: ModbusRequest = { kind: 'writeCoil', unit: 1, address: 0, on: true };
/** Its request would pass for its answer. */
const alike: ModbusRequest = { kind: 'readBits', unit: 1, function: 1, first: 0x300, count: 24 };
const echo = (request: ModbusRequest): string => Buffer.from(encodeRequest(request)).toString('hex');
const sealed = (...body: number[]): string => Buffer.from(frame(body)).toString('hex');

/** A master that has asked, and what arrives: hex bytes, each piece so many ms after the request. */
function ask(
  request: ModbusRequest,
  pieces: readonly (readonly [atMs: number, bytes: string])[],
  options: Partial<RtuMasterOptions> & { readonly knowsEcho?: boolean } = {},
) {
  const { knowsEcho = false, ...rest } = options;
  let state = createRtuMaster(rest);
  if (knowsEcho) state = { ...state, hasEcho: true };
  let result: RtuResult | null = null;
  const feed = (input: Parameters<typeof stepRtuMaster>[1]): void => {
    const stepped = stepRtuMaster(state, input, { permit: permitAny });
    state = stepped.state;
    for (const output of stepped.outputs) if (output.kind === 'done') result = output.result;
  };
  feed({ kind: 'up', atMs: 0 });
  if (knowsEcho) state = { ...state, hasEcho: true };
  feed({ kind: 'time', atMs: 1000 });
  feed({ kind: 'submit', job: { id: 1, priority: 'poll', request }, atMs: 1000 });
  for (const [atMs, bytes] of pieces) feed({ kind: 'bytes', bytes: hex(bytes), atMs: 1000 + atMs });
  for (let atMs = 1000; atMs < 3000; atMs += 1)
    if (state.wakeAtMs !== null && state.wakeAtMs <= atMs) feed({ kind: 'time', atMs });
  return { result: result as RtuResult | null, counters: state.counters, hasEcho: state.hasEcho };
}

const good = '01 02 01 21 61 90';
const values = { kind: 'ok', values: [1, 0, 0, 0, 0, 1, 0, 0] } as const;
const register = sealed(1, 3, 2, 0x12, 0x34);
const done = { kind: 'ok', values: [] } as const;

describe('an answer amid noise', () => {
  it.each<[string, ModbusRequest, Parameters<typeof ask>[1], RtuResult, number]>([
    ['alone', inputs, [[20, good]], values, 0],
    ['behind 00', inputs, [[20, `00 ${good}`]], values, 1],
    ['behind FF', inputs, [[20, `FF ${good}`]], values, 1],
    ['behind several bytes', inputs, [[20, `00 FF 00 80 FE ${good}`]], values, 5],
    ['in front of 00', inputs, [[20, `${good} 00`]], values, 1],
    ['in front of several bytes', inputs, [[20, `${good} FF FF FF FF`]], values, 4],
    [
      'in front of a byte that comes 2 ms later',
      inputs,
      [
        [20, good],
        [22, '00'],
      ],
      values,
      1,
    ],
    ['between bytes', inputs, [[20, `00 00 ${good} FF 00`]], values, 4],
    [
      'behind a lone byte 4 ms after the request',
      inputs,
      [
        [4, '00'],
        [22, good],
      ],
      values,
      1,
    ],
    [
      'in three pieces behind a byte',
      inputs,
      [
        [4, 'FF'],
        [20, '01 02'],
        [22, '01 21'],
        [24, '61 90'],
      ],
      values,
      1,
    ],
    ['behind its own unit', inputs, [[20, `01 ${good}`]], values, 1],
    ['behind its own head', inputs, [[20, `01 02 ${good}`]], values, 2],
    ['behind its own head and length', inputs, [[20, `01 02 01 ${good}`]], values, 3],
    ['in front of its own head', inputs, [[20, `${good} 01 02 01`]], values, 3],
    ['behind a spoilt copy', inputs, [[20, `01 02 01 20 61 90 ${good}`]], values, 6],
    ['behind an answer of another unit', inputs, [[20, `${sealed(2, 2, 1, 0xff)} ${good}`]], values, 6],
    [
      'behind an echo',
      inputs,
      [
        [1, echo(inputs)],
        [20, good],
      ],
      values,
      0,
    ],
    [
      'behind noise, an echo and noise',
      inputs,
      [
        [1, `00 ${echo(inputs)} FF`],
        [20, `00 ${good}`],
      ],
      values,
      3,
    ],
    [
      'behind an echo that lost its first byte',
      inputs,
      [
        [1, echo(inputs).slice(2)],
        [20, good],
      ],
      values,
      7,
    ],
    ['of a register', word, [[20, `00 ${register}`]], { kind: 'ok', values: [0x1234] }, 1],
    ['of a write', coil, [[20, `00 ${echo(coil)} FF`]], done, 2],
    ['that refuses', inputs, [[20, `00 ${sealed(1, 0x82, 2)} 00`]], { kind: 'exception', code: 2 }, 2],
    [
      'that refuses a write',
      coil,
      [
        [4, 'FF'],
        [20, sealed(1, 0x85, 4)],
      ],
      { kind: 'exception', code: 4 },
      1,
    ],
  ])('is found %s', (...[, request, pieces, result, noise]) => {
    const found = ask(request, pieces);
    expect(found.result).toEqual(result);
    expect(found.counters.noiseBytes).toBe(noise);
  });

  it.each<[string, ModbusRequest, Parameters<typeof ask>[1], string, Parameters<typeof ask>[2]?]>([
    ['an answer of another unit', inputs, [[20, `00 ${sealed(2, 2, 1, 0x21)}`]], 'wrongUnit'],
    ['an answer to another function', inputs, [[20, `00 ${sealed(1, 1, 1, 0x21)}`]], 'wrongFunction'],
    ['an answer of another length', inputs, [[20, sealed(1, 2, 2, 0x21, 0)]], 'wrongLength'],
    ['a refusal of another function', inputs, [[20, sealed(1, 0x83, 2)]], 'wrongFunction'],
    ['the answer to another write', coil, [[20, sealed(1, 5, 0, 1, 0xff, 0)]], 'wrongEcho'],
    ['two answers', inputs, [[20, `${good} ${good}`]], 'tooLong'],
    [
      'two answers with noise between',
      inputs,
      [
        [20, good],
        [22, `00 ${good}`],
      ],
      'tooLong',
    ],
    ['an answer with a wrong checksum behind noise', inputs, [[20, '00 01 02 01 21 61 91']], 'wrongUnit'],
    [
      'a frame that a late answer of a longer range holds',
      word,
      [[20, sealed(1, 3, 8, 0, ...hex(register))]],
      'wrongLength',
    ],
    [
      'such a frame, in two pieces',
      word,
      [
        [20, sealed(1, 3, 8, ...hex(register), 0).slice(0, 20)],
        [23, sealed(1, 3, 8, ...hex(register), 0).slice(20)],
      ],
      'wrongLength',
    ],
    ['the echo of a write', coil, [[1, `00 ${echo(coil)}`]], 'timeout', { knowsEcho: true }],
    ['the echo of a write amid noise', coil, [[1, `00 ${echo(coil)} FF`]], 'wrongUnit', { echo: 'on' }],
    [
      'the echo of a read that looks like its answer',
      alike,
      [[1, echo(alike)]],
      'timeout',
      { knowsEcho: true },
    ],
    [
      'a spoilt echo of a write, and the answer',
      coil,
      [[1, `${echo(coil).slice(2)} ${echo(coil)}`]],
      'timeout',
      { knowsEcho: true },
    ],
    [
      'noise',
      inputs,
      [
        [4, '00'],
        [9, 'FF FF'],
      ],
      'wrongUnit',
    ],
  ])('is never %s', (...[, request, pieces, reason, options]) => {
    const found = ask(request, pieces, options);
    const isWrite = request.kind === 'writeCoil';
    const failed = isWrite
      ? { kind: 'unknown', reason }
      : reason === 'timeout'
        ? { kind: 'timeout' }
        : { kind: 'invalid', reason };
    expect(found.result).toEqual(failed);
    expect(found.counters.answers).toBe(0);
  });

  it('is the second copy of a write on an adapter that echoes, and noise that spoils an echo unlearns nothing', () => {
    const twice = [
      [1, `00 ${echo(coil)} 00`],
      [20, `FF ${echo(coil)}`],
    ] as const;
    expect(ask(coil, twice, { knowsEcho: true }).result).toEqual(done);
    expect(
      ask(
        inputs,
        [
          [1, echo(inputs).slice(2)],
          [20, good],
        ],
        { knowsEcho: true },
      ).hasEcho,
    ).toBe(true);
    expect(ask(inputs, [[20, good]], { knowsEcho: true }).hasEcho).toBe(false);
  });
});

/** Faults of the line and the board under which the board still listens. */
const faults: readonly (readonly [string, Partial<BoardFaults>])[] = [
  ['none', {}],
  ['late by 350 ms', { lateMs: 350 }],
  ['late by 1.2 s', { lateMs: 1200 }],
  ['late by 5 s', { lateMs: 5000 }],
  ['lost', { lost: 1 }],
  ['some lost', { lost: 0.5 }],
  ['garbled', { garbled: 1 }],
  ['cut short', { cut: 1 }],
  ['all that and an echo', { echo: true, lost: 0.3, garbled: 0.3, cut: 0.3 }],
  ['an echo', { echo: true }],
  ['an echo of a silent board', { echo: true, silent: true }],
  ['silent', { silent: true }],
  ['a lost common', { commonLost: true }],
  ['old bits', { repeatsBits: true }],
  ...noiseKinds.flatMap((noise) => [
    [`noise ${noise}`, { noise }] as const,
    [`noise ${noise}, an echo`, { noise, echo: true }] as const,
    [`noise ${noise}, no answer`, { noise, lost: 1 }] as const,
  ]),
];

/** Drives, stops, and is cut. */
async function cutVehicle(options: Parameters<typeof createVehicleRig>[0] = {}): Promise<VehicleRig> {
  const rig = await createVehicleRig(options);
  rig.run(20);
  rig.command('enginecutoff', '1');
  rig.run(5);
  expect(rig.board.isEnergised('enginecutoff')).toBe(true);
  return rig;
}

const answered = (rig: VehicleRig): number => rig.state().board.master.counters.answers;

describe('a board on a noisy line', () => {
  it.each(noiseKinds.filter((noise) => noise !== 'babble'))(
    'is polled as often as on a good one: %s',
    async (noise) => {
      const rig = await createVehicleRig();
      rig.run(20);
      const before = answered(rig);
      rig.run(10);
      const usual = answered(rig) - before;
      rig.board.setFaults({ noise });
      rig.run(10);
      const { counters } = rig.state().board.master;
      expect(counters.answers - before - usual).toBeGreaterThan(usual * 0.9);
      expect(counters.noiseBytes).toBeGreaterThan(usual / 2);
      rig.command('enginecutoff', '1');
      rig.run(5);
      rig.command('enginecutoff', '0');
      rig.run(5);
      expect(rig.said().filter((text) => text === 'confirmed')).toHaveLength(2);
      expect(rig.said()).not.toContain('unknown');
      expect(rig.said()).not.toContain('Board_Lost');
    },
  );
});

const confirmations = (rig: VehicleRig): number => rig.said().filter((text) => text === 'confirmed').length;

/** Until the port is open: it is closed for a second where nothing is heard for long. */
function awaitLine(rig: VehicleRig): void {
  for (let wait = 0; rig.state().ports.board.kind !== 'open' && wait < 100; wait += 1) rig.run(0.05);
}

describe('a restore', () => {
  it.each(faults)(
    'opens the contact within 2 s of the order, whatever the line does: %s',
    async (_what, fault) => {
      for (const afterS of extent({ gate: [0, 8], nightly: [0, 0.37, 8, 21] })) {
        const rig = await cutVehicle();
        rig.board.setFaults(fault);
        rig.run(afterS);
        awaitLine(rig);
        rig.command('enginecutoff', '0');
        rig.run(2);
        expect(rig.board.isEnergised('enginecutoff'), `${afterS} s`).toBe(false);
        rig.board.setFaults(noBoardFaults);
        rig.run(20);
        expect(confirmations(rig), `${afterS} s`).toBe(2);
        expect(rig.disk.record.confirmed.enginecutoff?.state).toBe('0');
        expect(rig.changes).toHaveLength(2);
      }
    },
  );

  it.each(['eletechsup', 'generic', 'adam-4150', 'waveshare-io-analog'] as const)(
    'opens the contact of a silent board of any make: %s',
    async (boardName) => {
      const rig = await cutVehicle({ boardName });
      rig.board.setFaults({ silent: true });
      rig.run(20);
      awaitLine(rig);
      rig.command('enginecutoff', '0');
      rig.run(2);
      expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    },
  );

  it.each<[string, Partial<BoardFaults>]>([
    ['silent', { silent: true }],
    ['noise', { noise: 'random', lost: 1 }],
  ])(
    'is written by an agent whose board has never answered, and by one that was killed meanwhile: %s',
    async (_what, fault) => {
      const rig = await cutVehicle();
      rig.kill();
      rig.board.setFaults(fault);
      rig.start();
      rig.run(1);
      rig.command('enginecutoff', '0');
      rig.run(2);
      expect(rig.board.isEnergised('enginecutoff')).toBe(false);

      const killed = await cutVehicle();
      killed.board.setFaults({ ...fault, stuck: true });
      killed.command('enginecutoff', '0');
      killed.run(0.4);
      expect(killed.disk.record.active.enginecutoff?.phase).toBe('executing');
      killed.kill();
      killed.run(60);
      killed.board.setFaults({ stuck: false });
      killed.start();
      killed.run(2.5);
      expect(killed.board.isEnergised('enginecutoff')).toBe(false);
      killed.board.setFaults(noBoardFaults);
      killed.run(20);
      expect(confirmations(killed)).toBe(2);
    },
  );

  it('waits for a line that is unplugged, and is written as soon as it is there', async () => {
    const rig = await cutVehicle();
    rig.board.setFaults({ silent: true });
    rig.dispatch({ kind: 'down', port: 'board', reason: 'unplugged' });
    rig.command('enginecutoff', '0');
    awaitLine(rig);
    rig.run(1);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    const orders = rig.told.length;
    for (let time = 0; time < 20; time += 1)
      rig.dispatch({ kind: 'down', port: 'board', reason: 'unplugged' });
    expect(rig.told.length).toBeLessThan(orders + 4);
  });

  it('waits for no cut that is on its way, or of which nothing is known', async () => {
    for (const afterS of [0, 0.1, 0.4, 3, 30]) {
      const rig = await createVehicleRig({
        onLog: (event) => void (event === 'relay_order' && rig.board.setFaults({ silent: true })),
      });
      rig.run(20);
      rig.command('enginecutoff', '1');
      for (let wait = 0; !rig.board.isEnergised('enginecutoff') && wait < 200; wait += 1) rig.run(0.02);
      expect(rig.board.isEnergised('enginecutoff')).toBe(true);
      // The contacts stay until the restore is ordered: a cut on a silent board is taken back anyway.
      rig.board.setFaults({ stuck: true });
      rig.run(afterS);
      awaitLine(rig);
      rig.command('enginecutoff', '0');
      rig.board.setFaults({ stuck: false });
      rig.run(2);
      expect(rig.board.isEnergised('enginecutoff'), `${afterS} s`).toBe(false);
      expect(rig.said()).toContain('superseded');
      rig.board.setFaults(noBoardFaults);
      rig.run(20);
      expect(confirmations(rig)).toBe(1);
      expect(rig.disk.record.confirmed.enginecutoff?.state).toBe('0');
      expect(rig.changes).toHaveLength(2);
    }
  });

  it('is written at a bounded rate for as long as nothing is understood', async () => {
    let orders = 0;
    const rig = await cutVehicle({ onLog: (event) => void (event === 'relay_order' && (orders += 1)) });
    rig.board.setFaults({ noise: 'lone', lost: 1, stuck: true });
    orders = 0;
    rig.command('enginecutoff', '0');
    const { requests } = rig.board.counts();
    const told = rig.told.length;
    rig.run(600);
    expect(orders).toBeGreaterThan(30);
    expect(orders).toBeLessThan(100);
    expect(rig.board.counts().requests - requests).toBeLessThan(1300);
    expect(rig.told.slice(told).filter(({ commandState }) => commandState !== undefined).length).toBeLessThan(
      5,
    );
    rig.board.setFaults(noBoardFaults);
    rig.run(15);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    expect(confirmations(rig)).toBe(2);
  });
});

describe('what must be safe again', () => {
  it('is a cut of which nothing is known after a crash, unless the board shows it', async () => {
    for (const fault of [null, { silent: true }, { noise: 'random', lost: 1 }] as const) {
      const rig = await createVehicleRig({ onContact: () => rig.kill() });
      rig.run(20);
      rig.command('enginecutoff', '1');
      rig.run(5);
      expect(rig.board.isEnergised('enginecutoff')).toBe(true);
      expect(rig.disk.record.active.enginecutoff?.phase).toBe('executing');
      const { changes } = rig;
      if (fault !== null) rig.board.setFaults(fault);
      rig.start();
      rig.run(8);
      expect(rig.board.isEnergised('enginecutoff')).toBe(fault === null);
      expect(changes).toHaveLength(fault === null ? 1 : 2);
      if (fault === null) expect(rig.said()).toContain('confirmed');
    }
  });

  it('is written again after a restart if a cut was withdrawn and nothing was read since', async () => {
    const rig = await createVehicleRig({
      onLog: (event) => void (event === 'relay_order' && rig.board.setFaults({ silent: true })),
    });
    rig.run(20);
    rig.command('enginecutoff', '1');
    for (let wait = 0; !rig.board.isEnergised('enginecutoff') && wait < 200; wait += 1) rig.run(0.02);
    rig.board.setFaults({ stuck: true });
    rig.run(3);
    expect(rig.said()).toContain('unknown');
    rig.kill();
    rig.board.setFaults({ stuck: false });
    rig.start();
    rig.run(2);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
  });

  it.each(['generic', 'eletechsup'] as const)(
    'is the cargo lock of a board that is not understood, after its time, on the road, and after a restart: %s',
    async (boardName) => {
      for (const how of ['time', 'unknown', 'road', 'restart', 'order'] as const) {
        const rig = await createVehicleRig({ boardName, protection: { unlockS: how === 'road' ? 300 : 30 } });
        const silence = { noise: 'random', lost: 1 } as const;
        rig.run(20);
        rig.command('cargoaccess', '1');
        if (how === 'unknown') {
          for (let wait = 0; !rig.board.isEnergised('cargoaccess') && wait < 200; wait += 1) rig.run(0.02);
          rig.board.setFaults(silence);
        }
        rig.run(3);
        expect(rig.board.isEnergised('cargoaccess')).toBe(true);
        rig.board.setFaults(silence);
        if (how === 'road') {
          rig.drive(40);
          rig.run(25);
        } else if (how === 'restart') {
          rig.kill();
          rig.start();
          rig.run(3);
        } else if (how === 'order') {
          rig.command('cargoaccess', '0');
          rig.run(2);
        } else rig.run(40);
        expect(rig.board.isEnergised('cargoaccess'), how).toBe(false);
        rig.board.setFaults(noBoardFaults);
        rig.drive(0);
        rig.run(40);
        expect(rig.board.isEnergised('cargoaccess')).toBe(false);
        expect(rig.disk.record.confirmed.cargoaccess?.state ?? '0').toBe('0');
      }
    },
  );
});

describe('a cut', () => {
  it.each(
    faults.filter(([, { lost, garbled, cut, silent }]) =>
      [lost, garbled, cut, silent].some((share) => share === 1 || share === true),
    ),
  )('closes no contact while nothing is understood: %s', async (_what, fault) => {
    for (const afterS of extent({ gate: [2], nightly: [0.5, 2, 30] })) {
      const rig = await createVehicleRig();
      rig.run(20);
      rig.board.setFaults(fault);
      rig.run(afterS);
      rig.command('enginecutoff', '1');
      rig.command('cargoaccess', '1');
      rig.run(60);
      expect(rig.changes).toEqual([]);
    }
  });
});
