// Kinds, columns and decisions of reports, and reasons of cuts, in Spanish.
import type { ColumnID, ReportKind } from '../../reports/columns.ts';
import type { CutReason } from '../../reports/order-reason.ts';
import type { DecisionState } from '../../reports/rows.ts';

export const reportKinds: Readonly<Record<ReportKind, string>> = {
  summary: 'Resumen',
  trips: 'Viajes',
  stops: 'Paradas',
  alarms: 'Alarmas',
  decisions: 'Decisiones entre dos',
  events: 'Eventos',
};

export const reportColumns: Readonly<Record<ColumnID, string>> = {
  vehicle: 'Vehículo',
  start: 'Inicio',
  end: 'Fin',
  trips: 'Viajes',
  stops: 'Paradas',
  distance: 'Distancia',
  driving: 'Conducción',
  standing: 'Parado',
  idle: 'Ralentí',
  average: 'Media',
  highest: 'Máxima',
  fuelStart: 'Combustible al inicio',
  fuelEnd: 'Combustible al final',
  busDistance: 'Distancia, bus',
  busFuel: 'Combustible, bus',
  busHours: 'Horas de motor, bus',
  place: 'Dónde',
  code: 'Qué',
  priority: 'Prioridad',
  state: 'Estado',
  count: 'Eventos',
  untaken: 'Hasta asumirla',
  owner: 'Responsable',
  closed: 'Cerrada',
  closeReason: 'Motivo del cierre',
  askedBy: 'Pedido por',
  reason: 'Motivo',
  decision: 'Decisión',
  decidedBy: 'Decidido por',
  decided: 'Decidido',
  waited: 'Espera',
  note: 'Por qué',
  zone: 'Zona',
  speed: 'Velocidad',
  late: 'Retraso',
};

export const decisions: Readonly<Record<DecisionState, string>> = {
  pending: 'En espera',
  approved: 'Aprobado',
  refused: 'Rechazado',
  withdrawn: 'Retirado',
  expired: 'Caducado',
};

export const cutReasons: Readonly<Record<CutReason, string>> = {
  stolen: 'Robado',
  misuse: 'Usado sin permiso',
  lease_ended: 'Alquiler terminado',
  unsafe: 'No es seguro conducirlo',
  driver: 'Lo pidió el conductor',
  test: 'Prueba',
  other: 'Otro motivo',
};
