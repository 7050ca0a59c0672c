// Counters of the vehicle bus over a trip: what the vehicle itself counted, beside what its positions show. Pure.

/** Totals of a vehicle; null: not known. */
export interface BusCounters {
  /** km. */
  readonly odometer: number | null;
  /** L. */
  readonly fuelUsed: number | null;
  /** h. */
  readonly engineHours: number | null;
}

/** What was counted from one moment to another; null: not known at both, or not possible. */
export interface BusSums {
  readonly distanceKm: number | null;
  readonly fuelL: number | null;
  readonly engineH: number | null;
}

/** Of which attribute of an event each counter is. */
const attributes = {
  odometer: 'busOdometer',
  fuelUsed: 'fuelUsed',
  engineHours: 'engineHours',
} as const satisfies Readonly<Record<keyof BusCounters, string>>;

const isNamed = (text: string): boolean =>
  Object.values(attributes).some((name) => text.includes(`"${name}"`));

/** The counters in the JSON of an event's attributes; null: there is none. Most events have none, and are not parsed. */
export function countersOf(
  text: string | null,
  parse: () => Readonly<Record<string, unknown>> | null,
): BusCounters | null {
  if (text === null || !isNamed(text)) return null;
  const values = parse() ?? {};
  const total = (name: string): number | null => {
    const value = values[name];
    return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
  };
  return {
    odometer: total(attributes.odometer),
    fuelUsed: total(attributes.fuelUsed),
    engineHours: total(attributes.engineHours),
  };
}

/** A total, and when it was reported. */
interface Reported {
  readonly value: number;
  readonly atMs: number;
}

/** The newest of each counter at a place of the way. */
export type KnownCounters = Readonly<Record<keyof BusCounters, Reported | null>>;

const names = Object.keys(attributes) as readonly (keyof BusCounters)[];

export const noCounters: KnownCounters = { odometer: null, fuelUsed: null, engineHours: null };

const mapCounters = (of: (name: keyof BusCounters) => Reported | null): KnownCounters => {
  const known: { -readonly [Name in keyof KnownCounters]: KnownCounters[Name] } = { ...noCounters };
  for (const name of names) known[name] = of(name);
  return known;
};

const reported = (value: number | null, atMs: number): Reported | null =>
  value === null ? null : { value, atMs };

/** Older ones count no more: a report reads a day before its period, and must not depend on where that begins. */
const staleMs = 12 * 3_600_000;
/** A bus that slept reports its counters so long after a start at the latest. */
const wakesMs = 600_000;

/** What is known at `nowMs`, after what an event says. */
export const laterCounters = (
  before: KnownCounters,
  fresh: BusCounters | null,
  nowMs: number,
): KnownCounters =>
  fresh === null && before === noCounters
    ? before
    : mapCounters((name) => {
        const known = before[name];
        const kept = known !== null && nowMs - known.atMs > staleMs ? null : known;
        return reported(fresh?.[name] ?? null, nowMs) ?? kept;
      });

/** The counters at a start at `startMs`: one that was not known then is that of the first report after it. */
export const startCounters = (
  atStart: KnownCounters,
  fresh: BusCounters,
  { startMs, nowMs }: { readonly startMs: number; readonly nowMs: number },
): KnownCounters =>
  nowMs - startMs > wakesMs ? atStart : mapCounters((name) => atStart[name] ?? reported(fresh[name], nowMs));

/** More than a vehicle can count in an hour, and what a counter may catch up with: it is reported in steps, and up to a minute late. */
const most = {
  odometer: { perHour: 250, atOnce: 5 },
  fuelUsed: { perHour: 250, atOnce: 5 },
  engineHours: { perHour: 1, atOnce: 0.2 },
} as const satisfies Readonly<Record<keyof BusCounters, object>>;

/** What was counted. A counter that went back or leapt, as when another unit of the vehicle sends it, has counted nothing that is known. */
export function busSums(start: KnownCounters, end: KnownCounters, spanMs: number): BusSums {
  const counted = (name: keyof BusCounters, decimals: number): number | null => {
    const [from, to] = [start[name], end[name]];
    if (from === null || to === null) return null;
    const { perHour, atOnce } = most[name];
    const grown = to.value - from.value;
    const isPossible = grown >= 0 && grown <= (perHour * spanMs) / 3_600_000 + atOnce;
    return isPossible ? Number(grown.toFixed(decimals)) : null;
  };
  return {
    distanceKm: counted('odometer', 3),
    fuelL: counted('fuelUsed', 1),
    engineH: counted('engineHours', 2),
  };
}
