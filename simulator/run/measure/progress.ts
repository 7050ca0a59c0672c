// Shows the progress of a run: one screen that is redrawn on a terminal, a line every few seconds elsewhere. However the run ends, the
// cursor of the terminal is restored.
import type { Cancel, Clock } from '../../../src/ports.ts';
import {
  type Progress,
  printable,
  progressLine,
  type ScreenState,
  screenLines,
} from '../../core/live/screen.ts';
import type { Latencies } from './latency.ts';

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

export interface ProgressView {
  /** Prints a line that stays. */
  print(text: string): void;
  close(): void;
}

export interface ProgressOptions {
  readonly clock: Clock;
  readonly output: Output;
  readonly latencies: Pick<Latencies, 'band'>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  progress(): Progress;
}

const plainEveryMs = 5000;
/** Longer runs print a line less often. */
const longRunS = 1200;
const longEveryMs = 30_000;
const screenEveryMs = 1000;
const historyMost = 60;

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const endOfLine = '\u001b[K';
const restOfScreen = '\u001b[J';
const up = (rows: number): string => (rows === 0 ? '\r' : `\u001b[${rows}A\r`);

/** The state of the screen, with the rates since the last call. */
function createScreenState({ latencies, progress }: ProgressOptions): () => ScreenState {
  const history: number[] = [];
  let before: Pick<Progress, 'acknowledged' | 'sent' | 'elapsedS'> = {
    acknowledged: 0,
    sent: 0,
    elapsedS: 0,
  };
  return () => {
    const now = progress();
    const forS = Math.max(0.001, now.elapsedS - before.elapsedS);
    const rate = {
      acknowledged: Math.max(0, now.acknowledged - before.acknowledged) / forS,
      sent: Math.max(0, now.sent - before.sent) / forS,
    };
    before = now;
    history.push(rate.acknowledged);
    if (history.length > historyMost) history.shift();
    const bands = {
      ingest: latencies.band('ingest'),
      visible: latencies.band('visible'),
      lag: latencies.band('lag'),
    };
    return { now, bands, rate, history };
  };
}

function showLines(options: ProgressOptions, every: (run: () => void) => Cancel): ProgressView {
  const { output } = options;
  const screenState = createScreenState(options);
  const cancel = every(() => output.write(`${progressLine(screenState())}\n`));
  return { print: (text) => void output.write(`${printable(text)}\n`), close: cancel };
}

/** Characters of a line without its colour codes. */
const widthOf = (line: string): number => Array.from(line.replaceAll(/\p{Cc}\[\d+m/gu, '')).length;

function showScreen(options: ProgressOptions, every: (run: () => void) => Cancel): ProgressView {
  const { output, environment } = options;
  const isColoured = (environment['NO_COLOR'] ?? '') === '';
  const screenState = createScreenState(options);
  let drawn: readonly string[] = [];
  let isOpen = true;
  /** Rows on the terminal; a narrower terminal has wrapped lines meanwhile. */
  const rowsDrawn = (): number => {
    const columns = Math.max(1, output.columns ?? 80);
    return drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
  };
  const draw = (above: string): void => {
    const size = { columns: output.columns ?? 80, rows: output.rows ?? 24 };
    const lines = screenLines(screenState(), size, isColoured);
    const text = lines.map((line) => `${line}${endOfLine}\n`).join('');
    output.write(`${up(rowsDrawn())}${above}${text}${restOfScreen}`);
    drawn = lines;
  };
  const restore = (): void => {
    if (!isOpen) return;
    isOpen = false;
    output.write(`${up(rowsDrawn())}${restOfScreen}${showCursor}`);
  };
  const cancel = every(() => draw(''));
  process.on('exit', restore); // however this process ends, except by SIGKILL
  output.write(hideCursor);
  return {
    print: (text) => draw(`${printable(text)}${endOfLine}\n`),
    close() {
      cancel();
      process.off('exit', restore);
      restore();
    },
  };
}

export function showProgress(options: ProgressOptions): ProgressView {
  const { clock, output, environment, progress } = options;
  const isScreen = output.isTTY === true && environment['TERM'] !== 'dumb';
  const everyMs = isScreen ? screenEveryMs : progress().durationS > longRunS ? longEveryMs : plainEveryMs;
  const every = (run: () => void): Cancel => {
    let timer: Cancel = () => undefined;
    const next = (): void => {
      timer = clock.after(everyMs, () => {
        run();
        next();
      });
    };
    next();
    return () => timer();
  };
  return isScreen ? showScreen(options, every) : showLines(options, every);
}
