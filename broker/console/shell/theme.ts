// The theme of this computer: light, dark, night, or as the system says.
import { createValue } from '../state/value.ts';

export const themes = ['system', 'light', 'dark', 'night'] as const;
export type Theme = (typeof themes)[number];

const key = 'fleetward.theme';
export const isTheme = (text: unknown): text is Theme => themes.some((theme) => theme === text);

const stored = localStorage.getItem(key);
export const theme = createValue<Theme>(isTheme(stored) ? stored : 'system');

function show(wanted: Theme): void {
  if (wanted === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = wanted;
}
show(theme.get());

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

function drawn(): Exclude<Theme, 'system'> {
  const chosen = theme.get();
  if (chosen !== 'system') return chosen;
  return systemIsDark.matches ? 'dark' : 'light';
}

/** The theme that is drawn, for what does not follow the style sheet by itself: maps and plots. */
export const shownTheme = createValue(drawn());
theme.subscribe(() => shownTheme.set(drawn()));
systemIsDark.addEventListener('change', () => shownTheme.set(drawn()));

export function chooseTheme(wanted: Theme): void {
  localStorage.setItem(key, wanted);
  show(wanted);
  theme.set(wanted);
}
