// La page sans réseau en français.
import { counterOf, formatNumber } from '../base/format.ts';
import type { OfflineTexts } from './en.ts';

const many = counterOf('fr');
const n = (value: number): string => formatNumber(value, 'fr');

export const offlineTexts: OfflineTexts = {
  offline: {
    title: 'Hors ligne',
    asOf: (time) => `Hors ligne, état de ${time}`,
    ageUnknown: 'Âge inconnu : l’horloge de cet appareil a été reculée',
    again: 'Le service ne répond pas. Un nouvel essai se fait tout seul',
    asking: 'Le service est interrogé',
    tryNow: 'Essayer maintenant',
    remove: 'Retirer l’image de cet appareil',
    none: 'Aucune image de la flotte ne peut être montrée',
    noneHint:
      'Aucune n’est gardée sur cet appareil pour vous, elle a plus de 24 heures, ou un autre utilisateur s’est connecté depuis. Compte et préférences offre le choix de la garder',
    noCommands:
      'C’est la dernière image gardée. D’ici, rien ne peut être demandé à un véhicule, pas même un rétablissement',
    vehicles: (count) => many(count, 'véhicule', 'véhicules'),
    noVehicles: 'L’image n’a aucun véhicule',
    shown: (shown, all) => `Les ${n(shown)} plus urgents sur ${n(all)} ont été gardés`,
    was: {
      moving: 'roulait',
      standing: 'était à l’arrêt',
      unknown: 'vitesse était inconnue',
      offline: 'était hors ligne',
      doubtful: 'position était douteuse',
    },
    map: 'Carte de la dernière image ; la liste dessous contient la même chose',
    noMap: 'La carte a besoin de WebGL, que ce navigateur n’offre pas. La liste contient la même chose',
    zoomIn: 'Agrandir',
    zoomOut: 'Réduire',
    fit: 'Montrer tous les véhicules',
  },
};
