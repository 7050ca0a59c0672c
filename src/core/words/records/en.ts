// Units, and how alarms are described, in English.

export const units = {
  s: 's',
  min: 'min',
  h: 'h',
  d: 'd',
  km: 'km',
  kmh: 'km/h',
  percent: '%',
  volts: 'V',
  litres: 'L',
};

export const alarmPriorities = { critical: 'critical', high: 'high', low: 'low' };

export const alarmStates = { new: 'New', taken: 'Taken', shelved: 'Shelved', closed: 'Closed' };

export const closeReasons = {
  resolved: 'Resolved',
  false_alarm: 'False alarm',
  expected: 'Expected and harmless',
  test: 'Test',
  duplicate: 'Another alarm stands for it',
  other: 'Another reason',
  ended: 'Its condition ended',
};
