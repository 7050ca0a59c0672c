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
    safe: {
      enginecutoff: {
        done: (vehicle) => `${vehicle} rétabli`,
        doneHint: 'Le relais a été relu fermé',
        notDone: (vehicle) => `Le rétablissement de ${vehicle} n’a pas abouti`,
      },
      cargoaccess: {
        done: (vehicle) => `Cargaison de ${vehicle} verrouillée`,
        doneHint: 'Le verrou a été relu fermé',
        notDone: (vehicle) => `Le verrouillage de la cargaison de ${vehicle} n’a pas abouti`,
      },
    },
    ends: {
      enginecutoff: {
        confirmed: (vehicle) => `Moteur de ${vehicle} coupé`,
        refused: (vehicle) => `Coupure de ${vehicle} refusée`,
        expired: (vehicle) => `Coupure de ${vehicle} expirée`,
        unknown: (vehicle) => `Issue de la coupure de ${vehicle} inconnue`,
      },
      cargoaccess: {
        confirmed: (vehicle) => `Cargaison de ${vehicle} déverrouillée`,
        refused: (vehicle) => `Déverrouillage de ${vehicle} refusé`,
        expired: (vehicle) => `Déverrouillage de ${vehicle} expiré`,
        unknown: (vehicle) => `Issue du déverrouillage de ${vehicle} inconnue`,
      },
    },
    endHints: {
      confirmed: 'Le véhicule a relu son relais',
      refused: 'Ouvrez la commande pour voir la raison',
      expired: 'Rien n’a été fait, et rien n’est répété automatiquement',
      unknown: 'Regardez ce que signale le véhicule',
    },
    toOrder: 'Voir la commande',
    notDoneHint: 'Ouvrez le véhicule pour voir la raison et ce qu’il faut faire',
    toVehicle: 'Ouvrir le véhicule',
  },
};
