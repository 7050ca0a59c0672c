// Forms and dialogs in German.
import type { FormTexts } from './en.ts';

export const formTexts: FormTexts = {
  forms: {
    failed: 'Nicht ausgeführt',
    copy: 'Kopieren',
    copied: 'Kopiert',
    copyOf: (name) => `Kopieren: ${name}`,
    once: 'Nur dieses eine Mal zu sehen. Der Dienst behält nichts, was sich wieder lesen ließe',
    saved: 'Gespeichert',
    change: 'Änderungen speichern',
    unchanged: 'Noch nichts geändert',
    idHint: '1 bis 64 Buchstaben, Ziffern, _ oder -. Später nicht mehr zu ändern',
    idWrong: 'Erlaubt sind 1 bis 64 Zeichen aus A-Z, a-z, 0-9, _ und -',
  },
};
