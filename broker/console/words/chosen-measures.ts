// Units, clock and zone of this reader: those chosen, else as the region of the browser's language has them.
import { isClock, isSystem, isZone, type Measures, measuresOf } from '../state/account/measures.ts';
import { measures, ownZone } from './measures.ts';
import { words } from './word-set.ts';

const key = 'fleetward.measures';

/** What was chosen; a member that is null was not. */
type ChosenMeasures = { readonly [K in keyof Measures]: Measures[K] | null };

function kept(): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}') as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Takes over what this reader has. */
export function beginMeasures(): void {
  const own = measuresOf(navigator.language);
  const { system, clock, zone } = kept();
  measures.set({
    system: isSystem(system) ? system : own.system,
    clock: isClock(clock) ? clock : own.clock,
    zone: isZone(zone) && zone !== ownZone() ? zone : null,
  });
}

/** What shows words shows numbers and times too, so all of it is drawn again. */
export function chooseMeasures(of: ChosenMeasures): void {
  localStorage.setItem(key, JSON.stringify(of));
  beginMeasures();
  words.set({ ...words.get() });
}
