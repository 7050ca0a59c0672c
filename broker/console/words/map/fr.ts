// Fonds de carte et lieux avec plusieurs véhicules, en français.
import { counterOf, formatNumber } from '../base/format.ts';
import type { MapTexts } from './en.ts';

const many = counterOf('fr');
const n = (value: number): string => formatNumber(value, 'fr');

export const mapTexts: MapTexts = {
  baseMap: {
    choose: 'Fond de carte',
    world: 'Monde, intégré',
    style: (host) => `Carte de ${host}`,
    osm: '© les contributeurs d’OpenStreetMap (ODbL)',
    worldInstead: 'Le monde intégré est affiché à la place.',
    restDrawn:
      'Le reste de la carte est dessiné. Un administrateur du service peut autoriser l’hôte (mapStyle.origins).',
    faults: {
      gone: (name) =>
        name === ''
          ? 'Le service ne propose plus cette carte'
          : `Le service n’a plus le fichier de carte ${name}`,
      truncated: (name) => `Le fichier de carte ${name} est incomplet. Copiez-le à nouveau sur le service`,
      'not-pmtiles': (name) => `Le fichier de carte ${name} n’est pas un fichier PMTiles de version 3`,
      'not-vector': (name) =>
        `Le fichier de carte ${name} contient des images, ou des tuiles compressées autrement que par gzip`,
      'not-base-map': (name) => `Le fichier de carte ${name} n’est pas un fond Protomaps de version 4`,
      unreachable: (name) => `La carte ${name} ne peut pas être lue`,
      'bad-style': (name) => `Ce que propose ${name} n’est pas un style de carte que l’on peut dessiner`,
      host: (name) => `Une partie de la carte se trouve chez ${name}, ce qui n’est pas autorisé`,
    },
  },
  here: {
    title: (count) => `${many(count, 'véhicule', 'véhicules')} à cet endroit`,
    none: 'Il n’y a plus de véhicule à cet endroit',
    list: 'Véhicules à cet endroit, le plus urgent d’abord',
    more: (count) => `${many(count, 'autre', 'autres')} ; cherchez-les dans la liste des véhicules`,
  },
  live: {
    title: 'Carte en direct',
    vehicles: 'Véhicules',
    worstFirst: 'les pires d’abord',
    filter: 'Filtrer par état',
    filters: {
      all: 'Tous',
      alarm: 'Alarme',
      moving: 'En mouvement',
      standing: 'À l’arrêt',
      unknown: 'Vitesse inconnue',
      offline: 'Hors ligne',
      doubtful: 'Douteux',
    },
    find: 'Trouver un véhicule dans la liste',
    list: 'Véhicules, les pires d’abord',
    map: 'Carte des véhicules ; la liste à côté dit la même chose',
    zones: 'Zones géographiques',
    empty: 'Aucun véhicule',
    emptyHint: 'Un administrateur crée un code d’enrôlement ; saisissez-le sur le premier véhicule',
    noMatch: 'Aucun véhicule ne correspond',
    noMatchHint: 'Effacez le filtre pour les voir tous',
    clear: 'Effacer le filtre',
    noWebgl: 'La carte a besoin de WebGL, que ce navigateur n’offre pas. La liste dit la même chose',
    zoomIn: 'Zoom avant',
    zoomOut: 'Zoom arrière',
    fit: 'Montrer tous les véhicules',
    rings: {
      act: 'Alarme sans responsable',
      'act-taken': 'Alarme avec responsable',
      look: 'Alarme faible',
    },
    credit: 'Natural Earth, © GeoNames',
    cluster: (count, alarms) =>
      `${alarms === 0 ? '' : `${many(alarms, 'alarme', 'alarmes')}, `}${many(count, 'véhicule', 'véhicules')}`,
    shown: (shown, all) => `${n(shown)} sur ${n(all)}`,
  },
};
