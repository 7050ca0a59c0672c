// That the service has another build of the console, in French.
import type { ReleaseTexts } from './en.ts';

export const releaseTexts: ReleaseTexts = {
  release: {
    title: 'La console a une nouvelle version',
    hint: 'Cet onglet utilise encore la précédente. Terminez ce que vous écrivez, puis rechargez',
    loadAgain: 'Recharger',
  },
};
