// The inputs of the board as they are read now: name, raw bits and meaning, the wires that prove others included. Pure.
import { decodeLife, decodePoll } from '../core/board/board-decode.ts';
import type { BoardProfile } from '../core/board/board-profile.ts';

type Bit = 0 | 1 | null;

export interface InputSight {
  /** The name of an input, `life` or `loopback`. */
  readonly input: string;
  /** What the input means by the profile: inversion, off contact and life input included, debouncing not. */
  readonly reading: 'on' | 'off' | 'unknown';
  /** As on the wire; `off` is the off contact of ignition; null: no bit. */
  readonly raw: { readonly bit: Bit; readonly off?: Bit };
}

/** The answer to one poll; `values` null: none. `life`: what the life input read, where another poll has it. */
interface Answer {
  readonly values: readonly number[] | null;
  readonly life: boolean | null;
}

const readingOf = (on: boolean | null): InputSight['reading'] =>
  on === null ? 'unknown' : on ? 'on' : 'off';

/** Polls that have inputs, that of the life input first: what it says counts for the others. */
export function inputPolls(profile: BoardProfile): readonly string[] {
  const { inputs, life, loopback, polls } = profile;
  const used = [...Object.values(inputs), life, loopback?.input].map((place) => place?.poll);
  const named = Object.keys(polls).filter((name) => used.includes(name));
  return named.sort((one, other) => Number(other === life?.poll) - Number(one === life?.poll));
}

/** What the life input reads, after the answer to this poll. */
export function lifeAfter(profile: BoardProfile, poll: string, { values, life }: Answer): boolean | null {
  return profile.life?.poll === poll ? decodeLife(profile, poll, values) : life;
}

/** Every input in one poll, in the order of the profile. */
export function sightsOf(profile: BoardProfile, poll: string, answer: Answer): readonly InputSight[] {
  const { values, life } = answer;
  const first = profile.polls[poll]?.first ?? 0;
  const bit = (address: number): Bit => {
    const raw = values?.[address - first];
    return raw === 0 || raw === 1 ? raw : null;
  };
  const sights: InputSight[] = [];
  for (const output of decodePoll(profile, poll, { values, atMs: 0, life })) {
    if (output.kind === 'loopback' && profile.loopback !== undefined)
      sights.push({
        input: 'loopback',
        reading: readingOf(output.on),
        raw: { bit: bit(profile.loopback.input.address) },
      });
    if (output.kind !== 'inputs') continue;
    for (const [input, value] of Object.entries(output.values)) {
      const signal = profile.inputs[input as keyof typeof output.values];
      if (signal === undefined) continue;
      const on = value === null || value === undefined ? null : value !== signal.invert;
      const off = input === 'ignition' ? profile.inputs.ignition?.off : undefined;
      const raw = { bit: bit(signal.address), ...(off === undefined ? {} : { off: bit(off.address) }) };
      sights.push({ input, reading: readingOf(on), raw });
    }
  }
  if (profile.life?.poll === poll)
    sights.push({
      input: 'life',
      reading: readingOf(decodeLife(profile, poll, values)),
      raw: { bit: bit(profile.life.address) },
    });
  return sights;
}

const bitText = (bit: Bit): string => (bit === null ? 'none' : String(bit));

/** Raw bits as text. */
export function rawText({ raw }: InputSight): string {
  return raw.off === undefined
    ? `bit ${bitText(raw.bit)}`
    : `on contact ${bitText(raw.bit)}, off contact ${bitText(raw.off)}`;
}
