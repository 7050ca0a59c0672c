// The life of a serial port: opened for ever with a growing, jittered pause, given up when silent, never opened twice.
import { describe, expect, it } from 'vitest';
import { createPort, type PortInput, type PortState, portWakeMs, stepPort } from '../../agent/core/port.ts';

const options = { silenceMs: 3000, baseMs: 500, capMs: 15_000 };
const step = (state: PortState, input: PortInput, ms: number) =>
  stepPort(state, input, { ms, fraction: 0.5, options });

const opened = (ms: number): PortState =>
  step(step(createPort(ms), { kind: 'time' }, ms).state, { kind: 'opened' }, ms).state;

describe('a port', () => {
  it('is opened at once, and only once', () => {
    const first = step(createPort(0), { kind: 'time' }, 0);
    expect(first.effects).toEqual([{ kind: 'open' }]);
    expect(step(first.state, { kind: 'time' }, 1).effects).toEqual([]);
  });

  it('that does not open is tried for ever, ever more seldom, up to the cap', () => {
    let state = createPort(0);
    let ms = 0;
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 50; attempt += 1) {
      const opening = step(state, { kind: 'time' }, ms);
      expect(opening.effects).toEqual([{ kind: 'open' }]);
      state = step(opening.state, { kind: 'failed', reason: 'not there' }, ms).state;
      const wakeMs = portWakeMs(state, options);
      pauses.push(wakeMs - ms);
      ms = wakeMs;
    }
    expect(Math.max(...pauses)).toBeLessThanOrEqual(options.capMs);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(options.baseMs / 4);
    expect(pauses.at(-1)).toBeGreaterThan(pauses[0] ?? 0);
  });

  it('whose opening hangs is closed and tried again', () => {
    const opening = step(createPort(0), { kind: 'time' }, 0).state;
    expect(step(opening, { kind: 'time' }, 9999).effects).toEqual([]);
    const { state, effects } = step(opening, { kind: 'time' }, 10_000);
    expect(effects).toEqual([{ kind: 'close' }, { kind: 'lost', reason: 'opening hangs' }]);
    expect(state.kind).toBe('waiting');
  });

  it('that falls silent is closed; a byte keeps it open', () => {
    const heard = step(opened(0), { kind: 'bytes' }, 2000).state;
    expect(step(heard, { kind: 'time' }, 5000).effects).toEqual([]);
    expect(portWakeMs(heard, options)).toBe(5001);
    expect(step(heard, { kind: 'time' }, 5001).effects).toEqual([
      { kind: 'close' },
      { kind: 'lost', reason: 'silent for 3 s' },
    ]);
  });

  it('that was open for ten seconds starts its pauses anew', () => {
    const tired: PortState = { kind: 'open', attempt: 9, openedMs: 0, lastByteMs: 0 };
    const short = step(tired, { kind: 'down', reason: 'gone' }, 5000).state;
    const long = step(tired, { kind: 'down', reason: 'gone' }, 10_001).state;
    expect(portWakeMs(short, options) - 5000).toBeGreaterThan(portWakeMs(long, options) - 10_001);
  });
});
