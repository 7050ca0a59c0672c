// The progress screen of a run as lines of text, in the form of `fleetward-agent status`: each state is ok, note or fault. Pure. No line
// exceeds the width of the terminal, and texts from outside cannot control it.
import { countOf, formatCount, formatMoment, formatNumber } from '../text/number-text.ts';

/** A latency so far, ms. */
interface ScreenBand {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  readonly count: number;
}

export interface Progress {
  readonly name: string;
  readonly title: string;
  readonly elapsedS: number;
  readonly durationS: number;
  readonly phase: string;
  readonly online: number;
  readonly running: number;
  readonly devices: number;
  readonly facts: number;
  readonly sent: number;
  readonly acknowledged: number;
  readonly waiting: number;
  readonly commands: number;
  readonly faults: readonly string[];
  readonly breaches: number;
}

export interface ScreenState {
  readonly now: Progress;
  /** Null: nothing was measured. */
  readonly bands: {
    readonly ingest: ScreenBand | null;
    readonly visible: ScreenBand | null;
    readonly lag: ScreenBand | null;
  };
  /** Acknowledged and sent events a second since the last look. */
  readonly rate: { readonly acknowledged: number; readonly sent: number };
  /** Acknowledged events a second, the newest last. */
  readonly history: readonly number[];
}

/** From this lag on the generator's own figures are in doubt, ms at p99. */
export const lagMostMs = 250;

type Level = 'ok' | 'note' | 'fault';
const marks: Readonly<Record<Level, string>> = { ok: 'ok   ', note: 'note ', fault: 'FAULT' };
const colours: Readonly<Record<Level, number>> = { ok: 32, note: 33, fault: 31 };

/** Replaces control characters, which could move the cursor. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');

const heights = '▁▂▃▄▅▆▇█';

/** One character for each value, scaled to the highest. */
export function sparkline(values: readonly number[]): string {
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  return values
    .map((value) => heights[most === 0 ? 0 : Math.min(7, Math.floor((value / most) * 7.999))] ?? '')
    .join('');
}

function bar(part: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, part)) * width);
  return `[${'#'.repeat(full)}${'-'.repeat(width - full)}]`;
}

interface Row {
  readonly level: Level | null;
  readonly text: string;
}

const row = (level: Level, name: string, words: string): Row => ({
  level,
  text: `${name.padEnd(10)} ${words}`,
});

function progressRow({ elapsedS, durationS, phase }: Progress, columns: number): string {
  const part = durationS === 0 ? 1 : elapsedS / durationS;
  const leftMs = Math.max(0, durationS - elapsedS) * 1000;
  const time = `${formatMoment(elapsedS * 1000)} of ${formatMoment(durationS * 1000)}`;
  const end = elapsedS >= durationS ? phase : `${formatMoment(leftMs)} left, ${phase}`;
  const words = ` ${String(Math.min(100, Math.floor(part * 100))).padStart(3)} %  ${time}, ${end}`;
  return bar(part, Math.max(10, Math.min(60, columns - words.length - 3))) + words;
}

const cell = (value: number): string => formatNumber(value).padStart(9);

function latencyRows({ bands }: ScreenState): readonly string[] {
  const shown = [
    ['until durable', bands.ingest],
    ['until visible', bands.visible],
    ['generator late', bands.lag],
  ] as const;
  const head = `${' '.repeat(6)}${'ms'.padEnd(16)}${['p50', 'p95', 'p99', 'max', 'count'].map((part) => part.padStart(9)).join('')}`;
  const rows = shown.map(([name, band]) => {
    const values =
      band === null
        ? 'nothing yet'.padStart(13)
        : [band.p50, band.p95, band.p99, band.max, band.count].map(cell).join('');
    return `${' '.repeat(6)}${name.padEnd(16)}${values}`;
  });
  return [head, ...rows];
}

function stateRows({ now, bands, rate, history }: ScreenState, columns: number): readonly Row[] {
  const { breaches, online, running, devices, faults, waiting } = now;
  const isLate = (bands.lag?.p99 ?? 0) > lagMostMs;
  const spark = sparkline(history.slice(-Math.max(0, Math.min(60, columns - 48))));
  return [
    row(
      breaches === 0 ? 'ok' : 'fault',
      'truth',
      breaches === 0
        ? `no breach so far; ${formatCount(now.facts, 'fact')}`
        : `${formatCount(breaches, 'BREACH', 'BREACHES')} so far; ${formatCount(now.facts, 'fact')}`,
    ),
    row(
      online < running ? 'note' : 'ok',
      'vehicles',
      `${formatNumber(online)} connected, ${formatNumber(running)} on the road, ${formatNumber(devices)} in all`,
    ),
    row(
      'ok',
      'events',
      `${formatNumber(rate.acknowledged)}/s acknowledged, ${formatNumber(rate.sent)}/s sent; ${formatNumber(now.acknowledged)} acknowledged`,
    ),
    { level: null, text: `${' '.repeat(11)}${spark}` },
    row(waiting > 0 && online < running ? 'note' : 'ok', 'backlog', `${formatNumber(waiting)} wait`),
    row('ok', 'commands', `${formatNumber(now.commands)} given`),
    row(faults.length === 0 ? 'ok' : 'note', 'faults', faults.length === 0 ? 'none now' : faults.join(', ')),
    ...(isLate
      ? [row('fault', 'generator', 'is the bottleneck: latencies include its own delay; use fewer vehicles')]
      : []),
  ];
}

interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** The lines of the screen. @param size of the terminal, 80 by 24 or more; in a smaller one the end is left out. */
export function screenLines(state: ScreenState, size: ScreenSize, isColoured: boolean): readonly string[] {
  const width = Math.max(20, size.columns - 1);
  const { now } = state;
  const cut = (text: string, width: number): string => Array.from(printable(text)).slice(0, width).join('');
  const paint = (code: number, text: string): string =>
    isColoured ? `\u001b[${code}m${text}\u001b[0m` : text;
  const states = stateRows(state, size.columns).map(({ level, text }) =>
    level === null
      ? cut(`      ${text}`, width)
      : `${paint(colours[level], marks[level])} ${cut(text, width - 6)}`,
  );
  const lines = [
    paint(1, cut(`fleetward-simulator run ${now.name}: ${now.title}`, width)),
    cut(progressRow(now, size.columns), width),
    '',
    ...states,
    '',
    ...latencyRows(state).map((line) => cut(line, width)),
  ];
  return lines.slice(0, Math.max(1, size.rows - 1));
}

/** The same in one line, for a log. */
export function progressLine({ now, bands, rate }: ScreenState): string {
  const text = (band: ScreenBand | null): string =>
    band === null ? '-' : `${band.p50.toFixed(0)}/${band.p99.toFixed(0)}/${band.max.toFixed(0)}`;
  const faults = now.faults.length === 0 ? '' : `, faults: ${now.faults.join(' ')}`;
  const breaches = now.breaches === 0 ? '' : `, ${countOf(now.breaches, 'BREACH', 'BREACHES')}`;
  const late = (bands.lag?.p99 ?? 0) > lagMostMs ? ', THE GENERATOR IS THE BOTTLENECK' : '';
  return printable(
    `${formatMoment(now.elapsedS * 1000).padStart(5, '0')} ${now.phase}: ${now.online}/${now.devices} online, ${countOf(now.facts, 'fact')}, ${countOf(now.acknowledged, 'event')} (${rate.acknowledged.toFixed(1)}/s), ${now.waiting} waiting, ingest ${text(bands.ingest)} ms, visible ${text(bands.visible)} ms, lag ${text(bands.lag)} ms${faults}${breaches}${late}`,
  );
}
