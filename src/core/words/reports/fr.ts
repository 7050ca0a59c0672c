// Kinds, columns and decisions of reports, and reasons of cuts, in French.
import type { ColumnID, ReportKind } from '../../reports/columns.ts';
import type { CutReason } from '../../reports/order-reason.ts';
import type { DecisionState } from '../../reports/rows.ts';

export const reportKinds: Readonly<Record<ReportKind, string>> = {
  summary: 'Synthèse',
  trips: 'Trajets',
  stops: 'Arrêts',
  alarms: 'Alarmes',
  decisions: 'Décisions à deux',
  events: 'Événements',
};

export const reportColumns: Readonly<Record<ColumnID, string>> = {
  vehicle: 'Véhicule',
  start: 'Début',
  end: 'Fin',
  trips: 'Trajets',
  stops: 'Arrêts',
  distance: 'Distance',
  driving: 'Conduite',
  standing: 'À l’arrêt',
  idle: 'Ralenti',
  average: 'Moyenne',
  highest: 'Maximum',
  fuelStart: 'Carburant au début',
  fuelEnd: 'Carburant à la fin',
  busDistance: 'Distance, bus',
  busFuel: 'Carburant, bus',
  busHours: 'Heures moteur, bus',
  place: 'Où',
  code: 'Quoi',
  priority: 'Priorité',
  state: 'État',
  count: 'Événements',
  untaken: 'Avant prise en charge',
  owner: 'Responsable',
  closed: 'Close',
  closeReason: 'Motif de clôture',
  askedBy: 'Demandé par',
  reason: 'Motif',
  decision: 'Décision',
  decidedBy: 'Décidé par',
  decided: 'Décidé',
  waited: 'Attente',
  note: 'Pourquoi',
  zone: 'Zone',
  speed: 'Vitesse',
  late: 'Retard',
};

export const decisions: Readonly<Record<DecisionState, string>> = {
  pending: 'En attente',
  approved: 'Approuvée',
  refused: 'Refusée',
  withdrawn: 'Retirée',
  expired: 'Expirée',
};

export const cutReasons: Readonly<Record<CutReason, string>> = {
  stolen: 'Volé',
  misuse: 'Utilisé sans autorisation',
  lease_ended: 'Location terminée',
  unsafe: 'Dangereux à conduire',
  driver: 'Demandé par le conducteur',
  test: 'Essai',
  other: 'Autre motif',
};
