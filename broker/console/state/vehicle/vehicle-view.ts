// Tabs and filters of a vehicle's screen in the address. Pure.

export const vehicleTabs = [
  'now',
  'events',
  'trips',
  'commands',
  'health',
  'messages',
  'audit',
  'device',
] as const;
export const ranges = ['hour', 'day', 'week', 'month'] as const;
export const eventKinds = ['all', 'changes', 'alarms'] as const;

export type VehicleTab = (typeof vehicleTabs)[number];
export type Range = (typeof ranges)[number];
export type EventKind = (typeof eventKinds)[number];

/** Seconds of each period. */
export const rangeS: Readonly<Record<Range, number>> = {
  hour: 3600,
  day: 86_400,
  week: 7 * 86_400,
  month: 30 * 86_400,
};

/** The period of an address: the named range, or the one that holds a moment which an address names. */
export function rangeOf(range: Range | undefined, fromS: number | undefined, nowS: number): Range {
  if (range !== undefined) return range;
  if (fromS === undefined) return 'day';
  return ranges.find((one) => nowS - rangeS[one] < fromS) ?? 'month';
}
