// Counters of the bus stick to their sender. Two senders count from different moments (438,978 and 537,152 km on one truck), so
// another one is no substitute for a silent sender: the counter is left out, over restarts too. Only a sender that stays away
// while others count, as after a repair, is replaced.
import { type BusValue, isCurrent } from './bus-reading.ts';

export const counterNames = [
  'odometer',
  'engineHours',
  'fuelUsed',
] as const satisfies readonly BusValue['name'][];
export type CounterName = (typeof counterNames)[number];

/** Some weeks of driving, s. */
export const absentMostS = 100 * 3600;
/** Of the time between two looks no more counts: nothing was seen of the rest. */
const lookMostS = 120;

export interface CounterSender {
  /** Of `senderOf`. */
  readonly by: string;
  /** For so long another sender counted, and this one did not. */
  readonly absentS: number;
}

/** The sender of each counter that was reported. */
export type CounterSenders = Readonly<Partial<Record<CounterName, CounterSender>>>;

export const isCounter = (name: BusValue['name']): name is CounterName =>
  counterNames.some((one) => one === name);

/** A signal and its address, such as `917@0`. */
export const senderOf = ({ spn, source }: BusValue): string => `${spn}@${source}`;

/** True when another sender is chosen for this counter. */
export function isOfOther(one: BusValue, senders: CounterSenders): boolean {
  const kept = isCounter(one.name) ? senders[one.name] : undefined;
  return kept !== undefined && kept.by !== senderOf(one);
}

/** Reads a record of any origin; an invalid member counts as absent. */
export function parseCounterSenders(value: unknown): CounterSenders {
  if (typeof value !== 'object' || value === null) return {};
  const given = value as Readonly<Record<string, unknown>>;
  const entries = counterNames.flatMap((name) => {
    const { by, absentS } = (given[name] ?? {}) as Readonly<Record<string, unknown>>;
    const isSound = typeof by === 'string' && typeof absentS === 'number' && absentS >= 0;
    return isSound ? [[name, { by, absentS }] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** The senders after a look at all values, `sinceMs` after the one before. */
export function watchSenders(
  senders: CounterSenders,
  values: readonly BusValue[],
  { nowMs, sinceMs }: { readonly nowMs: number; readonly sinceMs: number },
): CounterSenders {
  const entries = Object.entries(senders).flatMap(([name, kept]) => {
    const current = values.filter((one) => one.name === name && isCurrent(one, nowMs)).map(senderOf);
    if (current.length === 0) return [[name, kept] as const];
    const lookS = Math.min(lookMostS, sinceMs / 1000);
    const absentS = current.includes(kept.by) ? 0 : Math.round(kept.absentS + lookS);
    return absentS >= absentMostS ? [] : [[name, { by: kept.by, absentS }] as const];
  });
  return Object.fromEntries(entries);
}
