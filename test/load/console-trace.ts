// What a trace of Chromium says of a page: script time of each frame, and tasks of its main thread that were long. Pure.

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds, as `dur`. */
  readonly ts: number;
  readonly dur?: number;
  /** Of `dur`, what the thread had a core for. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

export interface FrameTimes {
  /** Script time from one frame to the next, ms of a core: other programs on the machine do not count. */
  readonly scriptMs: readonly number[];
  /** Tasks of more than 50 ms, ms of a core. */
  readonly longTasksMs: readonly number[];
}

export const traceCategories = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'];

const scriptNames: ReadonlySet<string> = new Set([
  'FunctionCall',
  'EvaluateScript',
  'RunMicrotasks',
  'FireAnimationFrame',
]);
const taskNames: ReadonlySet<string> = new Set(['RunTask', 'ThreadControllerImpl::RunTask']);
const longUs = 50_000;
/** Callbacks of one frame follow each other closer than this; frames come at most every 16 ms. */
const betweenFramesUs = 4000;

interface Span {
  readonly from: number;
  readonly to: number;
  readonly coreUs: number;
}

const spanOf = ({ ts, dur = 0, tdur = dur }: TraceEvent): Span => ({
  from: ts,
  to: ts + dur,
  coreUs: tdur,
});
const byBegin = (one: Span, other: Span): number => one.from - other.from;

/** Spans without those that lie inside of others. */
function outermost(spans: readonly Span[]): readonly Span[] {
  let end = 0;
  return spans.toSorted(byBegin).filter(({ from, to }) => {
    if (from < end) return false;
    end = to;
    return true;
  });
}

/** The events of the main thread that draws: the one with the most callbacks of frames. */
function mainThread(events: readonly TraceEvent[]): readonly TraceEvent[] {
  const counts = new Map<string, number>();
  for (const { name, pid, tid } of events)
    if (name === 'FireAnimationFrame') counts.set(`${pid} ${tid}`, (counts.get(`${pid} ${tid}`) ?? 0) + 1);
  const [busiest] = [...counts].toSorted(([, one], [, other]) => other - one);
  return events.filter(({ ph, pid, tid }) => ph === 'X' && `${pid} ${tid}` === busiest?.[0]);
}

/** @param trace as Chromium gives it. The page draws in every frame. */
export function frameTimesOf(trace: Buffer): FrameTimes {
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const own = mainThread(traceEvents);
  const callbacks = own
    .filter(({ name }) => name === 'FireAnimationFrame')
    .map(spanOf)
    .toSorted(byBegin);
  const frames: number[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const { from, to } of callbacks) {
    if (from - end > betweenFramesUs) frames.push(from);
    end = Math.max(end, to);
  }
  const scripts = outermost(own.filter(({ name }) => scriptNames.has(name)).map(spanOf));
  let at = scripts.findIndex(({ from }) => from >= (frames[0] ?? 0));
  const scriptMs = frames.slice(1).map((next) => {
    let sumUs = 0;
    for (; at >= 0 && (scripts[at]?.from ?? next) < next; at += 1) {
      sumUs += scripts[at]?.coreUs ?? 0;
    }
    return sumUs / 1000;
  });
  const tasks = outermost(own.filter(({ name }) => taskNames.has(name)).map(spanOf));
  return {
    scriptMs,
    longTasksMs: tasks
      .map(({ coreUs }) => coreUs)
      .filter((us) => us > longUs)
      .map((us) => us / 1000),
  };
}
