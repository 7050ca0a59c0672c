// Kinds, columns and decisions of reports, and reasons of cuts, in German.
import type { ColumnID, ReportKind } from '../../reports/columns.ts';
import type { CutReason } from '../../reports/order-reason.ts';
import type { DecisionState } from '../../reports/rows.ts';

export const reportKinds: Readonly<Record<ReportKind, string>> = {
  summary: 'Übersicht',
  trips: 'Fahrten',
  stops: 'Stopps',
  alarms: 'Alarme',
  decisions: 'Entscheidungen zu zweit',
  events: 'Ereignisse',
};

export const reportColumns: Readonly<Record<ColumnID, string>> = {
  vehicle: 'Fahrzeug',
  start: 'Beginn',
  end: 'Ende',
  trips: 'Fahrten',
  stops: 'Stopps',
  distance: 'Strecke',
  driving: 'Fahrzeit',
  standing: 'Standzeit',
  idle: 'Leerlauf',
  average: 'Mittel',
  highest: 'Höchste',
  fuelStart: 'Kraftstoff am Anfang',
  fuelEnd: 'Kraftstoff am Ende',
  busDistance: 'Strecke, Bus',
  busFuel: 'Verbrauch, Bus',
  busHours: 'Betriebsstunden, Bus',
  place: 'Wo',
  code: 'Was',
  priority: 'Dringlichkeit',
  state: 'Zustand',
  count: 'Ereignisse',
  untaken: 'Bis zur Übernahme',
  owner: 'Bearbeiter',
  closed: 'Geschlossen',
  closeReason: 'Warum geschlossen',
  askedBy: 'Angefragt von',
  reason: 'Grund',
  decision: 'Entscheidung',
  decidedBy: 'Entschieden von',
  decided: 'Entschieden',
  waited: 'Wartezeit',
  note: 'Warum',
  zone: 'Zone',
  speed: 'Geschwindigkeit',
  late: 'Verspätung',
};

export const decisions: Readonly<Record<DecisionState, string>> = {
  pending: 'Wartet',
  approved: 'Genehmigt',
  refused: 'Abgelehnt',
  withdrawn: 'Zurückgezogen',
  expired: 'Abgelaufen',
};

export const cutReasons: Readonly<Record<CutReason, string>> = {
  stolen: 'Gestohlen',
  misuse: 'Ohne Erlaubnis benutzt',
  lease_ended: 'Miete beendet',
  unsafe: 'Nicht fahrsicher',
  driver: 'Fahrer bat darum',
  test: 'Test',
  other: 'Anderer Grund',
};
