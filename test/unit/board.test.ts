import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { createBoard, stepBoard } from '../../agent/core/board/board.ts';
import type { BoardProfile } from '../../agent/core/board/board-profile.ts';
import type { BoardInput, BoardOutput, BoardState } from '../../agent/core/board/board-types.ts';
import { permitAny } from '../support/guard/permit-any.ts';
import { type ModbusUnit, modbusUnit } from '../support/serial/modbus-unit.ts';
import { type Fate, good, runUntil, virtualBus } from '../support/virtual/virtual-bus.ts';

type OutputOf<Kind extends BoardOutput['kind']> = Extract<BoardOutput, { kind: Kind }>;

function rig(profile: BoardProfile, units: ModbusUnit[]) {
  const bus = virtualBus(units);
  const outputs: BoardOutput[] = [];
  let state: BoardState = createBoard(profile);
  let nowMs = 0;
  const feed = (input: BoardInput): void => {
    const stepped = stepBoard(state, input, permitAny);
    state = stepped.state;
    for (const output of stepped.outputs) {
      if (output.kind === 'write') bus.send(output.bytes, input.atMs);
      else outputs.push(output);
    }
    expect(state.jobs.length).toBeLessThan(12);
  };
  const machine = {
    wakeAtMs: () => state.wakeAtMs,
    bytes: (bytes: Uint8Array, atMs: number) => feed({ kind: 'bytes', bytes, atMs }),
    time: (atMs: number) => feed({ kind: 'time', atMs }),
  };
  const run = (forMs: number) => {
    runUntil(bus, machine, { fromMs: nowMs, untilMs: nowMs + forMs });
    nowMs += forMs;
  };
  const of = <Kind extends BoardOutput['kind']>(kind: Kind) =>
    outputs.filter((output): output is OutputOf<Kind> => output.kind === kind);
  return {
    bus,
    outputs,
    of,
    run,
    feed,
    now: () => nowMs,
    state: () => state,
    up: () => feed({ kind: 'up', atMs: nowMs }),
    down: () => feed({ kind: 'down', atMs: nowMs, reason: 'unplugged' }),
    set: (token: string, energised: boolean, forMs = 2000) =>
      feed({
        kind: 'setRelay',
        relay: 'enginecutoff',
        energised,
        token,
        deadlineMs: nowMs + forMs,
        atMs: nowMs,
      }),
    result: (token: string) => of('relayResult').find((result) => result.token === token),
  };
}

/** A Waveshare Relay (D): coils, inputs, control modes. */
function relayD(): ModbusUnit {
  const unit = modbusUnit(1);
  for (let at = 0; at < 8; at += 1) {
    unit.coils.set(at, false);
    unit.inputs.set(at, false);
    unit.holding.set(0x1000 + at, 0);
  }
  return unit;
}

const profile = await readBoardProfile('waveshare-relay-d');
const isRead = (bytes: Uint8Array) => (bytes[1] ?? 0) <= 4;

describe('the board', () => {
  it('reads the relays before anything else, then the inputs, often enough for a press of 50 ms', () => {
    const { bus, up, run, of } = rig(profile, [relayD()]);
    up();
    run(2000);
    expect([...(bus.sent[0]?.bytes.subarray(0, 6) ?? [])]).toEqual([1, 1, 0, 0, 0, 8]);
    const times = of('inputs').map((output) => output.atMs);
    const gaps = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
    expect(Math.max(...gaps.slice(5))).toBeLessThanOrEqual(50);
    expect(of('boardUp')).toHaveLength(1);
    expect(of('relays')[0]?.values).toEqual({ enginecutoff: false, cargoaccess: false });
  });

  it('gives raw bits of each signal', () => {
    const unit = relayD();
    const { up, run, of } = rig(profile, [unit]);
    unit.inputs.set(1, true);
    up();
    run(500);
    expect(of('inputs').at(-1)?.values).toMatchObject({ ignition: false, panic: true, cargoDoor: false });
  });

  it('drives a relay and confirms it only after two readings', () => {
    const unit = relayD();
    const { bus, up, run, set, result } = rig(profile, [unit]);
    up();
    run(1000);
    const before = bus.sent.length;
    set('t1', true);
    run(300);
    expect(result('t1')).toEqual({
      kind: 'relayResult',
      relay: 'enginecutoff',
      token: 't1',
      outcome: 'confirmed',
      reason: null,
      readBack: true,
    });
    const after = bus.sent.slice(before).map((sent) => sent.bytes[1]);
    const write = after.indexOf(5);
    expect(after.slice(write, write + 3)).toEqual([5, 1, 1]);
    expect(unit.coils.get(0)).toBe(true);
  });

  it('never writes before it has read the relays since the link came up', () => {
    const unit = relayD();
    const { bus, up, run, set, result } = rig(profile, [unit]);
    up();
    set('t1', true);
    run(1000);
    expect(isRead(bus.sent[0]?.bytes ?? new Uint8Array(2))).toBe(true);
    expect(result('t1')?.outcome).toBe('confirmed');
  });

  it('reports a mismatch when the relay does not follow', () => {
    const unit = relayD();
    unit.onWrite = () => unit.coils.set(0, false);
    const { up, run, set, result } = rig(profile, [unit]);
    up();
    run(500);
    set('t1', true);
    run(2000);
    expect(result('t1')).toMatchObject({ outcome: 'mismatch', readBack: false });
  });

  it('after a lost answer reads first, and writes again only what is not as ordered', () => {
    const unit = relayD();
    let writes = 0;
    unit.onWrite = () => {
      writes += 1;
    };
    const { bus, up, run, set, result, now } = rig(profile, [unit]);
    up();
    run(500);
    const lostUntilMs = now() + 60;
    bus.fate = (atMs) => (atMs < lostUntilMs ? { ...good, kind: 'lost' } : good);
    set('t1', true, 5000);
    run(4000);
    expect(result('t1')?.outcome).toBe('confirmed');
    expect(writes).toBe(1);
    bus.units.length = 0;
    set('t2', false, 3000);
    run(200);
    bus.units.push(unit);
    run(4000);
    expect(result('t2')).toMatchObject({ outcome: 'confirmed', readBack: false });
    expect(writes).toBe(2);
  });

  it('does not write after the deadline, and reports an undetermined outcome as unknown', () => {
    const unit = relayD();
    let writes = 0;
    unit.onWrite = () => {
      writes += 1;
    };
    const { bus, up, run, set, result } = rig(profile, [unit]);
    up();
    run(500);
    set('late', true, -1);
    expect(result('late')?.outcome).toBe('refused');
    bus.fate = () => ({ ...good, kind: 'lost' });
    set('t1', true, 1000);
    run(20_000);
    expect(result('t1')).toMatchObject({ outcome: 'unknown', readBack: null });
    expect(writes).toBe(1);
  });

  it('writes no cut into a line that missed an answer: it could arrive when the vehicle drives', () => {
    for (let beforeMs = 60; beforeMs <= 1400; beforeMs += 35) {
      const { bus, up, run, set, result } = rig(profile, [relayD()]);
      up();
      run(500 + beforeMs);
      bus.isConnected = false;
      const before = bus.sent.length;
      run(beforeMs);
      set('cut', true, 500);
      run(3000);
      expect(bus.sent.slice(before).filter(({ bytes }) => !isRead(bytes))).toEqual([]);
      expect(result('cut')?.outcome).toBe('refused');
    }
  });

  it('after one lost answer reads before it writes a cut, and writes a restore at once', () => {
    for (const energised of [true, false]) {
      const { bus, up, run, set, result, now } = rig(profile, [relayD()]);
      up();
      run(500);
      const lostUntilMs = now() + 60;
      bus.fate = (atMs) => (atMs < lostUntilMs ? { ...good, kind: 'lost' } : good);
      run(300);
      const before = bus.sent.length;
      set('order', energised, 2000);
      run(4000);
      const [first] = bus.sent.slice(before);
      expect(first && isRead(first.bytes)).toBe(energised);
      expect(result('order')).toMatchObject({ outcome: 'confirmed', readBack: energised });
    }
  });

  it('energises no relay in the step that brings new readings, but one step later unless it is withdrawn', () => {
    for (const takesBack of [false, true]) {
      const unit = relayD();
      const { bus, up, run, set, result, feed, now, state } = rig(profile, [unit]);
      up();
      run(1000);
      // An exchange is under way as the order comes: its answer brings news.
      for (let ms = 0; state().master.phase.kind !== 'waiting' && ms < 100; ms += 1) run(1);
      const before = bus.sent.length;
      set('cut', true, 500);
      expect(bus.sent).toHaveLength(before);
      let nowMs = now();
      const news: number[] = [];
      while (news.length === 0) {
        nowMs = Math.max(nowMs, Math.min(bus.nextMs(), state().wakeAtMs ?? Infinity));
        const input =
          bus.nextMs() <= nowMs
            ? ({ kind: 'bytes', bytes: bus.take(), atMs: nowMs } as const)
            : ({ kind: 'time', atMs: nowMs } as const);
        const stepped = stepBoard(state(), input, permitAny);
        if (stepped.outputs.some(({ kind }) => kind === 'inputs')) {
          news.push(nowMs);
          expect(stepped.outputs.filter(({ kind }) => kind === 'write')).toEqual([]);
          expect(stepped.state.wakeAtMs).toBeLessThanOrEqual(nowMs);
        }
        feed(input);
      }
      if (takesBack)
        feed({
          kind: 'setRelay',
          relay: 'enginecutoff',
          energised: false,
          token: 'back',
          deadlineMs: nowMs + 500,
          atMs: nowMs,
        });
      run(1000);
      expect(result('cut')?.outcome).toBe(takesBack ? 'refused' : 'confirmed');
      expect(unit.coils.get(0)).toBe(!takesBack);
    }
  });

  it('writes the safe state at once and again, before anything was read and while nothing is, and a cut never', () => {
    const { bus, up, run, set, result } = rig(profile, [relayD()]);
    bus.isConnected = false;
    up();
    set('restore', false, 5000);
    run(0);
    expect([...(bus.sent[0]?.bytes ?? [])].slice(0, 6)).toEqual([1, 5, 0, 0, 0, 0]);
    run(7000);
    const writes = bus.sent.filter(({ bytes }) => !isRead(bytes));
    expect(writes.length).toBeGreaterThanOrEqual(4);
    expect(writes.length).toBeLessThanOrEqual(14);
    expect(result('restore')).toMatchObject({ outcome: 'unknown', readBack: null });
    set('cut', true, 5000);
    run(10_000);
    expect(bus.sent.filter(({ bytes }) => !isRead(bytes))).toHaveLength(writes.length);
    expect(result('cut')?.outcome).toBe('refused');
  });

  it('ends every order when the link goes down and refuses new ones', () => {
    const { up, run, down, set, result, of } = rig(profile, [relayD()]);
    set('t0', true);
    up();
    run(500);
    set('t1', true);
    down();
    set('t2', true);
    expect(result('t0')?.outcome).toBe('refused');
    expect(['refused', 'unknown']).toContain(result('t1')?.outcome);
    expect(result('t2')).toMatchObject({ outcome: 'refused', reason: 'the link to the board is down' });
    expect(of('boardDown')).toEqual([{ kind: 'boardDown', unit: null, reason: 'unplugged' }]);
    expect(of('inputs').at(-1)?.values).toMatchObject({ ignition: null, panic: null });
    expect(of('relays').at(-1)?.values).toEqual({ enginecutoff: null, cargoaccess: null });
  });

  it('lets the newest order win: a restore overtakes a cut', () => {
    const unit = relayD();
    const { up, run, set, result } = rig(profile, [unit]);
    up();
    run(500);
    set('cut', true);
    set('restore', false);
    run(1000);
    expect(result('cut')?.outcome).toMatch(/refused|unknown/);
    expect(result('restore')).toMatchObject({ outcome: 'confirmed', readBack: false });
    expect(unit.coils.get(0)).toBe(false);
  });

  it('reports a relay that an input switched inside the board', () => {
    const unit = relayD();
    const { up, run, of } = rig(profile, [unit]);
    up();
    run(1000);
    unit.coils.set(0, true);
    run(5500);
    expect(of('relays').at(-1)?.values.enginecutoff).toBe(true);
  });

  it('writes differing control modes once, and reports those that cannot be set', () => {
    const unit = relayD();
    unit.holding.set(0x1003, 1);
    const written: number[] = [];
    unit.onWrite = (address) => written.push(address);
    const first = rig(profile, [unit]);
    first.up();
    first.run(10_000);
    expect(written).toEqual([0x1003]);
    expect(unit.holding.get(0x1003)).toBe(0);
    expect(first.of('problem')).toEqual([]);
    const stubborn = relayD();
    stubborn.holding.set(0x1001, 2);
    stubborn.onWrite = () => stubborn.holding.set(0x1001, 2);
    const second = rig(profile, [stubborn]);
    second.up();
    second.run(10_000);
    expect(second.of('problem')).toHaveLength(1);
    expect(second.of('problem')[0]?.reason).toMatch(/unit 1, .*4096-4103: reads 0 2 0.*control mode normal/);
  });

  it('names the register and its answer when board and profile disagree, and reports when they agree again', () => {
    const unit = relayD();
    unit.coils.clear();
    const { up, run, of } = rig(profile, [unit]);
    up();
    run(2000);
    expect(of('problem')).toEqual([
      {
        kind: 'problem',
        place: 'polls/relays',
        reason: 'unit 1, read coils 0-7: exception 2 illegal data address',
      },
    ]);
    for (let at = 0; at < 8; at += 1) unit.coils.set(at, false);
    run(6000);
    expect(of('problem').at(-1)).toEqual({ kind: 'problem', place: 'polls/relays', reason: null });
  });

  it('reports a silent unit and its return, and reads its relays again before writing them', () => {
    const unit = relayD();
    const { bus, up, run, of } = rig(profile, [unit]);
    up();
    run(1000);
    bus.isConnected = false;
    run(5000);
    expect(of('boardDown').at(-1)).toMatchObject({
      unit: 1,
      reason: expect.stringMatching(/unit 1, read .*: no answer/),
    });
    expect(of('inputs').at(-1)?.values.ignition).toBeNull();
    bus.isConnected = true;
    const backMs = 6000;
    run(1000);
    expect(of('boardUp')).toHaveLength(2);
    expect(
      of('inputs').find((output) => output.atMs > backMs && output.values.ignition === false)?.atMs,
    ).toBeLessThan(backMs + 1000);
  });

  it('drives three boards on one bus that read relays back from other registers', async () => {
    const relay = modbusUnit(1);
    for (let at = 1; at <= 8; at += 1) relay.holding.set(at, 0);
    relay.onWrite = (address, value) => relay.holding.set(address, value === 0x0100 ? 1 : 0);
    const io = modbusUnit(2);
    for (let at = 0x81; at <= 0x88; at += 1) io.holding.set(at, at === 0x82 ? 1 : 0);
    const analog = modbusUnit(3);
    analog.holding.set(0, 250);
    analog.holding.set(1, 420);
    const { up, run, set, result, of, bus } = rig(await readBoardProfile('eletechsup'), [relay, io, analog]);
    up();
    run(2000);
    set('t1', true);
    run(500);
    expect(result('t1')).toMatchObject({ outcome: 'confirmed', readBack: true });
    expect(of('inputs').at(-1)?.values).toMatchObject({ ignition: false, panic: true });
    const analogs = of('analogs').at(-1)?.values;
    expect(analogs?.fuel).toBeCloseTo(0.5);
    expect(analogs?.supplyVoltage).toBeCloseTo(12.6);
    bus.units.splice(2, 1);
    run(20_000);
    expect(of('boardDown')).toMatchObject([{ unit: 3 }]);
    expect(of('analogs').at(-1)?.values).toEqual({ fuel: null, supplyVoltage: null });
    const lateInputs = of('inputs').filter((output) => output.atMs > 12_000);
    expect(lateInputs.length).toBeGreaterThan(100);
  });

  it('on a hostile bus confirms nothing that is not so, shows no wrong bit, and answers every order', () => {
    const fate: fc.Arbitrary<Fate> = fc.record({
      delayMs: fc.oneof(fc.integer({ min: 5, max: 140 }), fc.integer({ min: 140, max: 840 })),
      kind: fc.constantFrom('whole', 'whole', 'whole', 'lost', 'garbled', 'cut', 'twice', 'split'),
      seed: fc.nat(10_000),
    });
    fc.assert(
      fc.property(fc.array(fate, { minLength: 3, maxLength: 30 }), fc.array(fc.boolean()), (plan, orders) => {
        const unit = relayD();
        unit.inputs.set(3, true);
        const board = rig(profile, [unit]);
        let used = 0;
        board.bus.fate = () => {
          used += 1;
          return plan[used % plan.length] ?? good;
        };
        board.up();
        for (const [at, energised] of orders.entries()) {
          board.set(`t${at}`, energised, 3000);
          const heard = board.of('relayResult').length;
          for (let ms = 0; ms < 12_000 && board.of('relayResult').length === heard; ms += 50) board.run(50);
          const result = board.result(`t${at}`);
          expect(result).toBeDefined();
          if (result?.outcome === 'confirmed') expect(unit.coils.get(0)).toBe(energised);
        }
        for (const output of board.of('inputs')) {
          expect([true, null]).toContain(output.values.cargoDoor);
          expect([false, null]).toContain(output.values.ignition);
        }
      }),
      { numRuns: 60 },
    );
  });
});
