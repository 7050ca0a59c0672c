// Units, and how alarms and cuts are described, in English.

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

export const cutReasons = {
  stolen: 'Stolen',
  misuse: 'Used without permission',
  lease_ended: 'Lease ended',
  unsafe: 'Not safe to drive',
  driver: 'Driver asked for it',
  test: 'Test',
  other: 'Another reason',
};
