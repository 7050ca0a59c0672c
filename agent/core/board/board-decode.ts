// From the registers of one poll to samples of signals and relays, as the profile describes. Pure. A register that
// means neither on nor off must never become a state.
import { analogValue, type BoardProfile, type BoardRelay, readAddress, wiringsOf } from './board-profile.ts';
import type { BoardOutput } from './board-types.ts';

/** Samples of all signals and relays in one poll's range; `values` null = none of them is known. */
export function decodePoll(
  profile: BoardProfile,
  name: string,
  read: { readonly values: readonly number[] | null; readonly atMs: number },
): readonly BoardOutput[] {
  const { atMs } = read;
  const first = profile.polls[name]?.first ?? 0;
  const at = (address: number) => read.values?.[address - first] ?? null;
  const outputs: BoardOutput[] = [];
  const pick = <Signal extends { poll: string }, Value>(
    table: Readonly<Record<string, Signal | undefined>>,
    decode: (signal: Signal) => Value,
  ): Record<string, Value> | null => {
    const own = Object.entries(table).flatMap(([key, signal]) =>
      signal?.poll === name ? [[key, decode(signal)] as const] : [],
    );
    return own.length === 0 ? null : Object.fromEntries(own);
  };
  const inputs = pick(profile.inputs, (signal) => bitOf(at(signal.address)));
  if (inputs !== null) outputs.push({ kind: 'inputs', atMs, values: inputs });
  const analogs = pick(profile.analogs, (signal) => {
    const raw = at(signal.address);
    return raw === null ? null : analogValue(signal, raw);
  });
  if (analogs !== null) outputs.push({ kind: 'analogs', atMs, values: analogs });
  const relays = pick(Object.fromEntries(wiringsOf(profile)), (relay) =>
    decodeRelay(relay, at(readAddress(relay))),
  );
  if (relays !== null) outputs.push({ kind: 'relays', atMs, values: relays });
  return outputs;
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
