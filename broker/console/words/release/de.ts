// That the service has another build of the console, in German.
import type { ReleaseTexts } from './en.ts';

export const releaseTexts: ReleaseTexts = {
  release: {
    title: 'Die Konsole hat einen neuen Stand',
    hint: 'Dieser Tab läuft noch mit dem vorigen. Beenden Sie, was Sie gerade schreiben, und laden Sie dann neu',
    loadAgain: 'Neu laden',
  },
};
