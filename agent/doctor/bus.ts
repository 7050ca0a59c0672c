// One serial line for the doctor: polls a Modbus unit or listens, with one link and the agent's own RTU master, so
// that an answer is checked exactly as in operation. It never writes a register or a coil, and always closes the
// port.
import type { ByteLink, Cancel, Clock, OpenByteLink, SerialSettings } from '../../src/ports.ts';
import { bitsPerChar } from '../core/board/board-profile.ts';
import { isWrite, type ModbusRequest } from '../core/board/modbus-frame.ts';
import { createRtuMaster, stepRtuMaster } from '../core/board/rtu-master.ts';
import type { RtuCounters, RtuInput, RtuResult } from '../core/board/rtu-types.ts';
import { readingPermit } from '../core/kernel/vehicle-guard.ts';

export interface Bus {
  /** One read. Resolves with its result within about half a second. */
  ask(request: ModbusRequest): Promise<RtuResult>;
  counters(): RtuCounters;
  /** Everything that came in so far, the last 64 KiB of it. */
  received(): Uint8Array;
  /** Bytes that came in so far. */
  count(): number;
  close(): Promise<void>;
}

/** Boards answer within 100 ms; a probe of many speeds must not wait for the slowest one there could be. */
const probeTiming = { timeoutMinMs: 60, timeoutInitialMs: 300, timeoutMaxMs: 400, lateGuardMs: 350 } as const;
const receivedMost = 64 * 1024;

interface BusOptions {
  readonly clock: Clock;
  readonly openByteLink: OpenByteLink;
}

/** Opens the port for reads. @throws AppError `serial`. */
export async function openBus(settings: SerialSettings, { clock, openByteLink }: BusOptions): Promise<Bus> {
  let state = createRtuMaster({
    ...probeTiming,
    baudRate: settings.baudRate,
    bitsPerChar: bitsPerChar(settings as Parameters<typeof bitsPerChar>[0]),
  });
  const permit = readingPermit(null);
  let link: ByteLink | null = null;
  let cancel: Cancel = () => undefined;
  let nextId = 1;
  let receivedChunks: Uint8Array[] = [];
  let receivedBytes = 0;
  let count = 0;
  const waiting = new Map<number, (result: RtuResult) => void>();
  const feed = (input: RtuInput): void => {
    const stepped = stepRtuMaster(state, input, { permit });
    state = stepped.state;
    for (const output of stepped.outputs) {
      if (output.kind === 'write') {
        link?.write(output.bytes);
        continue;
      }
      waiting.get(output.id)?.(output.result);
      waiting.delete(output.id);
    }
    cancel();
    // After a result the master sends nothing by itself in the same step.
    const wakeMs = stepped.outputs.some(({ kind }) => kind === 'done') ? clock.monoMs() : state.wakeAtMs;
    if (wakeMs === null) return;
    cancel = clock.after(Math.max(0, wakeMs - clock.monoMs()), () =>
      feed({ kind: 'time', atMs: clock.monoMs() }),
    );
  };
  link = await openByteLink(settings, {
    onBytes(bytes) {
      receivedBytes += bytes.length;
      count += bytes.length;
      receivedChunks.push(bytes);
      while (receivedBytes > receivedMost && receivedChunks.length > 1)
        receivedBytes -= receivedChunks.shift()?.length ?? 0;
      feed({ kind: 'bytes', bytes, atMs: clock.monoMs() });
    },
    onDown: () => feed({ kind: 'down', atMs: clock.monoMs() }),
  });
  feed({ kind: 'up', atMs: clock.monoMs() });
  return {
    ask(request) {
      if (isWrite(request)) return Promise.resolve({ kind: 'refused', reason: 'the doctor only reads' });
      const id = nextId++;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        feed({ kind: 'submit', job: { id, priority: 'poll', request }, atMs: clock.monoMs() });
      });
    },
    counters: () => state.counters,
    count: () => count,
    received() {
      const all = new Uint8Array(receivedBytes);
      let at = 0;
      for (const chunk of receivedChunks) {
        all.set(chunk, at);
        at += chunk.length;
      }
      return all;
    },
    async close() {
      cancel();
      for (const resolve of waiting.values()) resolve({ kind: 'linkDown' });
      waiting.clear();
      receivedChunks = [];
      await link?.close();
    },
  };
}

/** What a line said while it was listened to. */
export interface Capture {
  readonly bytes: Uint8Array;
  /** Since the last byte, and bursts of bytes with a pause before each. */
  readonly quietMs: number;
  readonly bursts: number;
}

const lookMs = 100;
const burstPauseMs = 300;

/**
 * Listens without sending for `forMs`, or until enough has come.
 * @param isEnough asked ten times a second.
 * @throws AppError `serial`.
 */
export async function listen(
  settings: SerialSettings,
  forMs: number,
  { clock, openByteLink }: BusOptions,
  isEnough: (capture: Capture) => boolean,
): Promise<Capture> {
  const bus = await openBus(settings, { clock, openByteLink });
  const endMs = clock.monoMs() + forMs;
  let [count, byteMs, bursts] = [0, Number.NEGATIVE_INFINITY, 0];
  try {
    for (;;) {
      await new Promise<void>((resolve) => void clock.after(lookMs, resolve));
      const nowMs = clock.monoMs();
      if (bus.count() !== count) {
        if (nowMs - byteMs >= burstPauseMs) bursts += 1;
        [count, byteMs] = [bus.count(), nowMs];
      }
      const capture = { bytes: bus.received(), quietMs: nowMs - byteMs, bursts };
      if (nowMs >= endMs || isEnough(capture)) return capture;
    }
  } finally {
    await bus.close();
  }
}
