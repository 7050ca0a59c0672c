// What the vehicle bus costs an agent: two real agents that drive over the same minutes, one of them behind an adapter that passes 700 frames a
// second. Every frame that was sent must have been counted at the end.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { askUnixSocket } from '../../agent/adapters/unix-http.ts';
import { type CanFrame, j1939Frame } from '../../simulator/hardware/j1939-frames.ts';
import { createSlcanAdapter, type SlcanAdapter } from '../../simulator/hardware/slcan-adapter.ts';
import { truckDrive } from '../support/bus/truck-drive.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { createPluggedPort } from '../support/serial/plugged-port.ts';
import type { Figure, Say } from './agent-figures.ts';
import { rssOf, warmUpMs, watch } from './agent-footprint.ts';
import { type Rig, startRig } from './agent-rig.ts';

export interface BusBenchOptions {
  readonly minutes: number;
  readonly pollMs: number;
}

/** A truck sends 375 to 665 frames a second. */
const framesPerS = 700;
const driveMs = 60_000;
const goals = { lost: 0, cpuPercent: 1, rssMb: 2 } as const;

/**
 * Frames of a drive at their time, again and again, filled up with those of 32 proprietary groups that nothing reads. Each is sent by itself, as
 * an adapter on USB does.
 */
function traffic(adapter: SlcanAdapter): { sent(): number; stop(): void; last(): void } {
  const drive = truckDrive(driveMs);
  const startMs = performance.now();
  let sent = 0;
  let next = 0;
  let round = 0;
  const foreign = (): CanFrame =>
    j1939Frame(0xff00 + (sent % 32), sent % 5, [sent & 0xff, 2, 3, 4, 5, 6, 7, 8]);
  /** The next frame of the drive, if it is due. */
  const due = (passedMs: number): CanFrame | null => {
    if (next === drive.length) {
      next = 0;
      round += 1;
    }
    const one = drive[next];
    if (one === undefined || round * driveMs + one.atMs > passedMs) return null;
    next += 1;
    return one.frame;
  };
  const send = (passedMs: number): void => {
    adapter.frame(due(passedMs) ?? foreign());
    sent += 1;
  };
  const timer = setInterval(() => {
    const passedMs = performance.now() - startMs;
    const frames = Math.ceil((passedMs * framesPerS) / 1000) - sent;
    for (let n = 0; n < frames; n += 1) send(passedMs);
  }, 1);
  return { sent: () => sent, stop: () => clearInterval(timer), last: () => send(0) };
}

/** Frames that the agent has counted since the adapter was opened. */
async function countedBy(rig: Rig): Promise<number> {
  const { body } = await askUnixSocket(join(rig.folder, 'agent.sock'), { method: 'GET', path: '/status' });
  const { vehicle } = JSON.parse(body) as { vehicle: { bus: { frames: number; skipped: number } | null } };
  return vehicle.bus?.frames ?? 0;
}

async function measure(
  { minutes, pollMs }: BusBenchOptions,
  open: (close: () => Promise<void>) => void,
  say: Say,
): Promise<readonly Figure[]> {
  const bare = await startRig({ inputsPollMs: pollMs });
  open(bare.close);
  const busPort = join(bare.folder, 'ttyBus');
  const rig = await startRig({ inputsPollMs: pollMs, busPort });
  open(rig.close);
  const adapter = createSlcanAdapter({
    dialect: 'canable',
    send: (text) => port.send(Buffer.from(text, 'latin1')),
  });
  const port = createPluggedPort({ folder: bare.folder, path: busPort, onBytes: adapter.receive });
  await port.plug();
  open(port.unplug);
  const agents = [rig.startAgent(), bare.startAgent()];
  for (const one of [rig, bare]) await one.command('drive');
  await waitUntil('the adapter to listen', () => adapter.mode() === 'silent');
  await sleep(1000);
  const frames = traffic(adapter);
  open(async () => frames.stop());
  await sleep(warmUpMs);
  const [ours, without] = await watch(
    agents.map(({ pid }) => pid),
    minutes * 60_000,
    (leftMs) => say(`bus: ${Math.max(0, Math.round(leftMs / 1000))} s left`),
  );
  frames.stop();
  // The agent passes its count on with a frame, once a second.
  await sleep(2000);
  frames.last();
  await sleep(2000);
  const lost = frames.sent() - (await countedBy(rig));
  const baseline = 'the same agent without a bus';
  const common = { section: 'bus' } as const;
  const name = `${framesPerS} frames/s`;
  const [cpu, bareCpu] = [ours?.cpuPercent ?? 0, without?.cpuPercent ?? 0];
  const [rss, bareRss] = [rssOf(ours, 0.5), rssOf(without, 0.5)];
  return [
    { ...common, name: `${name}: frames sent`, unit: 'frames', value: frames.sent() },
    { ...common, name: `${name}: not counted`, unit: 'frames', value: lost, goal: goals.lost },
    {
      ...common,
      name: `${name}: CPU`,
      unit: '% core',
      value: cpu,
      baseline: { name: baseline, value: bareCpu },
    },
    {
      ...common,
      name: `${name}: CPU for the bus`,
      unit: '% core',
      value: cpu - bareCpu,
      goal: goals.cpuPercent,
    },
    {
      ...common,
      name: `${name}: RSS, median`,
      unit: 'MB',
      value: rss,
      baseline: { name: baseline, value: bareRss },
    },
    { ...common, name: `${name}: RSS for the bus`, unit: 'MB', value: rss - bareRss, goal: goals.rssMb },
  ];
}

/** Measures the bus; takes `minutes` and a little. Needs socat. */
export async function benchBus(options: BusBenchOptions, say: Say): Promise<readonly Figure[]> {
  say(`bus: ${options.minutes} minutes of driving at ${framesPerS} frames/s, beside an agent without a bus`);
  const closes: (() => Promise<void>)[] = [];
  try {
    return await measure(options, (close) => void closes.unshift(close), say);
  } finally {
    for (const close of closes) await close();
  }
}
