// The console's part of the preferences that the service keeps for a user. Other apps keep theirs beside it. Pure.
import { type Clock, isClock, isSystem, isZoneChoice, type System, type ZoneChoice } from './measures.ts';

/** Preferences of the console; null: each browser decides by itself. */
export interface ConsolePreferences {
  readonly language: string | null;
  readonly theme: string | null;
  /** Whether single keys are shortcuts. */
  readonly singleKeys: boolean | null;
  /** Units of lengths, speeds and volumes. */
  readonly system: System | null;
  readonly clock: Clock | null;
  /** Whose zone times are in. */
  readonly zone: ZoneChoice | null;
}

type Saved = Readonly<Record<string, unknown>>;

/** Member of the preferences that is the console's. */
const member = 'console';

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** @param saved as the service has it; what another program wrote there wrongly counts as not kept. */
export function preferencesOf(saved: Saved): ConsolePreferences {
  const own = saved[member];
  const { language, theme, singleKeys, system, clock, zone } = (
    typeof own === 'object' && own !== null ? own : {}
  ) as Saved;
  return {
    language: textOf(language),
    theme: textOf(theme),
    singleKeys: typeof singleKeys === 'boolean' ? singleKeys : null,
    system: isSystem(system) ? system : null,
    clock: isClock(clock) ? clock : null,
    zone: isZoneChoice(zone) ? zone : null,
  };
}

/** The same with the console's part replaced; members that are null are left out. */
export function withPreferences(saved: Saved, kept: ConsolePreferences): Record<string, unknown> {
  const own = Object.entries(kept).filter(([, value]) => value !== null);
  return { ...saved, [member]: Object.fromEntries(own) };
}
