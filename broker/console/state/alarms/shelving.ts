// For how long an alarm can be shelved. Pure.

/** Minutes; the service takes at most a day. */
const lengths = ['15', '60', '240', '480', '1440'] as const;
type Length = (typeof lengths)[number];

/** The length that was chosen last first, then the others. @param last null: none was. */
export function lengthsFrom(last: string | null): readonly [Length, ...Length[]] {
  const [shortest, ...longer] = lengths;
  const first = lengths.find((one) => one === last) ?? shortest;
  return [first, ...[shortest, ...longer].filter((one) => one !== first)];
}
