// How short a panic press the board machine still sees, at every moment that it can come: the machine with its own master on
// the simulated board, over a cable with the speed of the line. Long presses must never be missed; of shorter ones the
// share that is seen is printed.
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { describePanicGap } from '../../agent/cli/panic-gap.ts';
import { createBoard as createMachine, stepBoard } from '../../agent/core/board/board.ts';
import { type BoardProfile, worstSampleGapMs } from '../../agent/core/board/board-profile.ts';
import type { BoardInput } from '../../agent/core/board/board-types.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createBoard } from '../../simulator/hardware/board.ts';
import { fittedOverrides } from '../../simulator/hardware/board-maps.ts';
import { createPipe } from '../../simulator/hardware/pipe.ts';
import type { ByteLink } from '../../src/ports.ts';
import { permitAny } from '../support/guard/permit-any.ts';

const names = ['adam-4150', 'eletechsup', 'waveshare-io-analog', 'waveshare-relay-d'] as const;
const lengthsMs = [20, 30, 40, 50, 60, 80];
const presses = 200;

async function profileAt(name: string, baudRate: number): Promise<BoardProfile> {
  const verdict = applyOverrides(await readBoardProfile(name), { serial: { baudRate } });
  if (verdict.kind !== 'ok') throw new Error(`profile ${name}`);
  return verdict.profile;
}

/** From one order of the loop-back output to the next, ms: far more often than the agent gives them. */
const toggleMs = 400;

/** Share of presses seen, and the longest time from a press to its sample in the agent's hands. */
async function press(profile: BoardProfile, name: (typeof names)[number], lengthMs: number) {
  const clock = createVirtualClock(0);
  const entropy = createSeededEntropy(`${name} ${profile.serial.baudRate} ${lengthMs}`);
  const { parity: _, ...framing } = profile.serial;
  const line = { ...framing, parity: profile.serial.parity };
  let state = createMachine(profile);
  let link: ByteLink | null = null;
  const seen = { isPressed: false, sinceMs: 0, caught: 0, worstMs: 0, isCaught: false };
  const feed = (input: BoardInput): void => {
    const step = stepBoard(state, input, permitAny);
    state = step.state;
    for (const output of step.outputs) {
      if (output.kind === 'write') link?.write(output.bytes);
      if (output.kind === 'relayResult' && output.outcome === 'confirmed') orders.confirmed += 1;
      if (output.kind !== 'inputs' || output.values.panic !== true || seen.isCaught) continue;
      seen.isCaught = true;
      seen.worstMs = Math.max(seen.worstMs, clock.monoMs() - seen.sinceMs);
    }
  };
  const board = createBoard({
    name,
    clock,
    entropy: entropy.stream('board'),
    baudRate: profile.serial.baudRate,
    send: (bytes) => cable.send(bytes),
  });
  const cable = createPipe({
    clock,
    entropy: entropy.stream('cable'),
    line,
    onBytes: (bytes) => board.receive(bytes),
  });
  link = await cable.open(
    { path: 'board', ...line },
    {
      onBytes: (bytes) => feed({ kind: 'bytes', bytes, atMs: clock.monoMs() }),
      onDown: () => undefined,
    },
  );
  feed({ kind: 'up', atMs: clock.monoMs() });
  const orders = { count: 0, confirmed: 0 };
  const toggle = (): void => {
    orders.count += 1;
    const order = { relay: 'loopback', energised: orders.count % 2 === 1, token: 'toggle' } as const;
    feed({ kind: 'setRelay', ...order, deadlineMs: clock.monoMs() + 1000, atMs: clock.monoMs() });
    clock.after(toggleMs, toggle);
  };
  if (profile.loopback !== undefined) clock.after(toggleMs, toggle);
  const runTo = (untilMs: number): void => {
    while (clock.monoMs() < untilMs) {
      const wakeMs = state.wakeAtMs ?? Number.POSITIVE_INFINITY;
      const dueMs = Math.min(clock.nextDueMs() ?? untilMs, wakeMs, untilMs);
      clock.advance(Math.max(0, dueMs - clock.monoMs()));
      if (state.wakeAtMs !== null && state.wakeAtMs <= clock.monoMs())
        feed({ kind: 'time', atMs: clock.monoMs() });
    }
  };
  const luck = entropy.stream('presses');
  runTo(3000);
  for (let at = 0; at < presses; at += 1) {
    runTo(clock.monoMs() + 150 + luck.fraction() * 400);
    Object.assign(seen, { sinceMs: clock.monoMs(), isCaught: false });
    board.setSignal('panic', true);
    runTo(clock.monoMs() + lengthMs);
    board.setSignal('panic', false);
    runTo(clock.monoMs() + 100);
    if (seen.isCaught) seen.caught += 1;
  }
  return { share: seen.caught / presses, worstMs: seen.worstMs, orders };
}

describe('a press of the panic button', () => {
  for (const baudRate of [9600, 38_400]) {
    it(`at ${baudRate} baud is always seen when it is as long as the profile says`, async () => {
      for (const name of names) {
        const profile = await profileAt(name, baudRate);
        const sureMs = Math.ceil(worstSampleGapMs(profile, 'panic'));
        const shares: string[] = [];
        for (const lengthMs of lengthsMs) {
          const { share, worstMs } = await press(profile, name, lengthMs);
          shares.push(`${lengthMs} ms: ${(share * 100).toFixed(1)} %`);
          if (lengthMs >= sureMs) expect(share, `${name} ${lengthMs} ms`).toBe(1);
          expect(worstMs, `${name}: from press to sample`).toBeLessThan(100);
        }
        console.log(`${name} at ${baudRate} baud, sure from ${sureMs} ms: ${shares.join(', ')}`);
        if (baudRate === 38_400) expect(sureMs).toBeLessThanOrEqual(50);
      }
    });
  }

  it('is not missed because the loop-back is toggled, however often', async () => {
    for (const name of ['waveshare-relay-d', 'eletechsup'] as const) {
      const { loopback, polls } = fittedOverrides(name, 'positive');
      const verdict = applyOverrides(await profileAt(name, 9600), {
        ...(loopback === undefined ? {} : { loopback }),
        ...(polls === undefined ? {} : { polls }),
      });
      if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
      const sureMs = Math.ceil(worstSampleGapMs(verdict.profile, 'panic'));
      const { share, orders } = await press(verdict.profile, name, sureMs);
      expect(share, name).toBe(1);
      expect(orders.confirmed, name).toBeGreaterThan(orders.count * 0.9);
    }
  });

  it('that could be missed is warned of, with what to do; where none could, nothing is', async () => {
    for (const name of names) {
      const slow = describePanicGap(await profileAt(name, 9600));
      expect(slow.gapMs).toBeGreaterThan(50);
      expect(slow.warnings).toEqual([expect.stringMatching(/50 ms could be missed at 9600 baud.*baudRate/)]);
      const fast = describePanicGap(await profileAt(name, 38_400));
      expect(fast.gapMs).toBeLessThanOrEqual(50);
      expect(fast).toMatchObject({ warnings: [], lines: [expect.stringContaining('is always seen')] });
    }
    const verdict = applyOverrides(await readBoardProfile('waveshare-relay-d'), { inputs: { panic: false } });
    if (verdict.kind !== 'ok') throw new Error('profile');
    expect(describePanicGap(verdict.profile)).toEqual({ gapMs: null, lines: [], warnings: [] });
  });
});
