// Fonds de carte et lieux avec plusieurs véhicules, en français.
import { counterOf } from '../base/format.ts';
import type { MapTexts } from './en.ts';

const many = counterOf('fr');

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
    middle: 'Sur la carte : ouvrir ce qui est en son milieu',
  },
};
