// The tools under the simulation: the virtual clock, the seeded randomness, and the cable with its faults.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVirtualClock, createWrongClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createPipe, type Pipe } from '../../simulator/hardware/pipe.ts';
import type { SerialSettings } from '../../src/ports.ts';

describe('virtual clock', () => {
  it('runs timers by due time, then in the order they were set, also those set on the way', () => {
    const clock = createVirtualClock(1000);
    const ran: string[] = [];
    clock.after(20, () => ran.push(`b@${clock.monoMs()}`));
    clock.after(10, () => {
      ran.push(`a@${clock.monoMs()}`);
      clock.after(10, () => ran.push(`c@${clock.monoMs()}`));
      clock.after(0, () => ran.push(`d@${clock.monoMs()}`));
    });
    expect(clock.nextDueMs()).toBe(10);
    clock.advance(19);
    expect(ran).toEqual(['a@10', 'd@10']);
    clock.advance(1);
    expect(ran).toEqual(['a@10', 'd@10', 'b@20', 'c@20']);
    expect([clock.monoMs(), clock.utcMs(), clock.nextDueMs()]).toEqual([20, 1020, null]);
  });

  it('agrees with a sorted list whatever is set and cancelled', () => {
    const timers = fc.array(fc.record({ delayMs: fc.nat(100), isCancelled: fc.boolean() }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(timers, (all) => {
        const clock = createVirtualClock();
        const ran: number[] = [];
        const cancels = all.map((timer, at) => clock.after(timer.delayMs, () => ran.push(at)));
        all.forEach((timer, at) => {
          if (timer.isCancelled) cancels[at]?.();
        });
        clock.advance(100);
        const expected = all
          .map((timer, at) => ({ ...timer, at }))
          .filter((timer) => !timer.isCancelled)
          .sort((a, b) => a.delayMs - b.delayMs || a.at - b.at)
          .map((timer) => timer.at);
        expect(ran).toEqual(expected);
        expect(clock.nextDueMs()).toBeNull();
      }),
    );
  });

  it('a wrong clock is wrong by its offset and its drift, and monotonic all the same', () => {
    const clock = createVirtualClock(1_000_000);
    const wrong = createWrongClock(clock, { offsetMs: -500_000, driftPpm: 100 });
    expect([wrong.monoMs(), wrong.utcMs()]).toEqual([0, 500_000]);
    let ranAtMs = -1;
    wrong.after(10_001, () => {
      ranAtMs = clock.monoMs();
    });
    clock.advance(10_000_000);
    expect(wrong.utcMs() - 500_000).toBeCloseTo(10_001_000, 3);
    expect(ranAtMs).toBeCloseTo(10_000, 6);
    wrong.step(-3600_000);
    expect(wrong.monoMs()).toBeCloseTo(10_001_000, 3);
  });
});

describe('seeded randomness', () => {
  it('same seed, same values; streams do not disturb each other', () => {
    const draw = (seed: string): number[] => {
      const entropy = createSeededEntropy(seed);
      return Array.from({ length: 5 }, () => entropy.fraction());
    };
    expect(draw('x')).toEqual(draw('x'));
    expect(draw('x')).not.toEqual(draw('y'));
    const [a, b] = [createSeededEntropy('x'), createSeededEntropy('x')];
    a.fraction();
    expect(a.stream('gnss').bytes(8)).toEqual(b.stream('gnss').bytes(8));
  });

  it('is spread evenly enough', () => {
    const entropy = createSeededEntropy(1);
    const buckets = Array.from({ length: 10 }, () => 0);
    let sum = 0;
    for (let at = 0; at < 20_000; at += 1) {
      const bucket = entropy.integer(0, 9);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      sum += entropy.normal();
    }
    expect(Math.min(...buckets)).toBeGreaterThan(1800);
    expect(Math.max(...buckets)).toBeLessThan(2200);
    expect(Math.abs(sum / 20_000)).toBeLessThan(0.03);
  });
});

const line = { baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 } as const;
const settings: SerialSettings = { path: 'board', ...line };

async function cable(seed = 'pipe', open: SerialSettings = settings) {
  const clock = createVirtualClock();
  const atHardware: string[] = [];
  const atAgent: string[] = [];
  const downs: string[] = [];
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
  const pipe: Pipe = createPipe({
    clock,
    entropy: createSeededEntropy(seed),
    line,
    onBytes: (bytes) => atHardware.push(text(bytes)),
  });
  const handlers = {
    onBytes: (bytes: Uint8Array) => atAgent.push(text(bytes)),
    onDown: (why: string) => downs.push(why),
  };
  const link = await pipe.open(open, handlers);
  return { clock, pipe, link, handlers, atHardware, atAgent, downs };
}

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('cable', () => {
  it('carries both ways, in order, as slowly as the baud rate', async () => {
    const { clock, pipe, link, atHardware, atAgent } = await cable();
    expect(link.write(bytes('0123456789'))).toBe(true);
    link.write(bytes('x'));
    pipe.send(bytes('ab'));
    clock.advance(2.1);
    expect([atHardware, atAgent]).toEqual([[], ['ab']]);
    clock.advance(8.4);
    expect(atHardware).toEqual(['0123456789']);
    clock.advance(1.1);
    expect(atHardware).toEqual(['0123456789', 'x']);
  });

  it('delivers nothing to a closed link and takes no write from it', async () => {
    const { clock, pipe, link, atAgent } = await cable();
    pipe.send(bytes('late'));
    await link.close();
    expect(link.write(bytes('x'))).toBe(false);
    expect(pipe.send(bytes('y'))).toBe(false);
    clock.advance(1000);
    expect(atAgent).toEqual([]);
    expect(pipe.counts().dropped).toBe(1);
  });

  it('goes down once when pulled, cannot be opened meanwhile, and a new link receives nothing of before', async () => {
    const { clock, pipe, handlers, downs, atAgent } = await cable();
    pipe.send(bytes('old'));
    pipe.unplug();
    pipe.unplug();
    expect(downs).toHaveLength(1);
    await expect(pipe.open(settings, handlers)).rejects.toMatchObject({ code: 'serial' });
    pipe.plug();
    await pipe.open(settings, handlers);
    await expect(pipe.open(settings, handlers)).rejects.toMatchObject({ code: 'serial' });
    pipe.send(bytes('new'));
    clock.advance(1000);
    expect(atAgent).toEqual(['new']);
  });

  it('loses, garbles and cuts as often as set, the same for the same seed', async () => {
    const run = async (seed: string): Promise<string[]> => {
      const { clock, pipe, atAgent } = await cable(seed);
      pipe.setFaults({ loss: 0.3, garble: 0.3, cut: 0.3 });
      for (let at = 0; at < 500; at += 1) {
        pipe.send(bytes('frame'));
        clock.advance(10);
      }
      return atAgent;
    };
    const seen = await run('s');
    expect(seen).toEqual(await run('s'));
    expect(seen).not.toEqual(await run('t'));
    expect(seen.length).toBeGreaterThan(250);
    expect(seen.length).toBeLessThan(400);
    const whole = seen.filter((piece) => piece === 'frame').length;
    expect(whole).toBeGreaterThan(120);
    expect(whole).toBeLessThan(230);
    const sameLength = seen.filter((piece) => piece.length === 5 && piece !== 'frame');
    const changed = sameLength.map(
      (piece) => Array.from(piece).filter((letter, at) => letter !== 'frame'[at]).length,
    );
    expect(Math.min(...changed)).toBeGreaterThanOrEqual(2);
  });

  it('garbles everything for a reader at another speed', async () => {
    const { clock, pipe, atAgent } = await cable('speed', { ...settings, baudRate: 19_200 });
    for (let at = 0; at < 50; at += 1) pipe.send(bytes('frame'));
    clock.advance(1000);
    expect(atAgent).toHaveLength(50);
    expect(atAgent).not.toContain('frame');
  });

  it('holds no more than a UART and its driver do', async () => {
    const { pipe } = await cable();
    for (let at = 0; at < 100; at += 1) pipe.send(new Uint8Array(1024));
    expect(pipe.counts().dropped).toBe(84 * 1024);
  });
});
