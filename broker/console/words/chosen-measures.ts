// Units, clock and zone of this reader: those chosen, else as the region of the browser's language has them.
import { isClock, isSystem, isZone, type Measures, measuresOf } from '../state/account/measures.ts';
import { measures, ownZone } from './measures.ts';
import { words } from './word-set.ts';

const key = 'fleetward.measures';

/** What was chosen; a member that is null was not. */
type ChosenMeasures = { readonly [K in keyof Measures]: Measures[K] | null };

function chosen(): ChosenMeasures {
  try {
    const { system, clock, zone } = JSON.parse(localStorage.getItem(key) ?? '{}') as Record<string, unknown>;
    return {
      system: isSystem(system) ? system : null,
      clock: isClock(clock) ? clock : null,
      zone: isZone(zone) ? zone : null,
    };
  } catch {
    return { system: null, clock: null, zone: null };
  }
}

/** Takes over what this reader has. */
export function beginMeasures(): void {
  const own = measuresOf(navigator.language);
  const { system, clock, zone } = chosen();
  measures.set({
    system: system ?? own.system,
    clock: clock ?? own.clock,
    zone: zone === ownZone() ? null : zone,
  });
}

/** What shows words shows numbers and times too, so all of it is drawn again. */
export function chooseMeasures(of: ChosenMeasures): void {
  localStorage.setItem(key, JSON.stringify(of));
  beginMeasures();
  words.set({ ...words.get() });
}
