// Les versions du programme, en français.
import { counterOf, formatNumber } from '../base/format.ts';
import type { ReleaseTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'fr');
const many = counterOf('fr');
const units = (count: number): string => many(count, 'unité', 'unités');
const devices = (count: number): string => many(count, 'appareil', 'appareils');

export const releaseTexts: ReleaseTexts = {
  releases: {
    release: 'Version du programme',
    named: (version) => `Version ${version}`,
    adminsOnly: 'Les versions sont déployées par les administrateurs',
    adminsOnlyHint: 'Adressez-vous à un administrateur de votre compte',
    caption: 'Versions, la plus récente d’abord',
    columns: {
      release: 'Version',
      state: 'État',
      stages: 'Étape',
      made: 'Créée',
      unit: 'Unité',
      runs: 'Exécute',
      reason: 'Motif',
    },
    empty: 'Pas encore de version',
    emptyHint: 'Une version apporte un nouveau programme aux unités, groupe après groupe',
    noHosts: 'Aucun hôte de versions n’est autorisé',
    noHostsHint:
      'L’exploitant du service indique où les fichiers peuvent se trouver : le réglage firmware.hosts',
    pick: 'Choisissez une version pour voir ses étapes et ses unités',
    gone: 'Cette version n’existe plus',
    create: 'Créer une version',
    createTitle: 'Nouvelle version',
    createText: 'Rien n’est encore envoyé : chaque étape se lance séparément',
    signed:
      'Les unités n’acceptent un fichier qu’avec la signature de leur clé de publication. Rien n’est téléversé ici',
    fields: {
      version: 'Numéro de version',
      versionWrong: 'Utilisez des lettres, des chiffres et . + ~ _ -',
      url: 'Adresse du fichier',
      urlHint: (hosts) => `https, sur ${hosts}`,
      urlWrong: 'Elle doit être en https sur un hôte autorisé',
      sha256: 'SHA-256 du fichier',
      sha256Hint: 'La fabrication de la version l’affiche',
      sha256Wrong: 'Il a 64 chiffres hexadécimaux',
      stages: 'Groupes, un par étape',
      stagesHint:
        'Le premier coché est la première étape. Un appareil de plusieurs groupes est dans la plus précoce',
      order: 'Étapes dans leur ordre',
      noGroups: 'Le compte n’a aucun groupe. Créez-en d’abord un parmi les personnes',
      stopAfter: 'Échecs qui l’arrêtent',
      stopAfterHint: 'Le service l’arrête alors de lui-même',
      days: 'Jours accordés à une unité',
      daysHint: 'Une unité qui n’a pas été jointe d’ici là compte comme un échec',
      numberWrong: (most) => `Utilisez un nombre de 1 à ${n(most)}`,
      note: 'Remarque',
      reason: 'Motif, pour le registre',
    },
    states: {
      ready: 'Pas lancée',
      running: 'En cours',
      stopping: 'Arrêt en cours',
      stopped: 'Arrêtée',
      done: 'Terminée',
    },
    phases: {
      waiting: 'Pas encore d’ordre',
      underWay: 'En route',
      done: 'L’exécutent',
      failed: 'Échec',
      withdrawn: 'Retiré',
    },
    unitStates: { waiting: 'Pas encore d’ordre', current: 'L’exécutait déjà' },
    madeBy: 'Créée par',
    devices,
    stage: (stage) => `Étape ${n(stage)}`,
    begunOf: (begun, all) => `${n(begun)} sur ${n(all)}`,
    notBegun: 'Pas lancée',
    begunBy: (user) => `Lancée par ${user}`,
    groupGone: (group) => `Le groupe ${group} a été supprimé`,
    progressOf: (stage) => `Unités de l’étape ${n(stage)} qui l’exécutent`,
    progress: (done, all) => `L’exécutent : ${n(done)} sur ${units(all)}`,
    begin: (stage) => `Lancer l’étape ${n(stage)}`,
    beginTitle: (stage, version) => `Lancer l’étape ${n(stage)} de ${version}`,
    beginText: (count, group) =>
      `L’ordre va à ${devices(count)} de ${group}, sans ceux d’une étape précédente`,
    beginFailed: (count) => `Échecs des étapes précédentes : ${units(count)}`,
    beginOpen: (count) => `Étapes précédentes, pas encore fini : ${units(count)}`,
    beginHint: (most) =>
      `Chaque unité ne redémarre pour cela qu’à l’arrêt, contact coupé. Échecs qui arrêtent la version : ${n(most)}`,
    stop: 'Arrêter la version',
    stopTitle: (version) => `Arrêter la version ${version}`,
    stopText: (count) =>
      `Définitivement. Les ordres de ${units(count)} sont retirés, et aucun autre n’est donné`,
    stopHint: 'Les unités qui l’exécutent la gardent. Celle qui redémarre en ce moment continue',
    stoppedBy: (user) => `Arrêtée par ${user}`,
    stoppedForFailures: (count) => `Arrêtée par le service, échecs : ${n(count)}`,
    units: 'Unités',
    unitsCaption: 'Unités de la version dans l’ordre de leurs identifiants',
    filter: 'Filtrer par état',
    every: 'Toutes',
    stageFilter: 'Filtrer par étape',
    everyStage: 'Toutes les étapes',
    noUnits: 'Aucune étape n’a été lancée',
    noUnitsHint: 'Les appareils d’un groupe apparaissent quand son étape est lancée',
    noneSo: 'Aucune unité dans cet état',
    moreUnits: 'Afficher d’autres unités',
    notReported: 'non signalé',
    again: 'Ordonner à nouveau',
    againOf: (unit) => `Ordonner à nouveau pour ${unit}`,
    againTitle: (unit) => `Ordonner à nouveau pour ${unit}`,
    againAction: (unit) => `Ordonner pour ${unit}`,
    againText:
      'Un ordre de plus pour cette seule unité, qui compte alors. Une clé dans l’adresse n’est pas affichée : ajoutez-la à nouveau',
  },
};
