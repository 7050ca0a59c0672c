// Forms and dialogs in French.
import type { FormTexts } from './en.ts';

export const formTexts: FormTexts = {
  forms: {
    failed: 'Pas fait',
    copy: 'Copier',
    copied: 'Copié',
    copyOf: (name) => `Copier : ${name}`,
    once: 'Il n’est montré que cette fois. Le service n’en garde rien de lisible',
    saved: 'Enregistré',
    change: 'Enregistrer les modifications',
    unchanged: 'Rien n’a encore été modifié',
    idHint: '1 à 64 lettres, chiffres, _ ou -. Il ne peut plus être changé ensuite',
    idWrong: 'Utilisez 1 à 64 caractères parmi A-Z, a-z, 0-9, _ et -',
  },
};
