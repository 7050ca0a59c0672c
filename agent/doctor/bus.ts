// One serial line for the doctor: asks a Modbus unit or listens, with one link and the agent's own RTU master, so that an answer
// is judged as strictly as it will be on the road. It never writes a register or a coil, and closes the port whatever happens.
import type { ByteLink, Cancel, Clock, OpenByteLink, SerialSettings } from '../../src/ports.ts';
import { bitsPerChar } from '../core/board/board-profile.ts';
import { isWrite, type ModbusRequest } from '../core/board/modbus-frame.ts';
import { createRtuMaster, stepRtuMaster } from '../core/board/rtu-master.ts';
import type { RtuCounters, RtuInput, RtuResult } from '../core/board/rtu-types.ts';

export interface Bus {
  /** One read. Resolves with whatever came of it, within about half a second. */
  ask(request: ModbusRequest): Promise<RtuResult>;
  counters(): RtuCounters;
  /** Everything that came in so far, the last 64 KiB of it. */
  heard(): Uint8Array;
  close(): Promise<void>;
}

/** Boards answer within 100 ms; a probe of many speeds must not wait for the slowest one there could be. */
const probeTiming = { timeoutMinMs: 60, timeoutInitialMs: 300, timeoutMaxMs: 400, lateGuardMs: 350 } as const;
const heardMost = 64 * 1024;

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
  let link: ByteLink | null = null;
  let cancel: Cancel = () => undefined;
  let nextId = 1;
  let bytesHeard: Uint8Array[] = [];
  let heardBytes = 0;
  const waiting = new Map<number, (result: RtuResult) => void>();
  const feed = (input: RtuInput): void => {
    const stepped = stepRtuMaster(state, input);
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
      heardBytes += bytes.length;
      bytesHeard.push(bytes);
      while (heardBytes > heardMost && bytesHeard.length > 1) heardBytes -= bytesHeard.shift()?.length ?? 0;
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
    heard() {
      const all = new Uint8Array(heardBytes);
      let at = 0;
      for (const chunk of bytesHeard) {
        all.set(chunk, at);
        at += chunk.length;
      }
      return all;
    },
    async close() {
      cancel();
      for (const resolve of waiting.values()) resolve({ kind: 'linkDown' });
      waiting.clear();
      bytesHeard = [];
      await link?.close();
    },
  };
}

/** Listens without a word for `forMs`. @throws AppError `serial`. */
export async function listen(
  settings: SerialSettings,
  forMs: number,
  { clock, openByteLink }: BusOptions,
): Promise<Uint8Array> {
  const bus = await openBus(settings, { clock, openByteLink });
  try {
    await new Promise<void>((resolve) => void clock.after(forMs, resolve));
    return bus.heard();
  } finally {
    await bus.close();
  }
}
