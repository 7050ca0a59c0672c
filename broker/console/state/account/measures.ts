// Units, clock and time zone in which a reader sees what the service has in km, km/h, metres, litres and epoch seconds. Pure.

export const systems = ['metric', 'us', 'uk'] as const;
export type System = (typeof systems)[number];

export const clocks = ['24', '12'] as const;
export type Clock = (typeof clocks)[number];

/** Whose zone times are in: of this computer, or of the account. */
export const zoneChoices = ['own', 'account'] as const;
export type ZoneChoice = (typeof zoneChoices)[number];

const isOf =
  <T extends string>(all: readonly T[]) =>
  (value: unknown): value is T =>
    all.some((one) => one === value);
export const isSystem = isOf(systems);
export const isClock = isOf(clocks);
export const isZoneChoice = isOf(zoneChoices);

export interface Measures {
  readonly system: System;
  readonly clock: Clock;
  /** IANA name; null: the zone of this computer. */
  readonly zone: string | null;
}

/** What the service has, by its unit. */
export type Quantity = 'km' | 'kmh' | 'm' | 'litres';
export type Unit = Quantity | 'mi' | 'mph' | 'ft' | 'gallons';

/** Exact by definition: international yard (1959), and the US gallon of 231 cubic inches. */
const kmInMile = 1.609344;
const metresInFoot = 0.3048;
const litresInGallon = 3.785411784;

type Scale = readonly [unit: Unit, size: number];
const miles = { km: ['mi', kmInMile], kmh: ['mph', kmInMile] } as const;
const scales: Readonly<Record<System, Partial<Readonly<Record<Quantity, Scale>>>>> = {
  metric: {},
  us: { ...miles, m: ['ft', metresInFoot], litres: ['gallons', litresInGallon] },
  uk: miles,
};

export const scaleOf = (quantity: Quantity, system: System): Scale =>
  scales[system][quantity] ?? [quantity, 1];

/** The unit in which a quantity is shown. */
export const unitOf = (quantity: Quantity, system: System): Unit => scaleOf(quantity, system)[0];

/** A value of the service in the unit of the reader. */
export const shownValue = (value: number, quantity: Quantity, system: System): number =>
  value / scaleOf(quantity, system)[1];

const ofRegion: Readonly<Record<string, System>> = { US: 'us', GB: 'uk' };

/**
 * Without a choice: as the region of the reader's language has it. A language without a region says nothing: metric, 24 hours.
 * @param tag BCP 47, as the browser names the reader's language.
 */
export function measuresOf(tag: string): Measures {
  const none: Measures = { system: 'metric', clock: '24', zone: null };
  try {
    const { region } = new Intl.Locale(tag);
    if (region === undefined) return none;
    const { hourCycle } = new Intl.DateTimeFormat(tag, { hour: 'numeric' }).resolvedOptions();
    const clock = hourCycle === 'h12' || hourCycle === 'h11' ? '12' : '24';
    return { ...none, system: ofRegion[region] ?? 'metric', clock };
  } catch {
    return none;
  }
}

/** Whether this platform knows a time zone. */
export function isZone(name: unknown): name is string {
  if (typeof name !== 'string' || !/^[A-Za-z]/.test(name)) return false;
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}
