// The life of a serial port: opened for ever with a growing, jittered pause, given up when silent, never opened twice.
import { describe, expect, it } from 'vitest';
import { vehicleLimits } from '../../agent/core/kernel/vehicle-state.ts';
import {
  createPort,
  isFirstLoss,
  isFirstOpening,
  type PortInput,
  type PortState,
  portWakeMs,
  stepPort,
} from '../../agent/core/serial-port-state.ts';

const options = { silenceMs: 3000, uselessMs: 30_000, baseMs: 500, capMs: 15_000 };
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
    const heard = step(opened(0), { kind: 'bytes', isGood: false }, 2000).state;
    expect(step(heard, { kind: 'time' }, 5000).effects).toEqual([]);
    expect(portWakeMs(heard, options)).toBe(5001);
    expect(step(heard, { kind: 'time' }, 5001).effects).toEqual([
      { kind: 'close' },
      { kind: 'lost', reason: 'silent for 3 s' },
    ]);
  });

  it('that was useful for ten seconds starts its pauses anew', () => {
    const tired: PortState = { kind: 'open', attempt: 9, openedMs: 0, lastByteMs: 0, lastGoodMs: null };
    const down = { kind: 'down', reason: 'gone' } as const;
    const short = step(step(tired, { kind: 'bytes', isGood: true }, 4999).state, down, 5000).state;
    const long = step(step(tired, { kind: 'bytes', isGood: true }, 10_001).state, down, 10_001).state;
    expect(portWakeMs(short, options) - 5000).toBeGreaterThan(portWakeMs(long, options) - 10_001);
  });

  it('that brings nothing but garbage is opened anew: an adapter may have forgotten its speed', () => {
    let state = opened(0);
    let ms = 0;
    let closed: string[] = [];
    while (closed.length === 0 && ms < 60_000) {
      ms += 1000;
      const heard = step(state, { kind: 'bytes', isGood: ms <= 5000 }, ms);
      const timed = step(heard.state, { kind: 'time' }, ms);
      closed = timed.effects.flatMap((effect) => (effect.kind === 'lost' ? [effect.reason] : []));
      state = timed.state;
    }
    expect(ms).toBe(36_000);
    expect(closed).toEqual(['nothing but garbage for 30 s: is the speed right?']);
  });

  it('that may be silent for longer than it may be useless is silent, not useless', () => {
    const patient = { ...options, silenceMs: 60_000 };
    const asked = (state: PortState, ms: number) =>
      stepPort(state, { kind: 'time' }, { ms, fraction: 0.5, options: patient });
    expect(asked(opened(0), 59_999).effects).toEqual([]);
    expect(portWakeMs(opened(0), patient)).toBe(60_001);
    expect(asked(opened(0), 60_001).effects).toContainEqual({ kind: 'lost', reason: 'silent for 60 s' });
  });

  it.each(['board', 'gnss'] as const)(
    'of the %s is tried at least once a second for ever: what is plugged in again is found at once (G5)',
    (name) => {
      const shipped = vehicleLimits.port[name];
      let state = createPort(0);
      let ms = 0;
      for (let attempt = 0; attempt < 1000; attempt += 1) {
        const fraction = (attempt * 0.618) % 1;
        const given = { fraction, options: shipped };
        const opening = stepPort(state, { kind: 'time' }, { ms, ...given });
        expect(opening.effects).toEqual([{ kind: 'open' }]);
        state = stepPort(opening.state, { kind: 'failed', reason: 'not there' }, { ms, ...given }).state;
        const wakeMs = portWakeMs(state, shipped);
        expect(wakeMs - ms).toBeLessThanOrEqual(1000);
        ms = wakeMs;
      }
    },
  );

  it('is reported when it is lost after it worked, or before it ever did, and not with every try', () => {
    let state = opened(0);
    const news: boolean[] = [];
    const openings: boolean[] = [];
    for (let ms = 1; ms < 60_000; ms += 1) {
      const { state: next, effects } = step(state, { kind: 'time' }, ms);
      if (effects.some(({ kind }) => kind === 'lost')) news.push(isFirstLoss(state));
      if (next.kind === 'opening') openings.push(isFirstOpening(next));
      state = next.kind === 'opening' ? step(next, { kind: 'opened' }, ms).state : next;
    }
    expect(news.length).toBeGreaterThan(4);
    expect(news.filter(Boolean)).toHaveLength(1);
    expect(openings.filter(Boolean)).toEqual([]);
    expect(isFirstOpening(step(createPort(0), { kind: 'time' }, 0).state)).toBe(true);
    const heard = step(opened(0), { kind: 'bytes', isGood: true }, 1).state;
    expect(isFirstLoss({ ...heard, attempt: 7 })).toBe(true);
  });
});
