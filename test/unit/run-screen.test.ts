// What a run shows while it goes on: a screen that fits the terminal and is put away again, or plain lines; and nothing from outside that
// steers either of them.
import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/clock.ts';
import { type Progress, progressLine, screenLines, sparkline } from '../../simulator/core/live/screen.ts';
import { showProgress } from '../../simulator/run/measure/progress.ts';

const band = { p50: 12.4, p90: 30, p95: 51, p99: 228, p999: 300, max: 5542, mean: 20, count: 191 };
const now: Progress = {
  name: 'day',
  title: 'A working day \u001b[2J\u0007',
  elapsedS: 900,
  durationS: 1800,
  phase: 'noon',
  online: 9,
  running: 12,
  devices: 40,
  facts: 63,
  sent: 260,
  acknowledged: 244,
  waiting: 4,
  commands: 14,
  faults: ['link-outage'],
  breaches: 0,
};
const state = {
  now,
  bands: { ingest: band, visible: null, lag: { ...band, p99: 3 } },
  rate: { acknowledged: 8.13, sent: 9 },
  history: Array.from({ length: 60 }, (_, at) => at),
};

describe('the screen', () => {
  it.each([
    [80, 24],
    [120, 40],
    [200, 60],
    [40, 10],
  ])('fits %i columns and %i rows', (columns, rows) => {
    const lines = screenLines(state, { columns, rows }, false);
    expect(lines.length).toBeLessThan(rows);
    expect(Math.max(...lines.map((line) => Array.from(line).length))).toBeLessThan(columns);
    expect(lines.join('')).not.toMatch(/\p{Cc}/u);
  });

  it('shows state, faults and remaining time at 80 by 24', () => {
    const text = screenLines(state, { columns: 80, rows: 24 }, false).join('\n');
    expect(text).toContain(' 50 %  15:00 of 30:00, 15:00 left, noon');
    expect(text).toContain('ok    truth      no breach so far; 63 facts');
    expect(text).toContain('note  vehicles   9 connected, 12 on the road, 40 in all');
    expect(text).toContain('note  faults     link-outage');
    expect(text).toMatch(/until durable +12\.4 +51 +228 +5,542 +191/);
    expect(text).toMatch(/until visible +nothing yet/);
    expect(text).not.toContain('bottleneck');
  });

  it('marks breaches, and the generator as the bottleneck, as faults', () => {
    const bad = {
      ...state,
      now: { ...now, breaches: 2 },
      bands: { ...state.bands, lag: { ...band, p99: 251 } },
    };
    const text = screenLines(bad, { columns: 80, rows: 24 }, false).join('\n');
    expect(text).toContain('FAULT truth      2 BREACHES so far');
    expect(text).toContain('FAULT generator  is the bottleneck');
    expect(progressLine(bad)).toContain('2 BREACHES, THE GENERATOR IS THE BOTTLENECK');
  });

  it('has colours unless NO_COLOR is set', () => {
    expect(screenLines(state, { columns: 80, rows: 24 }, true).join('')).toContain('\u001b[33mnote ');
    expect(sparkline([0, 5, 10])).toBe('▁▄█');
  });
});

function show(environment: Readonly<Record<string, string>>, isTTY: boolean) {
  const clock = createVirtualClock();
  let text = '';
  const output = { isTTY, columns: 80, rows: 24, write: (more: string) => (text += more) };
  const latencies = { band: () => null };
  const view = showProgress({ clock, output, latencies, environment, progress: () => now });
  return { clock, view, output, text: () => text };
}

describe('the progress of a run', () => {
  it('is one screen on a terminal, removed at the end with the cursor restored', () => {
    const { clock, view, text } = show({}, true);
    clock.advance(3000);
    view.print('fault: \u001b[31mlink-outage');
    view.close();
    expect(text().startsWith('\u001b[?25l')).toBe(true);
    expect(text().endsWith('\u001b[J\u001b[?25h')).toBe(true);
    expect(text()).toContain('fault:  [31mlink-outage');
    // Drawn over itself: up as many rows as the screen before had.
    const ups = [...text().matchAll(/\p{Cc}\[(\d+)A/gu)].map(([, rows]) => Number(rows));
    expect(ups.length).toBeGreaterThanOrEqual(3);
    expect(new Set(ups).size).toBe(1);
    const before = text();
    view.close();
    clock.advance(5000);
    expect(text()).toBe(before);
  });

  it('is removed whole when the terminal became narrower', () => {
    const { clock, view, output, text } = show({ NO_COLOR: '1' }, true);
    clock.advance(1000);
    output.columns = 40;
    view.close();
    const [, rows] = text().match(/\p{Cc}\[(\d+)A\r\p{Cc}\[J/u) ?? [];
    expect(Number(rows)).toBeGreaterThan(20);
  });

  it.each([
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, true],
    [{}, true],
  ])('with %j is coloured: %j', (environment, isColoured) => {
    const { clock, view, text } = show(environment, true);
    clock.advance(1000);
    view.close();
    expect(/\p{Cc}\[\d+m/u.test(text())).toBe(isColoured);
  });

  it.each([
    [{}, false],
    [{ TERM: 'dumb' }, true],
  ])('is plain lines where no screen is, %j', (environment, isTTY) => {
    const { clock, view, text } = show(environment, isTTY);
    clock.advance(60_000);
    view.print('fault over');
    view.close();
    expect(text()).not.toContain('\u001b');
    const lines = text().trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^15:00 noon: 9\/40 online, 63 facts, 244 events/);
    expect(lines[2]).toBe('fault over');
  });
});
