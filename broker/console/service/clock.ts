// The clock of the service, by the times of its answers: alarms, records and orders are dated by it, and this computer's clock may be wrong.
import { skewOf } from '../state/shares/shared-view.ts';
import { createValue } from '../state/value.ts';

/** The clocks are compared to the second, s. */
const clockFaultS = 2;

/** Clock of the service minus clock of this computer, s: televisions are set wrong often. */
export const skewS = createValue(0);

/** @param date header of an answer that has just come. */
export function compareClocks(date: string | null): void {
  const found = skewOf(date, Date.now());
  if (date === null || Math.abs(found - skewS.get()) <= clockFaultS) return;
  skewS.set(Math.abs(found) <= clockFaultS ? 0 : found);
}

/** Now by the clock of the service, epoch seconds. */
export const serviceNowS = (): number => Math.floor(Date.now() / 1000) + skewS.get();
