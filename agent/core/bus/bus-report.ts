// Chooses the bus values that a position event carries as attributes: each after a change beyond its dead band, or after an hour,
// and at most one set a minute to limit data cost. Unknown values are left out.
import type { BusValueName } from '../../../src/core/events/bus-values.ts';
import type { AttributeValue } from '../../../src/core/events/event.ts';
import { chooseValues } from './bus-choice.ts';
import type { BusReading, BusValue } from './bus-reading.ts';
import { type CounterSenders, counterNames, senderOf, watchSenders } from './counter-senders.ts';

export const reportLimits = {
  /** Between two sets of attributes, ms. */
  everyMs: 60_000,
  /** A value that does not change is sent again after this long. */
  againMs: 3_600_000,
  /** Trouble codes in one text, most of them. */
  codes: 12,
} as const;

export interface BusAttribute {
  readonly attribute: BusValueName;
  readonly of: BusValue['name'];
  /** Decimals of the value as it is sent; null: a state that is true or false. */
  readonly decimals: number | null;
  /** The least change that is sent. */
  readonly deadBand: number;
}

/** Attributes that are one signal of the bus, in its unit. */
export const busAttributes: readonly BusAttribute[] = [
  { attribute: 'busSpeed', of: 'speed', decimals: 1, deadBand: 5 },
  { attribute: 'tachographSpeed', of: 'tachographSpeed', decimals: 1, deadBand: 5 },
  { attribute: 'rpm', of: 'rpm', decimals: 0, deadBand: 200 },
  { attribute: 'parkingBrake', of: 'parkingBrake', decimals: null, deadBand: 1 },
  { attribute: 'busOdometer', of: 'odometer', decimals: 1, deadBand: 1 },
  { attribute: 'engineHours', of: 'engineHours', decimals: 1, deadBand: 0.1 },
  { attribute: 'busFuelLevel', of: 'fuelLevel', decimals: 1, deadBand: 2 },
  { attribute: 'fuelRate', of: 'fuelRate', decimals: 1, deadBand: 5 },
  { attribute: 'fuelUsed', of: 'fuelUsed', decimals: 1, deadBand: 1 },
  { attribute: 'coolant', of: 'coolant', decimals: 0, deadBand: 5 },
  { attribute: 'vehicleVolts', of: 'batteryVolts', decimals: 1, deadBand: 0.5 },
  { attribute: 'driver1State', of: 'driver1State', decimals: 0, deadBand: 1 },
  { attribute: 'driver2State', of: 'driver2State', decimals: 0, deadBand: 1 },
];

/** Attributes that are texts: vehicle identification number, driver cards, active trouble codes as `SPN/FMI`. */
export const busTexts = ['vin', 'driverCard1', 'driverCard2', 'dtcs'] as const;

const codesText = (codes: readonly string[]): string =>
  [...new Set(codes)].sort().slice(0, reportLimits.codes).join(' ');

/** Last sent value and time of each attribute, monotonic ms. */
export interface BusReportState {
  readonly sent: Readonly<Record<string, { readonly value: AttributeValue; readonly atMs: number }>>;
  readonly sentMs: number;
  /** Survive restarts. */
  readonly senders: CounterSenders;
}

/** @param senders as they are kept. */
export const createBusReport = (senders: CounterSenders = {}): BusReportState => ({
  sent: {},
  sentMs: Number.NEGATIVE_INFINITY,
  senders,
});

type Attributes = Partial<Record<BusValueName, AttributeValue>>;

type Chosen = ReturnType<typeof chooseValues>;

/** The values that count now, as attributes. */
function attributesOf({ view }: BusReading, chosen: Chosen): Attributes {
  const known: Attributes = {};
  for (const { attribute, of, decimals } of busAttributes) {
    const value = chosen.get(of)?.value ?? null;
    if (value === null) continue;
    known[attribute] = decimals === null ? value === 1 : Math.round(value * 10 ** decimals) / 10 ** decimals;
  }
  if (view.vin !== null) known.vin = view.vin.value;
  // Empty: there is no card in the slot.
  const [first, second] = view.driverCards?.value ?? [];
  if (first !== undefined) known.driverCard1 = first ?? '';
  if (second !== undefined) known.driverCard2 = second ?? '';
  if (view.troubleCodes.length > 0) {
    const codes = view.troubleCodes.flatMap(({ value }) => value.map(({ spn, fmi }) => `${spn}/${fmi}`));
    known.dtcs = codesText(codes);
  }
  return known;
}

function isChanged(name: string, value: AttributeValue, before: AttributeValue): boolean {
  const band = busAttributes.find(({ attribute }) => attribute === name)?.deadBand ?? 0;
  return typeof value === 'number' && typeof before === 'number'
    ? Math.abs(value - before) >= band - 1e-9
    : value !== before;
}

/** The sender of a counter is the one that is reported first. */
function withReported(senders: CounterSenders, chosen: Chosen): CounterSenders {
  const fresh = counterNames.flatMap((name) => {
    const one = chosen.get(name);
    return one === undefined || senders[name] !== undefined
      ? []
      : [[name, { by: senderOf(one), absentS: 0 }] as const];
  });
  return fresh.length === 0 ? senders : { ...senders, ...Object.fromEntries(fresh) };
}

/**
 * The attributes of the next position event.
 * @returns null when there is nothing to send.
 */
export function stepBusReport(
  state: BusReportState,
  reading: BusReading,
  nowMs: number,
): { readonly state: BusReportState; readonly attributes: Readonly<Attributes> } | null {
  if (nowMs - state.sentMs < reportLimits.everyMs) return null;
  const { values } = reading.view;
  const watched = watchSenders(state.senders, values, { nowMs, sinceMs: nowMs - state.sentMs });
  const chosen = chooseValues(values, nowMs, watched);
  const senders = withReported(watched, chosen);
  const due = Object.entries(attributesOf(reading, chosen)).filter(([name, value]) => {
    const before = state.sent[name];
    return (
      before === undefined ||
      nowMs - before.atMs >= reportLimits.againMs ||
      isChanged(name, value, before.value)
    );
  });
  if (due.length === 0) return null;
  const sent = { ...state.sent };
  for (const [name, value] of due) sent[name] = { value, atMs: nowMs };
  return { state: { sent, sentMs: nowMs, senders }, attributes: Object.fromEntries(due) };
}
