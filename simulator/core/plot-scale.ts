// Axes of a plot: round numbers for what is measured, round times for when. Pure. A scale never cuts off what was measured.

export interface Tick {
  /** 0 at the beginning of the axis, 1 at its end. */
  readonly part: number;
  readonly label: string;
}

export interface Scale {
  readonly ticks: readonly Tick[];
  /** Where a value stands, 0 to 1. */
  place(value: number): number;
}

/** A number as a person reads it: three digits, thousands apart. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

const clamp = (part: number): number => Math.min(1, Math.max(0, part));
const steps = [1, 2, 2.5, 5, 10] as const;

/** From 0 to a round number at or above `most`, in about four steps. */
export function linearScale(most: number): Scale {
  const rough = Math.max(most, 1e-6) / 4;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = (steps.find((one) => one * decade >= rough * 0.999_999) ?? 10) * decade;
  const top = step * Math.max(1, Math.ceil((most / step) * 0.999_999));
  const count = Math.round(top / step);
  return {
    ticks: Array.from({ length: count + 1 }, (_, at) => ({
      part: at / count,
      label: formatNumber(at * step),
    })),
    place: (value) => clamp(value / top),
  };
}

/** Powers of ten that take in everything from `least` to `most`; both above 0. */
export function logScale(least: number, most: number): Scale {
  const low = Math.floor(Math.log10(Math.max(1e-3, least)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(1e-3, most)) - 1e-9));
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, at) => ({
      part: at / (high - low),
      label: formatNumber(10 ** (low + at)),
    })),
    place: (value) => clamp((Math.log10(Math.max(1e-9, value)) - low) / (high - low)),
  };
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const timeSteps = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  day,
];

const two = (value: number): string => String(value).padStart(2, '0');

/** A moment of a run: `1:05`, `2:03:00`, `3 d 04:00`. @param ms since its start. */
export function formatMoment(ms: number): string {
  const seconds = Math.round(ms / second);
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60] as const;
  if (ms >= day) return `${Math.floor(ms / day)} d ${two(clock[0])}:${two(clock[1])}`;
  if (ms >= hour) return `${clock[0]}:${two(clock[1])}:${two(clock[2])}`;
  return `${clock[1]}:${two(clock[2])}`;
}

/** From the start of a run to its end, in at most nine steps. */
export function timeScale(endMs: number): Scale {
  const end = Math.max(second, endMs);
  const step = timeSteps.find((one) => end / one <= 9) ?? Math.ceil(end / 9 / day) * day;
  return {
    ticks: Array.from({ length: Math.floor(end / step) + 1 }, (_, at) => ({
      part: (at * step) / end,
      label: formatMoment(at * step),
    })),
    place: (ms) => clamp(ms / end),
  };
}
