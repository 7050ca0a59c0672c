// The routes in French.
import { counterOf } from '../base/format.ts';
import type { RouteTexts } from './en.ts';

const many = counterOf('fr');

export const routeTexts: RouteTexts = {
  routes: {
    list: 'Itinéraires par nom',
    find: 'Chercher un itinéraire dans la liste',
    new: 'Nouvel itinéraire',
    map: 'Carte des itinéraires ; la liste à côté contient la même chose',
    fit: 'Afficher l’itinéraire',
    empty: 'Pas encore d’itinéraires',
    emptyHint: 'Dessinez le premier : le chemin que des véhicules doivent suivre',
    noMatch: 'Aucun itinéraire ne correspond',
    missing: (name) => `Il n’y a pas d’itinéraire ${name}`,
    selected: (name) => `Itinéraire choisi : ${name}`,
    length: 'Longueur',
    planned: 'Prévu pour',
    plannedNone: 'Il n’est prévu pour aucun véhicule',
    plannedHint:
      'Jugé par le code des véhicules d’après la dernière position de chacun. Les véhicules n’ont pas les itinéraires : rien ne se passe quand l’un d’eux quitte le sien',
    vehicles: (count) => many(count, 'véhicule', 'véhicules'),
    keeps: { on: 'Sur l’itinéraire', off: 'Hors de l’itinéraire', unknown: 'Pas de position' },
    removeHint: 'Il est supprimé pour chaque véhicule pour lequel il est prévu. C’est irréversible',
    viewer:
      'Les itinéraires sont modifiés par les opérateurs et administrateurs qui voient tous les véhicules de l’itinéraire',
    newTitle: 'Dessiner un itinéraire',
    idTaken: 'Un autre itinéraire a cet identifiant',
    full: 'Un itinéraire a au plus 100 points. Déplacez ou retirez-en un',
    most: (count) => `Un itinéraire nomme au plus ${count} véhicules`,
    save: 'Enregistrer l’itinéraire',
  },
};
