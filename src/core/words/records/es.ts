// Units, and how alarms are described, in Spanish.

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

export const alarmPriorities = { critical: 'crítica', high: 'alta', low: 'baja' };

export const alarmStates = { new: 'Nueva', taken: 'Tomada', shelved: 'Aplazada', closed: 'Cerrada' };

export const closeReasons = {
  resolved: 'Resuelta',
  false_alarm: 'Falsa alarma',
  expected: 'Esperada e inofensiva',
  test: 'Prueba',
  duplicate: 'Otra alarma la representa',
  other: 'Otro motivo',
  ended: 'Su causa terminó',
};
