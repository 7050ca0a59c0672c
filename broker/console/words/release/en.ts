// That the service has another build of the console, in English.
import type { Widened } from '../base/catalogue.ts';

export const releaseTexts = {
  release: {
    title: 'The console has a new release',
    hint: 'This tab still runs the one before. Finish what you are writing, then load it again',
    loadAgain: 'Load again',
  },
} as const;

export type ReleaseTexts = Widened<typeof releaseTexts>;
