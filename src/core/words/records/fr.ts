// Units, and how alarms are described, in French.

export const units = {
  s: 's',
  min: 'min',
  h: 'h',
  d: 'j',
  km: 'km',
  kmh: 'km/h',
  percent: '%',
  volts: 'V',
  litres: 'L',
};

export const alarmPriorities = { critical: 'critique', high: 'haute', low: 'basse' };

export const alarmStates = { new: 'Nouvelle', taken: 'Prise', shelved: 'Différée', closed: 'Close' };

export const closeReasons = {
  resolved: 'Résolue',
  false_alarm: 'Fausse alarme',
  expected: 'Attendue et sans danger',
  test: 'Essai',
  duplicate: 'Une autre alarme la représente',
  other: 'Autre raison',
  ended: 'Sa condition a pris fin',
};
