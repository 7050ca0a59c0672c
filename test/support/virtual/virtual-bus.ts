// A serial bus in virtual time: requests go to units, answers come back late, lost, garbled, cut or twice as a plan
// says. It must never touch the wall clock: the test's loop asks when something is due and moves time itself.
import { answer, type ModbusUnit } from '../serial/modbus-unit.ts';

/** What happens to one answer. Times in ms. */
export interface Fate {
  readonly delayMs: number;
  readonly kind: 'whole' | 'lost' | 'garbled' | 'cut' | 'twice' | 'split';
  /** Where it is cut, or which bits are flipped. */
  readonly seed: number;
}

export const good: Fate = { delayMs: 20, kind: 'whole', seed: 0 };

export interface VirtualBus {
  readonly units: ModbusUnit[];
  fate: (atMs: number) => Fate;
  hasEcho: boolean;
  /** Nothing the master sends gets anywhere while false. */
  isConnected: boolean;
  send(bytes: Uint8Array, atMs: number): void;
  nextMs(): number;
  take(): Uint8Array;
  readonly sent: { readonly atMs: number; readonly bytes: Uint8Array }[];
}

export function virtualBus(units: ModbusUnit[]): VirtualBus {
  const due: { atMs: number; bytes: Uint8Array }[] = [];
  const put = (atMs: number, bytes: Uint8Array) => {
    due.push({ atMs, bytes });
    due.sort((left, right) => left.atMs - right.atMs);
  };
  const bus: VirtualBus = {
    units,
    fate: () => good,
    hasEcho: false,
    isConnected: true,
    sent: [],
    send(bytes, atMs) {
      bus.sent.push({ atMs, bytes });
      if (bus.hasEcho) put(atMs + 1, bytes);
      if (!bus.isConnected) return;
      for (const unit of bus.units) {
        const reply = answer(unit, bytes);
        if (reply !== null) deliver(put, { reply, atMs, fate: bus.fate(atMs) });
      }
    },
    nextMs: () => due[0]?.atMs ?? Infinity,
    take: () => due.shift()?.bytes ?? new Uint8Array(0),
  };
  return bus;
}

function deliver(
  put: (atMs: number, bytes: Uint8Array) => void,
  item: { readonly reply: Uint8Array; readonly atMs: number; readonly fate: Fate },
): void {
  const { reply, fate } = item;
  const atMs = item.atMs + fate.delayMs;
  const at = 1 + (fate.seed % (reply.length - 1));
  switch (fate.kind) {
    case 'lost':
      return;
    case 'whole':
      return put(atMs, reply);
    case 'cut':
      return put(atMs, reply.subarray(0, at));
    case 'split':
      put(atMs, reply.subarray(0, at));
      return put(atMs + 3, reply.subarray(at));
    case 'twice':
      put(atMs, reply);
      return put(atMs + 2, reply);
    case 'garbled': {
      const broken = Uint8Array.from(reply);
      broken[at] = (broken[at] ?? 0) ^ (1 + (fate.seed % 255));
      broken[(at + 1) % broken.length] = (broken[(at + 1) % broken.length] ?? 0) ^ 0x41;
      return put(atMs, broken);
    }
  }
}

/** Moves virtual time to `untilMs`, event by event, for any machine with `wakeAtMs` on the bus. */
export function runUntil(
  bus: VirtualBus,
  machine: {
    readonly wakeAtMs: () => number | null;
    readonly bytes: (bytes: Uint8Array, atMs: number) => void;
    readonly time: (atMs: number) => void;
  },
  span: { readonly fromMs: number; readonly untilMs: number },
): void {
  let nowMs = span.fromMs;
  for (let steps = 0; ; steps += 1) {
    if (steps > 1_000_000) throw new Error(`no progress at ${nowMs} ms`);
    const wakeMs = machine.wakeAtMs() ?? Infinity;
    const nextMs = Math.max(nowMs, Math.min(wakeMs, bus.nextMs()));
    if (nextMs > span.untilMs) break;
    nowMs = nextMs;
    if (bus.nextMs() <= nowMs) machine.bytes(bus.take(), nowMs);
    else machine.time(nowMs);
  }
  machine.time(span.untilMs);
}
