// Digital fuel senders of the LLS protocol (Omnicomm, and Escort, Epsilon, Eurosens, UL202 and others that copy it), as a machine over bytes
// and time. Source: Omnicomm LLS integration guide of 2017-01-10 (doc.omnicomm.ru/en/lls_integration), binary protocol, 19200 8N1 unless set:
//
//   request  31 addr 06 crc        answer  3E addr 06 temperature(int8) level(uint16 LE) frequency(uint16 LE) crc
//
// A sender answers within 100 ms. In its periodic mode it sends the same frame with 07 until it gets any sound command, so the first request
// ends that mode, the text mode too (F=0AF9 t=1A N=03FF.0, which has neither address nor checksum and is not read). Only 06 is ever sent.
//
// What the guide leaves open, and the safe reading: a level above the top of the scale is no level (the guide ends at 4095; Escort senders
// report faults as 6500 and 7000). The frequency is not judged: clones put other values there. An answer of zeros only, temperature and
// frequency included, was captured of devices that measure nothing, and is no level either.
import { crc8 } from '../crc8.ts';
import type { LlsConfig } from './lls-config.ts';

const requestPrefix = 0x31;
const answerPrefix = 0x3e;
const readOnce = 0x06;
const periodic = 0x07;
const lengths = new Map([
  [requestPrefix, 4],
  [answerPrefix, 9],
]);

export const llsTiming = {
  /** Each sender is asked this often, ms: what the fuel machine expects of a sender. */
  roundMs: 1000,
  /** A level is known for this long after its answer, ms. */
  freshMs: 5000,
} as const;

interface LlsSender {
  readonly address: number;
  /** As it was sent; null: never. */
  readonly raw: number | null;
  /** The level, up to the top of the scale; null: not a level. */
  readonly value: number | null;
  readonly temperatureC: number | null;
  /** Since its last answer; null: none since the start. */
  readonly ageMs: number | null;
  readonly isSilent: boolean;
}

/** Readings of the tank's senders in the last round. */
export interface LlsReading {
  /** Reason why the port is not open; '' while it is, null before the first try has ended. */
  readonly portFault: string | null;
  /** `no_answer`: a sender is silent or not understood; `no_level`: it answers, with a value that is no level. */
  readonly fault: 'port' | 'no_answer' | 'no_level' | null;
  /** The mean of all senders; null: not known; `unknown`: nothing new, what was known still counts. */
  readonly measure: number | null | 'unknown';
  readonly senders: readonly LlsSender[];
  /** Since the start: good answers, and bytes that belonged to none. */
  readonly answers: number;
  readonly noise: number;
  /** An address that answered and is not configured; null: none. */
  readonly otherAddress: number | null;
}

/** The sound answers in what came, from whatever place; `rest` may still become one. Requests are the echo of the adapter. */
function scan(bytes: readonly number[]) {
  const answers: (readonly number[])[] = [];
  let noise = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = lengths.get(bytes[at] ?? 0) ?? 0;
    const frame = bytes.slice(at, at + length);
    const isPossible = length > 0 && [readOnce, periodic, undefined].includes(frame[2]);
    if (isPossible && frame.length < length) break;
    const isSound = isPossible && crc8(frame) === 0;
    if (isSound && frame[0] === answerPrefix) answers.push(frame);
    if (!isSound) noise += 1;
    at += isSound ? length : 1;
  }
  return { answers, noise, rest: bytes.slice(at) };
}

/** The senders of one tank, from `startMs` on. */
export function createLls({ addresses, full }: Pick<LlsConfig, 'addresses' | 'full'>, startMs: number) {
  const last = new Map<number, { raw: number; value: number | null; temperatureC: number; atMs: number }>();
  /** Addresses that answered since the last reading that had all of them. */
  const answered = new Set<number>();
  const counts = { answers: 0, noise: 0, otherAddress: null as number | null };
  let rest: readonly number[] = [];
  const accept = (frame: readonly number[], atMs: number): void => {
    const [, from = 0, , temperature = 0, low = 0, high = 0] = frame;
    if (!addresses.includes(from)) {
      counts.otherAddress = from;
      return;
    }
    counts.answers += 1;
    answered.add(from);
    const raw = low + high * 256;
    const isBlank = frame.slice(3, 8).every((byte) => byte === 0);
    const temperatureC = temperature > 127 ? temperature - 256 : temperature;
    last.set(from, { raw, value: raw > full || isBlank ? null : raw, temperatureC, atMs });
  };
  const senderAt = (address: number, nowMs: number): LlsSender => {
    const { atMs = null, ...shown } = last.get(address) ?? { raw: null, value: null, temperatureC: null };
    const isSilent = nowMs - (atMs ?? startMs) >= llsTiming.freshMs;
    return { address, ...shown, ageMs: atMs === null ? null : nowMs - atMs, isSilent };
  };
  return {
    /** The request to a sender. What came before it and is no whole answer is noise. */
    ask(address: number): Uint8Array {
      counts.noise += rest.length;
      rest = [];
      const head = [requestPrefix, address, readOnce];
      return Uint8Array.from([...head, crc8(head)]);
    },
    bytes(bytes: Uint8Array, atMs: number): void {
      const scanned = scan([...rest, ...bytes]);
      rest = scanned.rest;
      counts.noise += scanned.noise;
      for (const frame of scanned.answers) accept(frame, atMs);
    },
    /** Once a round. */
    reading(nowMs: number, portFault: string | null): LlsReading {
      const senders = addresses.map((address) => senderAt(address, nowMs));
      const isSilent = senders.some((sender) => sender.isSilent);
      const hasNone = senders.some(({ raw, value }) => raw !== null && value === null);
      const fault = portFault ? 'port' : isSilent ? 'no_answer' : hasNone ? 'no_level' : null;
      const isNew = answered.size === addresses.length;
      if (isNew) answered.clear();
      const mean = senders.reduce((sum, { value }) => sum + (value ?? 0), 0) / senders.length;
      const measure = fault !== null ? null : isNew ? mean : 'unknown';
      return { portFault, fault, measure, senders, ...counts };
    },
  };
}
