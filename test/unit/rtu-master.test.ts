import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModbusRequest } from '../../agent/core/board/modbus-frame.ts';
import { createRtuMaster, stepRtuMaster } from '../../agent/core/board/rtu-master.ts';
import type {
  RtuInput,
  RtuJob,
  RtuMasterOptions,
  RtuMasterState,
  RtuResult,
} from '../../agent/core/board/rtu-types.ts';
import { permitAny } from '../support/guard/permit-any.ts';
import { frame, type ModbusUnit, modbusUnit } from '../support/serial/modbus-unit.ts';
import { type Fate, good, runUntil, type VirtualBus, virtualBus } from '../support/virtual/virtual-bus.ts';

/** A master on a virtual bus; `results` in order of completion. */
function rig(units: ModbusUnit[], options: Partial<RtuMasterOptions> = {}) {
  const bus = virtualBus(units);
  const results = new Map<number, RtuResult>();
  const order: number[] = [];
  let state: RtuMasterState = createRtuMaster(options);
  let nowMs = 0;
  let onDone: (id: number, result: RtuResult, atMs: number) => void = () => {};
  const feed = (input: RtuInput): void => {
    const stepped = stepRtuMaster(state, input, { permit: permitAny });
    state = stepped.state;
    for (const output of stepped.outputs) {
      if (output.kind === 'write') bus.send(output.bytes, input.atMs);
      else {
        expect(results.has(output.id)).toBe(false);
        results.set(output.id, output.result);
        order.push(output.id);
        onDone(output.id, output.result, input.atMs);
      }
    }
  };
  const machine = {
    wakeAtMs: () => state.wakeAtMs,
    bytes: (bytes: Uint8Array, atMs: number) => {
      nowMs = atMs;
      feed({ kind: 'bytes', bytes, atMs });
    },
    time: (atMs: number) => {
      nowMs = atMs;
      feed({ kind: 'time', atMs });
    },
  };
  const run = (untilMs: number) => {
    runUntil(bus, machine, { fromMs: nowMs, untilMs });
    nowMs = untilMs;
  };
  feed({ kind: 'up', atMs: 0 });
  run(200);
  return {
    bus,
    results,
    order,
    run,
    feed,
    state: () => state,
    now: () => nowMs,
    submit: (job: RtuJob) => feed({ kind: 'submit', job, atMs: nowMs }),
    onDone: (listener: typeof onDone) => {
      onDone = listener;
    },
  };
}

const readRegister = (address: number, unit = 1): ModbusRequest => ({
  kind: 'readRegisters',
  unit,
  function: 3,
  first: address,
  count: 1,
});
const poll = (id: number, address = id, unit = 1): RtuJob => ({
  id,
  priority: 'poll',
  request: readRegister(address, unit),
});
const cut = (id: number, on = true): RtuJob => ({
  id,
  priority: 'relay',
  request: { kind: 'writeCoil', unit: 1, address: 0, on },
});

/** Register n holds 1000 + n. */
function board(address = 1): ModbusUnit {
  const unit = modbusUnit(address);
  for (let register = 0; register < 64; register += 1) unit.holding.set(register, 1000 + register);
  for (let coil = 0; coil < 8; coil += 1) unit.coils.set(coil, false);
  return unit;
}

const fates = (list: readonly Fate[]): VirtualBus['fate'] => {
  let at = 0;
  return () => {
    const fate = list[at] ?? good;
    at += 1;
    return fate;
  };
};

describe('the RTU master', () => {
  it('gives every register its own value after a late reply (first answer 350 ms, others 60 ms, time-out 300 ms)', () => {
    const { bus, submit, run, results } = rig([board()], { timeoutMinMs: 300, timeoutInitialMs: 300 });
    const slow = { ...good, delayMs: 60 };
    bus.fate = fates([{ ...good, delayMs: 350 }, slow, slow, slow, slow, slow]);
    for (const id of [0, 1, 2, 3, 4]) submit(poll(id));
    run(5000);
    expect(results.get(0)).toEqual({ kind: 'timeout' });
    for (const id of [1, 2, 3, 4]) expect(results.get(id)).toEqual({ kind: 'ok', values: [1000 + id] });
  });

  it('learns from late answers how slow a board is, and then waits for it', () => {
    const { bus, submit, run, results, state } = rig([board()]);
    bus.fate = () => ({ ...good, delayMs: 500 });
    for (const id of [0, 1, 2]) submit(poll(id));
    run(6000);
    expect(results.get(0)).toEqual({ kind: 'timeout' });
    expect(results.get(1)).toEqual({ kind: 'ok', values: [1001] });
    expect(results.get(2)).toEqual({ kind: 'ok', values: [1002] });
    expect(state().counters).toMatchObject({ timeouts: 1, lateAnswers: 1, answers: 2 });
  });

  it('sends one request at a time, a gap apart, relays before polls before configuration', () => {
    const { bus, submit, run, order } = rig([board()]);
    submit(poll(1));
    submit({ ...poll(2), priority: 'config' });
    submit(poll(3));
    submit(cut(4));
    submit(poll(5));
    run(1000);
    expect(order).toEqual([1, 4, 3, 5, 2]);
    const gapMs = 3.5 * (10_000 / 9600) + 1;
    bus.sent.slice(1).forEach((sent, at) => {
      expect(sent.atMs - (bus.sent[at]?.atMs ?? 0)).toBeGreaterThan(20 + gapMs - 0.001);
    });
  });

  it('never sends a write twice, and reports an unanswered one as unknown', () => {
    const unit = board();
    let writes = 0;
    unit.onWrite = () => {
      writes += 1;
    };
    const { bus, submit, run, results } = rig([unit]);
    for (const [id, kind] of (['lost', 'garbled', 'cut', 'twice'] as const).entries()) {
      bus.fate = () => ({ delayMs: 20, kind, seed: 5 });
      submit(cut(id));
      run((id + 1) * 3000);
      expect(results.get(id)?.kind).toBe('unknown');
      expect(writes).toBe(id + 1);
    }
    bus.isConnected = false;
    submit(cut(9));
    run(12_100);
    expect(results.get(9)).toBeUndefined();
  });

  it('keeps nothing for later when the link is down', () => {
    const { bus, submit, run, results, feed, now } = rig([board()]);
    bus.isConnected = false;
    submit(cut(1));
    submit(poll(2));
    feed({ kind: 'down', atMs: now() });
    submit(cut(3));
    expect(results.get(1)).toEqual({ kind: 'unknown', reason: 'linkDown' });
    expect(results.get(2)).toEqual({ kind: 'linkDown' });
    expect(results.get(3)).toEqual({ kind: 'linkDown' });
    const before = bus.sent.length;
    feed({ kind: 'up', atMs: now() });
    run(now() + 5000);
    expect(bus.sent.length).toBe(before);
  });

  it('drops a job whose deadline has passed and one that was cancelled, without sending either', () => {
    const { bus, submit, run, results, feed, now } = rig([board()]);
    bus.fate = () => ({ ...good, kind: 'lost' });
    submit(poll(1));
    submit({ ...cut(2), deadlineMs: now() + 100 });
    submit(cut(3));
    feed({ kind: 'cancel', id: 3, atMs: now() });
    run(now() + 4000);
    expect(results.get(2)).toEqual({ kind: 'expired' });
    expect(results.has(3)).toBe(false);
    expect(bus.sent.length).toBe(1);
  });

  it('refuses what does not fit into its queue, polls before relays', () => {
    const { submit, results } = rig([board()], { queueLimit: 2 });
    for (const id of [1, 2, 3, 4]) submit(poll(id));
    expect(results.get(4)).toEqual({ kind: 'queueFull' });
    submit(cut(5));
    expect(results.get(3)).toEqual({ kind: 'queueFull' });
    expect(results.has(5)).toBe(false);
    submit({ id: 6, priority: 'relay', request: readRegister(0, 0) });
    expect(results.get(6)).toEqual({ kind: 'refused', reason: 'unit 0 is not 1 to 247' });
  });

  it('counts unsolicited bytes and stays silent after them, but not for ever', () => {
    const { bus, submit, feed, run, now, state } = rig([board()]);
    const noise = Uint8Array.of(1, 3, 2);
    const startMs = now();
    feed({ kind: 'bytes', bytes: noise, atMs: startMs });
    submit(poll(1));
    for (let ms = 0; ms < 5000; ms += 100) {
      run(startMs + ms);
      feed({ kind: 'bytes', bytes: noise, atMs: startMs + ms });
    }
    expect(state().counters.noiseBytes).toBeGreaterThanOrEqual(90);
    expect((bus.sent[0]?.atMs ?? 0) - startMs).toBeGreaterThanOrEqual(3000);
    expect((bus.sent[0]?.atMs ?? 0) - startMs).toBeLessThan(3400);
  });

  it('does not count a glitch after an answer as a frame', () => {
    const { bus, submit, feed, run, now, results } = rig([board()]);
    submit(poll(1));
    const sentMs = bus.sent[0]?.atMs ?? 0;
    run(sentMs + 21);
    feed({ kind: 'bytes', bytes: Uint8Array.of(0), atMs: now() });
    run(sentMs + 40);
    expect(results.get(1)).toEqual({ kind: 'ok', values: [1001] });
  });

  for (const echo of ['auto', 'on'] as const) {
    it(`works on an adapter that echoes (${echo}), and the echo of a write confirms nothing`, () => {
      const { bus, submit, run, results } = rig([board()], { echo });
      bus.hasEcho = true;
      submit(poll(1));
      submit({
        id: 2,
        priority: 'poll',
        request: { kind: 'readBits', unit: 1, function: 1, first: 0, count: 8 },
      });
      run(1000);
      expect(results.get(1)).toEqual({ kind: 'ok', values: [1001] });
      expect(results.get(2)?.kind).toBe('ok');
      submit(cut(3));
      run(2000);
      expect(results.get(3)).toEqual({ kind: 'ok', values: [] });
      bus.isConnected = false;
      submit(cut(4));
      run(4000);
      expect(results.get(4)?.kind).toBe('unknown');
    });
  }

  it('never accepts an answer of another unit or function, even with a correct checksum', () => {
    const { bus, submit, run, now, results, state, feed } = rig([]);
    const replies: Uint8Array[] = [
      // Unit 2 answers what unit 1 was asked; unit 1 answers a read of input registers; a broadcast answers.
      frame([2, 3, 2, 0x12, 0x34]),
      frame([1, 4, 2, 0x12, 0x34]),
      frame([0, 3, 2, 0x12, 0x34]),
    ];
    for (const [at, reply] of replies.entries()) {
      submit(poll(at + 1));
      expect(bus.sent).toHaveLength(at + 1);
      feed({ kind: 'bytes', bytes: reply, atMs: now() });
      run(now() + 3000);
      expect(results.get(at + 1)).toMatchObject({ kind: 'invalid' });
    }
    expect(state().counters).toMatchObject({ wrongUnit: 2, wrongFunction: 1, answers: 0 });
  });

  it('polls a dead unit ever more seldom while another lives, and never keeps a relay job from it', () => {
    const live = board(2);
    const { bus, submit, run, now, results, onDone } = rig([live]);
    let id = 100;
    onDone((done) => {
      if (done >= 100 && done % 2 === 0) submit(poll((id += 2), 3, 2));
      if (done >= 100 && done % 2 === 1) submit(poll(id * 2 + 1_000_001, 3, 1));
    });
    submit(poll(100, 3, 2));
    submit(poll(101, 3, 1));
    run(60_000);
    const toDead = bus.sent.filter((sent) => sent.bytes[0] === 1);
    expect(toDead.length).toBeLessThan(20);
    expect(bus.sent.length).toBeGreaterThan(1000);
    const beforeMs = now();
    submit(cut(1));
    run(beforeMs + 1500);
    expect(results.get(1)).toEqual({ kind: 'unknown', reason: 'timeout' });
  });

  it('on a hostile bus gives no wrong value, confirms no lost write, and works again within 1 s', () => {
    const fate: fc.Arbitrary<Fate> = fc.record({
      delayMs: fc.oneof(fc.integer({ min: 5, max: 140 }), fc.integer({ min: 140, max: 840 })),
      kind: fc.constantFrom('whole', 'whole', 'lost', 'garbled', 'cut', 'twice', 'split'),
      seed: fc.nat(10_000),
    });
    fc.assert(
      fc.property(fc.array(fate, { minLength: 5, maxLength: 40 }), fc.nat(7), (plan, stride) => {
        const unit = board();
        const done: number[] = [];
        unit.onWrite = (_, value) => done.push(value);
        const { bus, submit, run, now, results, state, onDone } = rig([unit]);
        const asked = new Map<number, number>();
        let next = fates(plan);
        let used = 0;
        let faultsEndMs = Infinity;
        let firstOkMs = Infinity;
        bus.fate = (atMs) => {
          used += 1;
          if (used === plan.length) faultsEndMs = atMs + (plan.at(-1)?.delayMs ?? 0);
          return next(atMs);
        };
        let id = 0;
        const askNext = () => {
          id += 1;
          const address = (id * (stride + 1)) % 64;
          asked.set(id, address);
          if (id % 5 === 0)
            submit({
              id,
              priority: 'relay',
              request: { kind: 'writeRegister', unit: 1, address, value: 1000 + address },
            });
          else submit(poll(id, address));
        };
        onDone((of, result, atMs) => {
          const address = asked.get(of) ?? -1;
          if (result.kind === 'ok' && of % 5 !== 0) expect(result.values).toEqual([1000 + address]);
          if (result.kind === 'ok' && of % 5 === 0) expect(done.at(-1)).toBe(1000 + address);
          if (result.kind === 'ok' && atMs > faultsEndMs) firstOkMs = Math.min(firstOkMs, atMs);
          askNext();
        });
        askNext();
        while (used < plan.length) run(now() + 100);
        run(now() + 3000);
        expect(firstOkMs - faultsEndMs).toBeLessThan(1000);
        expect(state().queue.length).toBeLessThanOrEqual(1);
        expect(results.size).toBe(id - 1);
        next = () => good;
      }),
      { numRuns: 150 },
    );
  });
});
