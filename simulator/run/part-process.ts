// The process of one part of a fleet, as it is inside: it does what the leader of the run says over the channel, and ends with the
// channel. It never outlives its leader, and leaves Ctrl-C to him.
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { VehicleNotes } from '../core/ledger-types.ts';
import { createLagMeter } from './latency.ts';
import { createPart, type MeasuredName, noLook, type Part, type PartOrder, type PartSetup } from './part.ts';
import { type FromPart, hrMs, type Measured, type ToPart } from './part-messages.ts';
import type { RunPorts } from './ports.ts';

const reportMs = 200;
/** Notes of events in one message. */
const notesMost = 20_000;
/** Values that wait for the next report; with more the generator is late anyway, and only the figures of the rest are kept. */
const samplesMost = 200_000;
const earlyMost = 1000;
const mebibyte = 1024 * 1024;

function createSamples() {
  const kept: Record<MeasuredName, number[]> = { ingest: [], visible: [] };
  return {
    add(name: MeasuredName, ms: number): void {
      if (kept[name].length < samplesMost) kept[name].push(ms);
    },
    take: (): Measured => ({
      ingest: Float64Array.from(kept.ingest.splice(0)),
      visible: Float64Array.from(kept.visible.splice(0)),
    }),
  };
}

const sizeOf = ({ boots, facts, contacts }: VehicleNotes): number =>
  [...boots.values()].reduce((sum, notes) => sum + notes.length, facts.length + contacts.length);

/** Vehicles in groups of which none has too many notes. */
function* inGroups(vehicles: readonly VehicleNotes[]): Generator<readonly VehicleNotes[]> {
  let group: VehicleNotes[] = [];
  let size = 0;
  for (const vehicle of vehicles) {
    group.push(vehicle);
    size += sizeOf(vehicle) + 1;
    if (size < notesMost) continue;
    yield group;
    group = [];
    size = 0;
  }
  if (group.length > 0) yield group;
}

/** Resolves when the message has left. */
const send = (message: FromPart): Promise<void> =>
  new Promise((done) => {
    if (process.send === undefined || !process.connected) done();
    else process.send(message, undefined, undefined, () => done());
  });

function failureOf(thrown: unknown): FromPart {
  const { code, message, hint } =
    thrown instanceof AppError ? thrown : new AppError('internal', messageOf(thrown));
  return { kind: 'failed', code, message, hint: hint ?? '' };
}

async function hangOut(part: Part): Promise<void> {
  const { vehicles, ...rest } = await part.close();
  // Only what a group needs crosses at once; the next waits until it has left.
  for (const group of inGroups(vehicles)) await send({ kind: 'vehicles', vehicles: group });
  await send({ kind: 'closed', rest });
}

/** Reports every 200 ms until it is stopped. */
function startReports(ports: RunPorts, samples: ReturnType<typeof createSamples>, look: () => typeof noLook) {
  const usage = process.cpuUsage();
  const lag = createLagMeter(ports.clock);
  const report = async (): Promise<void> => {
    const { user, system } = process.cpuUsage(usage);
    const machine = { cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / mebibyte };
    const now = { ...look(), ...machine, lagMs: lag.takeMs() };
    await send({ kind: 'report', look: now, measured: samples.take() });
  };
  const timer = setInterval(() => void report(), reportMs);
  return {
    now: report,
    async end(): Promise<void> {
      clearInterval(timer);
      lag.close();
      await report();
    },
  };
}

/** Serves until the leader ends it. To be called in a process that was forked for it. */
export async function servePart(ports: RunPorts): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  if (process.send === undefined) throw new AppError('usage', 'Only a run starts the process of a part');
  const samples = createSamples();
  let setup: PartSetup | null = null;
  let part: Part | null = null;
  /** What came before the vehicles were there. */
  const early: PartOrder[] = [];
  const reports = startReports(ports, samples, () => part?.look() ?? noLook);
  const begin = async (startHrMs: number): Promise<void> => {
    if (setup === null) throw new AppError('internal', 'a part began before it was set up');
    const startMs = ports.clock.monoMs() + startHrMs - hrMs();
    const handlers = { onLatency: samples.add, say: (text: string) => void send({ kind: 'say', text }) };
    const time = { nowMs: () => ports.clock.monoMs() - startMs };
    part = await createPart(setup, { ports, time, handlers });
    for (const order of early.splice(0)) part.order(order);
  };
  const close = async (): Promise<void> => {
    if (part !== null) await hangOut(part);
    await reports.end();
    process.disconnect();
  };
  const take = (message: ToPart): Promise<unknown> => {
    switch (message.kind) {
      case 'setup':
        ({ setup } = message);
        return reports.now().then(() => send({ kind: 'ready' }));
      case 'begin':
        return begin(message.startHrMs);
      case 'order':
        if (part !== null) part.order(message.order);
        else if (early.length < earlyMost) early.push(message.order);
        return Promise.resolve();
      case 'close':
        return close();
    }
  };
  process.on('message', (message) => {
    void take(message as ToPart).catch((thrown: unknown) => send(failureOf(thrown)));
  });
  await new Promise<void>((done) => process.once('disconnect', () => done()));
}
