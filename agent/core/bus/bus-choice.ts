// One value for each name out of the slots of all senders: the first signal of the table that counts, of the lowest address.
// States on which senders disagree, and counters with a silent sender, have no value.
import { type BusValue, isCurrent } from './bus-reading.ts';
import { type CounterSenders, isOfOther } from './counter-senders.ts';

/** States, of which no sender is better than another. */
const stateNames: readonly BusValue['name'][] = ['parkingBrake', 'brake'];

/**
 * The values that count now, by name, in the order of the table. `values` is in that order.
 * @param senders of counters that were reported.
 */
export function chooseValues(
  values: readonly BusValue[],
  nowMs: number,
  senders: CounterSenders = {},
): ReadonlyMap<BusValue['name'], BusValue> {
  const chosen = new Map<BusValue['name'], BusValue>();
  const disputed = new Set<BusValue['name']>();
  for (const one of values) {
    if (!isCurrent(one, nowMs) || isOfOther(one, senders)) continue;
    const other = chosen.get(one.name);
    if (other === undefined) chosen.set(one.name, one);
    else if (stateNames.includes(one.name) && other.value !== one.value) disputed.add(one.name);
  }
  for (const name of disputed) chosen.delete(name);
  return chosen;
}
