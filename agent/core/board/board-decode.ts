// Converts the registers of one poll to samples of signals and relays, as the profile describes. Pure. A register that means neither on nor off must
// never become a state. With a second contact or a life input, the 0 of a lost supply or wire must never become "inactive".
import {
  analogValue,
  type BoardContact,
  type BoardProfile,
  type BoardRelay,
  isSameUnit,
  readAddress,
  wiringsOf,
} from './board-profile.ts';
import type { BoardOutput } from './board-types.ts';

/** The answer to one poll; `values` null: nothing is known. */
interface PollReading {
  readonly values: readonly number[] | null;
  readonly atMs: number;
  /** Recent reading of the life input, for contacts of its unit in another poll; null or absent: unknown. */
  readonly life?: boolean | null;
}

type BitAt = (address: number) => boolean | null;

function bitsOf(profile: BoardProfile, poll: string, values: PollReading['values']): BitAt {
  const first = profile.polls[poll]?.first ?? 0;
  return (address) => bitOf(values?.[address - first] ?? null);
}

/** Samples of all signals and relays in the range of one poll. */
export function decodePoll(profile: BoardProfile, name: string, read: PollReading): readonly BoardOutput[] {
  const { atMs, values } = read;
  const first = profile.polls[name]?.first ?? 0;
  const at = (address: number) => values?.[address - first] ?? null;
  const outputs: BoardOutput[] = [];
  const pick = <Signal extends { poll: string }, Value>(
    table: Readonly<Record<string, Signal | undefined>>,
    decode: (signal: Signal, key: string) => Value,
  ): Record<string, Value> | null => {
    let own: Record<string, Value> | null = null;
    for (const [key, signal] of Object.entries(table)) {
      if (signal?.poll !== name) continue;
      own ??= {};
      own[key] = decode(signal, key);
    }
    return own;
  };
  const bits = bitsOf(profile, name, values);
  const life = lifeFor(profile, name, read);
  const inputs = pick<BoardContact, boolean | null>(profile.inputs, (signal, key) =>
    key === 'externalPower' ? bits(signal.address) : contactBit(signal, bits, life),
  );
  if (inputs !== null) outputs.push({ kind: 'inputs', atMs, values: inputs });
  const { loopback } = profile;
  if (loopback?.input.poll === name)
    outputs.push({
      kind: 'loopback',
      atMs,
      on: meaningOf(bits(loopback.input.address), loopback.input.invert),
    });
  const analogs = pick(profile.analogs, (signal) => {
    const raw = at(signal.address);
    return raw === null ? null : analogValue(signal, raw);
  });
  if (analogs !== null) outputs.push({ kind: 'analogs', atMs, values: analogs });
  let relays: Record<string, boolean | null> | null = null;
  for (const [key, relay] of wiringsOf(profile)) {
    if (relay.poll !== name) continue;
    relays ??= {};
    relays[key] = decodeRelay(relay, at(readAddress(relay)));
  }
  if (relays !== null) outputs.push({ kind: 'relays', atMs, values: relays });
  return outputs;
}

/** True when the life input in this poll is active; null: unknown, or it is in another poll. */
export function decodeLife(
  profile: BoardProfile,
  name: string,
  values: PollReading['values'],
): boolean | null {
  const { life } = profile;
  if (life?.poll !== name) return null;
  return meaningOf(bitsOf(profile, name, values)(life.address), life.invert);
}

interface Life {
  readonly isAlive: boolean | null;
  /** Bit of any contact without supply. */
  readonly deadBit: boolean;
}

/** Null: no life input covers these contacts. */
function lifeFor(profile: BoardProfile, name: string, read: PollReading): Life | null {
  const { life } = profile;
  if (life === undefined || !isSameUnit(profile, life.poll, name)) return null;
  const isAlive = life.poll === name ? decodeLife(profile, name, read.values) : (read.life ?? null);
  return { isAlive, deadBit: life.invert };
}

/**
 * Raw bit of a contact; null: it means nothing. In an antivalent pair exactly one contact is closed. Without a supply every contact reads `deadBit`,
 * so only the other bit needs a current. That bit is believed if it means "active": this is the safe side for ignition and motion, and loses no press
 * of a panic button.
 */
function contactBit(signal: BoardContact, bits: BitAt, life: Life | null): boolean | null {
  const bit = bits(signal.address);
  const isActive = meaningOf(bit, signal.invert);
  if (bit === null || isActive === null) return null;
  const { off } = signal;
  if (off !== undefined) {
    const isOffClosed = meaningOf(bits(off.address), off.invert);
    if (isOffClosed === null || isOffClosed === isActive) return null;
  }
  if (life === null || life.isAlive === true) return bit;
  return isActive && bit !== life.deadBit ? bit : null;
}

function meaningOf(bit: boolean | null, invert: boolean): boolean | null {
  return bit === null ? null : bit !== invert;
}

/** A bit, or a register that holds one; anything else is no state. */
function bitOf(raw: number | null): boolean | null {
  if (raw === 1) return true;
  return raw === 0 ? false : null;
}

/** True: energised; null: unknown. */
export function decodeRelay(relay: BoardRelay, raw: number | null): boolean | null {
  if (relay.kind === 'coil' || raw === null) return bitOf(raw);
  if (raw === (relay.readOn ?? 1)) return true;
  return raw === (relay.readOff ?? 0) ? false : null;
}
