// Simulated fuel senders of the LLS protocol on one RS-485 line, with the faults of real lines and senders. Written from the integration guide
// of Omnicomm (2017-01-10); it shares no code with the agent.
import type { Cancel, Clock } from '../../src/ports.ts';

export const llsFaultKinds = [
  'none',
  'silent',
  'garble',
  'noise',
  'echo',
  'short',
  'address',
  'code',
  'blank',
  'periodic',
] as const;
/**
 * `garble`: a wrong checksum; `noise`: bytes of an unbiased line before and behind; `echo`: the adapter returns what it sends;
 * `short`: a refusal of five bytes; `address`: another address in the answer; `code`: 6500 instead of a level; `blank`: zeros
 * only; `periodic`: it ignores requests and sends each second.
 */
export type LlsFaultKind = (typeof llsFaultKinds)[number];

export interface LlsSenders {
  /** Bytes from the master. */
  receive(bytes: Uint8Array): void;
  setFault(kind: LlsFaultKind): void;
  fault(): LlsFaultKind;
  /** Commands that were understood, by their code. */
  commands(): Readonly<Record<number, number>>;
  close(): void;
}

export interface LlsSenderOptions {
  readonly clock: Clock;
  readonly addresses?: readonly number[];
  /** Top of the scale. */
  readonly full?: number;
  temperatureC?(): number;
  /** Fraction of the tank, as the sender of this address shows it. */
  level(address: number): number;
  send(bytes: Uint8Array): void;
}

/** Within the 100 ms of the guide. */
const answerMs = 20;

/** The second variant of the guide. */
function crcOf(bytes: readonly number[]): number {
  const taps = [0x5e, 0xbc, 0x61, 0xc2, 0x9d, 0x23, 0x46, 0x8c];
  return bytes.reduce((crc, byte) => {
    const mixed = byte ^ crc;
    return taps.reduce((sum, tap, bit) => ((mixed >> bit) & 1 ? sum ^ tap : sum), 0);
  }, 0);
}

const sealed = (bytes: readonly number[]): readonly number[] => [...bytes, crcOf(bytes)];
const word = (value: number): readonly number[] => [value & 0xff, (value >> 8) & 0xff];

/** Senders that share one line and one tank. */
export function createLlsSenders(options: LlsSenderOptions): LlsSenders {
  const { clock, addresses = [1], full = 4095, temperatureC = () => 21, level, send } = options;
  const commands: Record<number, number> = {};
  let fault: LlsFaultKind = 'none';
  let pending: readonly number[] = [];
  let timer: Cancel | null = null;
  const put = (bytes: readonly number[]): void => send(Uint8Array.from(bytes));
  const reading = (address: number, code: number): readonly number[] => {
    const value = fault === 'code' ? 6500 : Math.round(level(address) * full);
    const data = [temperatureC() & 0xff, ...word(value), ...word(value + 700)];
    const shown = fault === 'blank' ? [0, 0, 0, 0, 0] : data;
    return sealed([0x3e, fault === 'address' ? (address + 6) & 0xff : address, code, ...shown]);
  };
  const answer = (address: number): readonly number[] => {
    const frame = reading(address, 6);
    if (fault === 'garble') return frame.map((byte, at) => (at === frame.length - 1 ? byte ^ 0x55 : byte));
    if (fault === 'short') return sealed([0x3e, address, 6, 1]);
    // A byte that looks like the beginning of an answer among them.
    return fault === 'noise' ? [0x00, 0x3e, 0xff, ...frame, 0xff, 0x00] : frame;
  };
  const repeat = (): void => {
    timer = clock.after(1000, () => {
      for (const address of addresses.slice(0, 1)) put(reading(address, 7));
      repeat();
    });
  };
  return {
    receive(bytes) {
      if (fault === 'echo') put([...bytes]);
      pending = [...pending, ...bytes].slice(-64);
      for (;;) {
        const at = pending.findIndex(
          (byte, from) =>
            byte === 0x31 &&
            pending.length >= from + 4 &&
            crcOf(pending.slice(from, from + 3)) === pending[from + 3],
        );
        if (at < 0) return;
        const [, address = 0, code = 0] = pending.slice(at);
        pending = pending.slice(at + 4);
        commands[code] = (commands[code] ?? 0) + 1;
        const isAsked = code === 6 && addresses.includes(address);
        if (isAsked && fault !== 'silent' && fault !== 'periodic')
          clock.after(answerMs, () => put(answer(address)));
      }
    },
    setFault(kind) {
      fault = kind;
      timer?.();
      timer = null;
      if (kind === 'periodic') repeat();
    },
    fault: () => fault,
    commands: () => ({ ...commands }),
    close() {
      timer?.();
    },
  };
}
