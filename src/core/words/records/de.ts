// Units, and how alarms are described, in German.

export const units = {
  s: 's',
  min: 'min',
  h: 'h',
  d: 'T',
  km: 'km',
  kmh: 'km/h',
  percent: '%',
  volts: 'V',
  litres: 'L',
};

export const alarmPriorities = { critical: 'kritisch', high: 'hoch', low: 'niedrig' };

export const alarmStates = {
  new: 'Neu',
  taken: 'Übernommen',
  shelved: 'Zurückgestellt',
  closed: 'Geschlossen',
};

export const closeReasons = {
  resolved: 'Gelöst',
  false_alarm: 'Fehlalarm',
  expected: 'Erwartet und harmlos',
  test: 'Test',
  duplicate: 'Ein anderer Alarm steht dafür',
  other: 'Anderer Grund',
  ended: 'Ursache beendet',
};
