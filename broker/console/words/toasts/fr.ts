// Toasts in French.
import { counterOf } from '../base/format.ts';
import type { ToastTexts } from './en.ts';

const many = counterOf('fr');

export const toastTexts: ToastTexts = {
  toasts: {
    back: 'La connexion est rétablie',
    backHint: 'Ce que vous voyez est de nouveau en direct',
    more: (count) => `et ${many(count, 'autre nouvelle alarme', 'autres nouvelles alarmes')}`,
    toAlarm: 'Voir l’alarme',
    restored: (vehicle) => `${vehicle} rétabli`,
    restoredHint: 'Le relais a été relu fermé',
    notRestored: (vehicle) => `Le rétablissement de ${vehicle} n’a pas abouti`,
    notRestoredHint: 'Ouvrez le véhicule pour voir la raison et ce qu’il faut faire',
    toVehicle: 'Ouvrir le véhicule',
  },
};
