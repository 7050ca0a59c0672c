// Texts and lists of a J1939 bus: vehicle identification (VI), driver cards (DI) and active trouble codes (DM1). What is not sound gives null.

export const textGroups = { vehicleId: 65_260, driverId: 65_131, troubleCodes: 65_226 } as const;

/** Trouble codes that are kept of one message. */
export const troubleCodesMost = 20;
const cardCharacters = 40;

/** ISO 3779: 17 characters without I, O and Q. */
const vinPattern = /^[A-HJ-NPR-Z0-9]{17}$/;

const isFilling = (byte: number): boolean => byte === 0x00 || byte === 0xff;

/** The characters of a field up to its `*`, without what fills it before and behind; null when one of them is not printable. */
function fieldOf(data: Uint8Array): string | null {
  const end = data.indexOf(0x2a);
  const field = end < 0 ? data : data.subarray(0, end);
  const text = field.subarray(
    field.findIndex((byte) => !isFilling(byte)),
    field.findLastIndex((byte) => !isFilling(byte)) + 1,
  );
  return text.every((byte) => byte >= 0x20 && byte <= 0x7e) ? String.fromCharCode(...text).trim() : null;
}

/** A vehicle identification number, or null when the text is none: padding, placeholders, another length. */
export function parseVin(data: Uint8Array): string | null {
  const text = fieldOf(data) ?? '';
  const isPlaceholder = new Set(text).size <= 2;
  return vinPattern.test(text) && !isPlaceholder ? text : null;
}

/** Null: no card in the slot. Undefined: not told (filled with FF, "not available"). */
export type DriverCard = string | null | undefined;

/** Numbers of the driver cards in slots 1 and 2 (DI: `card 1 * card 2 *`). Null: no sound text. */
export function parseDriverCards(data: Uint8Array): readonly [DriverCard, DriverCard] | null {
  const end = data.indexOf(0x2a);
  if (end < 0) return null;
  const slots = [data.subarray(0, end), data.subarray(end + 1)] as const;
  const [first, second] = [fieldOf(slots[0]), fieldOf(slots[1])];
  if (first === null || second === null) return null;
  const cardOf = (card: string, slot: Uint8Array): DriverCard =>
    card !== '' ? card.slice(0, cardCharacters) : slot[0] === 0xff ? undefined : null;
  return [cardOf(first, slots[0]), cardOf(second, slots[1])];
}

export interface TroubleCode {
  readonly spn: number;
  /** Failure mode identifier, 0 to 31. */
  readonly fmi: number;
  /** How often it occurred, 0 to 126; null: not known. */
  readonly count: number | null;
}

/** Active trouble codes of a DM1; an empty list: none is active. Null: no sound message. */
export function parseTroubleCodes(data: Uint8Array): readonly TroubleCode[] | null {
  if (data.length < 6) return null;
  const codes: TroubleCode[] = [];
  for (let at = 2; at + 4 <= data.length && codes.length < troubleCodesMost; at += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = data.subarray(at, at + 4);
    const spn = a + 256 * b + 65_536 * (c >>> 5);
    const isFilling = (a & b & c & d) === 0xff || spn === 0x7ffff;
    // SPN 0 with FMI 0 says that there is none.
    if (isFilling || spn === 0) continue;
    const count = d & 0x7f;
    codes.push({ spn, fmi: c & 0x1f, count: count === 0x7f ? null : count });
  }
  return codes;
}
