// Loaded into a measured process with `--import`: collects garbage when asked, and tells memory and the delay of the loop.
// It keeps nobody alive and costs one timer; the program does not know of it.
import { openSync, readSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProbeAnswer {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
  /** Longest delay of the loop since the last question, ms. */
  readonly loopMostMs: number;
  readonly loopP99Ms: number;
  /** Longest delay without the time in which the machine gave the core to others: what the process did itself. */
  readonly loopOwnMostMs: number;
  /** How long the main thread has waited for a core so far, ms. */
  readonly waitedMs: number;
  /** CPU time of all threads so far, ms. */
  readonly cpuMs: number;
}

const resolutionMs = 5;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();

const beyond = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs);

// proc(5): time on a core, time in the queue for one, both ns of the main thread.
const schedule = openSync('/proc/self/schedstat', 'r');
const text = Buffer.alloc(64);

/** How long the main thread has waited for a core so far, ms. */
function waitedMs(): number {
  const length = readSync(schedule, text, 0, text.length, 0);
  return Number(text.toString('latin1', 0, length).split(' ')[1]) / 1e6;
}

let ownMostMs = 0;
let before = { atMs: performance.now(), waited: waitedMs() };
setInterval(() => {
  const now = { atMs: performance.now(), waited: waitedMs() };
  ownMostMs = Math.max(ownMostMs, now.atMs - before.atMs - resolutionMs - (now.waited - before.waited));
  before = now;
}, resolutionMs).unref();

async function collect(): Promise<void> {
  const { gc } = globalThis as { readonly gc?: () => void };
  // The allocator gives back what a collection freed only some time after it.
  for (let round = 0; round < 4; round++) {
    gc?.();
    await sleep(150);
  }
}

process.on('message', (message: { readonly id: number; readonly order: 'look' | 'collect' }) => {
  const answer = async (): Promise<void> => {
    const [loopMostMs, loopP99Ms] = [beyond(delay.max), beyond(delay.percentile(99))];
    const loopOwnMostMs = ownMostMs;
    if (message.order === 'collect') await collect();
    const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    delay.reset();
    ownMostMs = 0;
    const cpuMs = (user + system) / 1000;
    const loop = { loopMostMs, loopP99Ms, loopOwnMostMs };
    const waits = { waitedMs: waitedMs(), cpuMs };
    const found: ProbeAnswer = { rss, heapUsed, external, arrayBuffers, ...loop, ...waits };
    process.send?.({ id: message.id, answer: found });
  };
  void answer();
});
process.channel?.unref();
// Who measured is gone: the program ends as its service manager would end it.
process.once('disconnect', () => void process.kill(process.pid, 'SIGTERM'));
