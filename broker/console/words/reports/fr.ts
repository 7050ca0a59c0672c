// The reports in French.
import { decisions, reportColumns, reportKinds } from '../../../../src/core/words/reports/fr.ts';
import { counterOf, formatNumber } from '../base/format.ts';
import type { ReportTexts } from './en.ts';

const many = counterOf('fr');
const n = (value: number): string => formatNumber(value, 'fr');

export const reportTexts: ReportTexts = {
  reports: {
    pages: { label: 'Pages des rapports', report: 'Rapport', mail: 'Par e-mail' },
    kind: 'Rapport',
    kinds: reportKinds,
    rows: (count) => many(count, 'ligne', 'lignes'),
    asOf: (time) => `état à ${time}`,
    readAgain: 'Relire',
    print: 'Imprimer',
    printed: (account) => `Compte ${account}`,
    vehicles: 'Véhicules',
    fleet: 'Toute la flotte',
    vehicleCount: (count) => many(count, 'véhicule', 'véhicules'),
    choose: 'Choisir des véhicules',
    chosen: (what) => `Véhicules : ${what}`,
    findVehicle: 'Chercher un véhicule',
    noVehicle: 'Aucun véhicule ne correspond',
    most: (count) => `Un rapport nomme au plus ${count} véhicules`,
    moreVehicles: (count) => `et ${n(count)} autres : cherchez-les`,
    from: 'Du',
    to: 'Au',
    apply: 'Afficher cette période',
    between: (from, to) => `du ${from} au ${to}`,
    code: 'Type d’événement',
    empty: {
      summary: 'Aucun véhicule dans ce rapport',
      trips: 'Aucun trajet n’a commencé dans cette période',
      stops: 'Aucun arrêt n’a commencé dans cette période',
      alarms: 'Aucune alarme n’a été levée dans cette période',
      decisions: 'Aucune coupure n’a demandé une seconde personne dans cette période',
      events: 'Aucun événement de ce type dans cette période',
    },
    emptyHint: 'Choisissez une période plus longue ou d’autres véhicules',
    reading: (done, all) => `${n(done)} véhicules lus sur ${n(all)}`,
    readingRows: (count) => many(count, 'ligne lue', 'lignes lues'),
    stop: 'Arrêter la lecture',
    stopped: 'La lecture a été arrêtée',
    stoppedHint: 'Rien n’est affiché, car tous les véhicules n’ont pas été lus',
    capped: (count) => `Seules les ${n(count)} premières lignes ont été lues`,
    cappedHint: 'Pour tout voir, choisissez une période plus courte ou moins de véhicules',
    tooLong: (days) => `La période dépasse ${days} jours`,
    tooLongFleet: 'Choisissez une période plus courte, ou des véhicules : jusqu’à 366 jours sont alors lus',
    tooLongNamed: 'Choisissez une période plus courte',
    showMore: 'Afficher plus de lignes',
    shown: (shown, all) => `${n(shown)} lignes affichées sur ${n(all)}`,
    all: 'Tous',
    notes: {
      summary:
        'Un trajet ou un arrêt appartient à la période où il commence, et compte en entier. Le carburant est le niveau au début du premier trajet et à la fin du dernier : les pleins faits entre-temps ne se voient pas, et sans la taille du réservoir il n’y a pas de litres. Les colonnes du bus sont ce que le véhicule compte lui-même (J1939) : à environ 1 km, 1 L et 0,1 h près',
      trips:
        'Un trajet appartient à la période où il commence. Le ralenti est le contact mis sans bouger, en chemin. Les colonnes du bus sont ce que le véhicule compte lui-même (J1939) : à environ 1 km, 1 L et 0,1 h près',
      stops:
        'Un arrêt appartient à la période où il commence. Le ralenti est le contact mis pendant que le véhicule était arrêté',
      alarms: 'Selon l’heure à laquelle le service les a levées. Les alarmes closes sont gardées 90 jours',
      decisions: 'Coupures qui ont demandé une seconde personne, selon l’heure de la demande',
      events:
        'Selon l’heure du véhicule. Le retard est le temps après lequel le service a enregistré l’événement',
    },
    columns: reportColumns,
    decisions,
    open: 'en cours',
    order: 'Ordre',
    upwards: (column) => `${column}, croissant`,
    downwards: (column) => `${column}, décroissant`,
    plot: {
      summary:
        'Distance et temps de conduite des véhicules, dans l’ordre du tableau ; le tableau contient les valeurs',
      trips: 'Distance et temps de conduite de chaque jour ; le tableau contient les valeurs',
      stops: 'Temps d’arrêt et ralenti de chaque jour ; le tableau contient les valeurs',
      alarms: 'Alarmes de chaque jour ; le tableau les contient',
      decisions: 'Demandes de chaque jour ; le tableau les contient',
      events: 'Événements de chaque jour ; le tableau les contient',
    },
    perDay: 'Lignes d’un jour',
    save: 'Enregistrer un fichier',
    saveTable: 'CSV, ce tableau',
    saveSemicolons: 'CSV avec points-virgules, ce tableau',
    saveTracks: 'Relevés des véhicules, un fichier pour chacun',
    formats: { gpx: 'GPX, le chemin', csv: 'CSV, tous les relevés', geojson: 'GeoJSON, tous les relevés' },
    saveMost: (count) => `Choisissez au plus ${count} véhicules pour enregistrer leurs relevés`,
    saving: (vehicle, file, files) => `Enregistrement de ${vehicle}, fichier ${n(file)} sur ${n(files)}`,
    received: (mebibytes) => `${mebibytes} Mio reçus`,
    saved: (files) => many(files, 'fichier enregistré', 'fichiers enregistrés'),
    cancelled: 'L’enregistrement a été annulé',
    notSaved: (vehicle) => `${vehicle} n’a pas été enregistré`,
    tooLarge: (mebibytes) => `Le fichier dépasse ${n(mebibytes)} Mio. Choisissez une période plus courte`,
  },
};
