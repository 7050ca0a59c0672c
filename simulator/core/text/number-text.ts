// Numbers, counts and moments as text: "1 fault", "2 faults", "12,500", "1:05". Pure.

/** Three significant digits, with separators of thousands. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

const nounOf = (count: number, one: string, many: string): string => (count === 1 ? one : many);

/** In plain digits, for logs and terminals. @param many where it is not `one` with an s. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${nounOf(count, one, many)}`;

/** With separators of thousands, for reports. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${nounOf(count, one, many)}`;

const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;

const two = (value: number): string => String(value).padStart(2, '0');

/** A moment of a run: `1:05`, `2:03:00`, `3 d 04:00`. @param ms since its start. */
export function formatMoment(ms: number): string {
  const seconds = Math.round(ms / second);
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60] as const;
  if (ms >= day) return `${Math.floor(ms / day)} d ${two(clock[0])}:${two(clock[1])}`;
  if (ms >= hour) return `${clock[0]}:${two(clock[1])}:${two(clock[2])}`;
  return `${clock[1]}:${two(clock[2])}`;
}
