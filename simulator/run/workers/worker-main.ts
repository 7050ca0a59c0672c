// The inside of a worker process: carries out the messages of the main process and ends when their channel closes. Ctrl-C is
// left to the main process.
import { AppError, messageOf } from '../../../src/core/errors.ts';
import type { VehicleNotes } from '../../core/ledger/ledger-types.ts';
import { type MeasuredName } from '../../core/scenario/thresholds.ts';
import { createLagMeter } from '../measure/latency.ts';
import type { RunPorts } from '../shared/run-ports.ts';
import {
  createWorker,
  emptyStatus,
  type Worker,
  type WorkerInstruction,
  type WorkerSetup,
} from './worker.ts';
import { type FromWorker, hrMs, type Measured, type ToWorker } from './worker-messages.ts';

const reportMs = 200;
/** Event notes in one message. */
const notesMost = 20_000;
/** Values kept for the next report; further ones are dropped, since the generator is overloaded by then. */
const samplesMost = 200_000;
const earlyMost = 1000;
const mebibyte = 1024 * 1024;

function createSamples() {
  const kept: Record<MeasuredName, number[]> = { ingest: [], outage: [], visible: [] };
  return {
    add(name: MeasuredName, ms: number): void {
      if (kept[name].length < samplesMost) kept[name].push(ms);
    },
    take: (): Measured => ({
      ingest: Float64Array.from(kept.ingest.splice(0)),
      outage: Float64Array.from(kept.outage.splice(0)),
      visible: Float64Array.from(kept.visible.splice(0)),
    }),
  };
}

const sizeOf = ({ boots, facts, contacts, trace }: VehicleNotes): number =>
  [...boots.values()].reduce(
    (sum, notes) => sum + notes.length,
    facts.length + contacts.length + trace.utcMs.length,
  );

/** Vehicles in groups of bounded size, one for each message. */
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

/** Resolves when the message was written to the channel. */
const send = (message: FromWorker): Promise<void> =>
  new Promise((done) => {
    if (process.send === undefined || !process.connected) done();
    else process.send(message, undefined, undefined, () => done());
  });

function failureOf(thrown: unknown): FromWorker {
  const { code, message, hint } =
    thrown instanceof AppError ? thrown : new AppError('internal', messageOf(thrown));
  return { kind: 'failed', code, message, hint: hint ?? '' };
}

async function sendNotes(worker: Worker): Promise<void> {
  const { vehicles, ...rest } = await worker.close();
  // One group at a time bounds the memory of both processes.
  for (const group of inGroups(vehicles)) await send({ kind: 'vehicles', vehicles: group });
  await send({ kind: 'closed', rest });
}

function startReports(
  ports: RunPorts,
  samples: ReturnType<typeof createSamples>,
  status: () => typeof emptyStatus,
) {
  const usage = process.cpuUsage();
  const lag = createLagMeter(ports.clock);
  const report = async (): Promise<void> => {
    const { user, system } = process.cpuUsage(usage);
    const machine = { cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / mebibyte };
    const now = { ...status(), ...machine, lagMs: lag.readMs() };
    await send({ kind: 'report', status: now, measured: samples.take() });
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

/** Serves until the main process closes the channel. To be called in a process that was forked for it. */
export async function serveWorker(ports: RunPorts): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  if (process.send === undefined) throw new AppError('usage', 'A worker process is started by a run only');
  const samples = createSamples();
  let setup: WorkerSetup | null = null;
  let worker: Worker | null = null;
  /** Instructions that came before the vehicles were created. */
  const early: WorkerInstruction[] = [];
  const reports = startReports(ports, samples, () => worker?.status() ?? emptyStatus);
  const begin = async (startHrMs: number): Promise<void> => {
    if (setup === null) throw new AppError('internal', 'A worker began before it was set up');
    const startMs = ports.clock.monoMs() + startHrMs - hrMs();
    const handlers = { onLatency: samples.add, say: (text: string) => void send({ kind: 'say', text }) };
    const time = { nowMs: () => ports.clock.monoMs() - startMs };
    worker = await createWorker(setup, { ports, time, handlers });
    for (const instruction of early.splice(0)) worker.instruct(instruction);
  };
  const close = async (): Promise<void> => {
    if (worker !== null) await sendNotes(worker);
    await reports.end();
    process.disconnect();
  };
  const handle = (message: ToWorker): Promise<unknown> => {
    switch (message.kind) {
      case 'setup':
        ({ setup } = message);
        return reports.now().then(() => send({ kind: 'ready' }));
      case 'begin':
        return begin(message.startHrMs);
      case 'instruct':
        if (worker !== null) worker.instruct(message.instruction);
        else if (early.length < earlyMost) early.push(message.instruction);
        return Promise.resolve();
      case 'close':
        return close();
    }
  };
  process.on('message', (message) => {
    void handle(message as ToWorker).catch((thrown: unknown) => send(failureOf(thrown)));
  });
  await new Promise<void>((done) => process.once('disconnect', () => done()));
}
