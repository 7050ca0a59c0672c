// The console's part of the preferences that the service keeps for a user. Other apps keep theirs beside it. Pure.

/** Preferences of the console; null: each browser decides by itself. */
export interface ConsolePreferences {
  readonly language: string | null;
  readonly theme: string | null;
  /** Whether single keys are shortcuts. */
  readonly singleKeys: boolean | null;
}

type Saved = Readonly<Record<string, unknown>>;

/** Member of the preferences that is the console's. */
const member = 'console';

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** @param saved as the service has it; what another program wrote there wrongly counts as not kept. */
export function preferencesOf(saved: Saved): ConsolePreferences {
  const own = saved[member];
  const { language, theme, singleKeys } = (typeof own === 'object' && own !== null ? own : {}) as Saved;
  return {
    language: textOf(language),
    theme: textOf(theme),
    singleKeys: typeof singleKeys === 'boolean' ? singleKeys : null,
  };
}

/** The same with the console's part replaced; members that are null are left out. */
export function withPreferences(saved: Saved, kept: ConsolePreferences): Record<string, unknown> {
  const own = Object.entries(kept).filter(([, value]) => value !== null);
  return { ...saved, [member]: Object.fromEntries(own) };
}
