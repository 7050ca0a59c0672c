// The colours of the tokens as the map takes them, in the theme that is shown.

import { type Colours, colourNames } from './vehicles/colour-names.ts';

/** @param host element of the page whose theme counts. */
export function coloursOf(host: HTMLElement): Colours {
  const probe = document.createElement('span');
  host.append(probe);
  const entries = colourNames.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  return Object.fromEntries(entries) as Colours;
}
