// La page d'un lien partagé, en français.
import type { SharePageTexts } from './en.ts';

export const sharePageTexts: SharePageTexts = {
  locale: 'fr',
  titles: { live: 'Véhicule partagé', trip: 'Trajet partagé', none: 'Lien partagé' },
  until: (time) => `Partagé jusqu'au ${time}`,
  loading: 'Chargement',
  link: { opening: 'Connexion', live: 'En direct', down: 'Pas en direct' },
  downHint: (span) => `Ce que vous voyez date de ${span}. Nouvelle connexion`,
  faults: {
    busy: 'Ce lien est ouvert trop de fois, ou le service est occupé',
    unreachable: 'Le service ne répond pas',
  },
  faultHint: "L'essai est refait automatiquement",
  ends: {
    incomplete: 'Ce lien est incomplet',
    unknown: 'Ce lien ne montre rien',
    expired: 'Ce lien a expiré',
    revoked: 'Le partage a été arrêté',
  },
  endHints: {
    incomplete: "Ouvrez-le avec tous ses caractères, tel qu'il vous a été envoyé",
    unknown: "Il a expiré, a été arrêté ou n'est pas correct. Demandez à la personne qui vous l'a envoyé",
    expired: "Demandez-en un nouveau à la personne qui vous l'a envoyé",
    revoked: 'Il a été arrêté avant la fin. Demandez à la personne qui vous a envoyé le lien',
  },
  speed: 'Vitesse',
  speedUnknown: 'inconnue',
  place: 'Position',
  reported: 'Signalé',
  noPosition: 'Pas encore de position',
  noPositionHint: 'Elle apparaît ici dès que le véhicule en signale une',
  way: "La ligne est le chemin depuis l'ouverture de cette page",
  from: 'De',
  to: 'À',
  distance: 'Distance',
  noWay: "Aucune position n'a été enregistrée pendant ce temps",
  map: 'Carte ; les valeurs de cette page disent la même chose',
  zoomIn: 'Agrandir',
  zoomOut: 'Réduire',
  show: 'Montrer le véhicule',
  fit: 'Montrer tout le trajet',
  noWebgl:
    "La carte a besoin de WebGL, que ce navigateur n'offre pas. Les valeurs de cette page disent la même chose",
  only: 'Vous voyez ce véhicule et rien d’autre',
  onlyTrip: 'Vous voyez ce trajet et rien d’autre',
};
