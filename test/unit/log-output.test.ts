// A log whose descriptor takes nothing, or takes it late: every line is in the log, or is counted by a line of the log.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogOutput } from '../../src/adapters/output.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const fault = (code: string) => Object.assign(new Error(`${code}: as of the kernel, write`), { code });

/** A descriptor that takes some bytes, and then fails. */
function createDescriptor(waitingMost?: number) {
  const state = { free: Number.POSITIVE_INFINITY, code: 'ENOSPC', log: '' };
  const output = createLogOutput((bytes) => {
    if (state.free === 0) throw fault(state.code);
    const count = Math.min(bytes.length, state.free, 64 * 1024);
    state.free -= count;
    state.log += Buffer.from(bytes.subarray(0, count)).toString('latin1');
    return count;
  }, waitingMost);
  return { state, output };
}

interface Line {
  readonly msg: string;
  readonly lines?: number;
  readonly since?: string;
  readonly reason?: string;
}

/** The whole lines of a log; others were cut by a full disk. */
const wholeLines = (log: string): readonly Line[] =>
  log.split('\n').flatMap((text) => {
    try {
      return [JSON.parse(text) as Line];
    } catch {
      return [];
    }
  });

const lineOf = (at: number): string => `{"msg":"line","at":${at},"filling":"${'x'.repeat(at % 90)}"}\n`;

describe('a log that cannot be written', () => {
  it.each(['ENOSPC', 'EPIPE', 'EIO', 'EDQUOT', 'EFBIG', 'EBADF'])(
    'for %s says how many lines are missing, since when and why, once it works again',
    (code) => {
      const { state, output } = createDescriptor();
      output.write(lineOf(1));
      const since = new Date().toISOString();
      // A part of a line is written, as on a disk that becomes full.
      Object.assign(state, { code, free: 8 });
      output.write(lineOf(2) + lineOf(3));
      vi.advanceTimersByTime(10_000);
      output.write(lineOf(4));
      state.free = Number.POSITIVE_INFINITY;
      vi.advanceTimersByTime(1000);
      output.write(lineOf(5));
      const [first, cut, notice, last, ...rest] = state.log.trimEnd().split('\n');
      expect([first, cut, last, rest]).toEqual([
        lineOf(1).trim(),
        lineOf(2).slice(0, 8),
        lineOf(5).trim(),
        [],
      ]);
      expect(JSON.parse(notice ?? '')).toEqual({
        level: 40,
        time: expect.any(String),
        lines: 3,
        since,
        reason: `${code}: as of the kernel, write`,
        msg: 'log_lines_dropped',
      });
    },
  );

  it('keeps lines for a reader that is slow, and drops those beyond a mebibyte of one that stands still', () => {
    const { state, output } = createDescriptor();
    Object.assign(state, { code: 'EAGAIN', free: 8 });
    const written = 30_000;
    for (let at = 0; at < written; at += 1) output.write(lineOf(at));
    state.free = Number.POSITIVE_INFINITY;
    vi.advanceTimersByTime(1000);
    output.write(lineOf(1));
    const lines = wholeLines(state.log);
    const notice = lines.at(-2);
    expect(state.log.length).toBeGreaterThan(1024 * 1024);
    expect(lines.length - 2).toBeGreaterThan(10_000);
    expect(notice).toMatchObject({ msg: 'log_lines_dropped', lines: written - (lines.length - 2) });
    expect(state.log.split('\n').slice(0, -1)).toHaveLength(lines.length);
  });

  it('accounts for every line, whatever happens to the descriptor in between', () => {
    const action = fc.oneof(
      fc.record({ lines: fc.integer({ min: 1, max: 5 }) }),
      fc.record({
        free: fc.integer({ min: 0, max: 300 }),
        code: fc.constantFrom('ENOSPC', 'EAGAIN', 'EPIPE'),
      }),
      fc.record({ waitMs: fc.integer({ min: 1, max: 500 }) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { state, output } = createDescriptor(500);
        let written = 0;
        for (const one of actions) {
          if ('free' in one) Object.assign(state, one);
          if ('waitMs' in one) vi.advanceTimersByTime(one.waitMs);
          if (!('lines' in one)) continue;
          output.write(Array.from({ length: one.lines }, (_, n) => lineOf(written + n)).join(''));
          written += one.lines;
        }
        state.free = Number.POSITIVE_INFINITY;
        output.finish();
        const lines = wholeLines(state.log);
        const dropped = lines.reduce((sum, line) => sum + (line.lines ?? 0), 0);
        expect(lines.filter(({ msg }) => msg === 'line').length + dropped).toBe(written);
      }),
    );
  });
});
