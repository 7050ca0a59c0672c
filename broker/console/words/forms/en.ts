// Forms and dialogs in English.
import type { Widened } from '../base/catalogue.ts';

export const formTexts = {
  forms: {
    failed: 'Not done',
    copy: 'Copy',
    copied: 'Copied',
    copyOf: (name: string) => `Copy: ${name}`,
    once: 'It is shown this once. The service keeps no copy that can be read',
    saved: 'Saved',
    change: 'Save changes',
    unchanged: 'Nothing was changed yet',
    idHint: '1 to 64 letters, digits, _ or -. It cannot be changed later',
    idWrong: 'Use 1 to 64 of A-Z, a-z, 0-9, _ and -',
  },
};

export type FormTexts = Widened<typeof formTexts>;
