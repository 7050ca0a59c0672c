// From the registers of one poll to samples of signals and relays, as the profile describes. Pure. A register that
// means neither on nor off must never become a state. Where a second contact or a life input is wired, the 0 of a lost
// supply or wire must never become "inactive".
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

/** The answer to one poll; `values` null = nothing is known. */
interface PollReading {
  readonly values: readonly number[] | null;
  readonly atMs: number;
  /** What the life input said lately, for contacts of its unit that another poll reads; null and absent = not known. */
  readonly life?: boolean | null;
}

type BitAt = (address: number) => boolean | null;

/** The bit or register behind each address of a poll's range. */
function bitsOf(profile: BoardProfile, poll: string, values: PollReading['values']): BitAt {
  const first = profile.polls[poll]?.first ?? 0;
  return (address) => bitOf(values?.[address - first] ?? null);
}

/** Samples of all signals and relays in one poll's range. */
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

/** Whether the life input in this poll is active; null = not known, or it is in another poll. */
export function decodeLife(
  profile: BoardProfile,
  name: string,
  values: PollReading['values'],
): boolean | null {
  const { life } = profile;
  if (life?.poll !== name) return null;
  return meaningOf(bitsOf(profile, name, values)(life.address), life.invert);
}

/** What is known of the supply of the contacts in a poll. */
interface Life {
  readonly isAlive: boolean | null;
  /** What any contact reads while it has no supply. */
  readonly deadBit: boolean;
}

/** Null where no life input speaks for these contacts. */
function lifeFor(profile: BoardProfile, name: string, read: PollReading): Life | null {
  const { life } = profile;
  if (life === undefined || !isSameUnit(profile, life.poll, name)) return null;
  const isAlive = life.poll === name ? decodeLife(profile, name, read.values) : (read.life ?? null);
  return { isAlive, deadBit: life.invert };
}

/**
 * The raw bit of a contact; null = it says nothing. Of an antivalent pair exactly one contact is closed. Without a
 * supply every contact reads the same, so that only the other bit is made by a current; it is believed where it means
 * "active", which is the safe side for ignition and motion and loses no press of a panic button.
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

/** A bit after inversion. */
function meaningOf(bit: boolean | null, invert: boolean): boolean | null {
  return bit === null ? null : bit !== invert;
}

/** A bit, or a register that holds one; anything else is not a state. */
function bitOf(raw: number | null): boolean | null {
  if (raw === 1) return true;
  return raw === 0 ? false : null;
}

/** True = energised; null = not known. */
export function decodeRelay(relay: BoardRelay, raw: number | null): boolean | null {
  if (relay.kind === 'coil' || raw === null) return bitOf(raw);
  if (raw === (relay.readOn ?? 1)) return true;
  return raw === (relay.readOff ?? 0) ? false : null;
}
