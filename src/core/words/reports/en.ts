// Kinds, columns and decisions of reports, and reasons of cuts, in English.
import type { ColumnID, ReportKind } from '../../reports/columns.ts';
import type { CutReason } from '../../reports/order-reason.ts';
import type { DecisionState } from '../../reports/rows.ts';

export const reportKinds: Readonly<Record<ReportKind, string>> = {
  summary: 'Summary',
  trips: 'Trips',
  stops: 'Stops',
  alarms: 'Alarms',
  decisions: 'Two-person decisions',
  events: 'Events',
};

export const reportColumns: Readonly<Record<ColumnID, string>> = {
  vehicle: 'Vehicle',
  start: 'Start',
  end: 'End',
  trips: 'Trips',
  stops: 'Stops',
  distance: 'Distance',
  driving: 'Driving',
  standing: 'Standing',
  idle: 'Idling',
  average: 'Average',
  highest: 'Highest',
  fuelStart: 'Fuel at start',
  fuelEnd: 'Fuel at end',
  busDistance: 'Distance, bus',
  busFuel: 'Fuel used, bus',
  busHours: 'Engine hours, bus',
  place: 'Where',
  code: 'What',
  priority: 'Priority',
  state: 'State',
  count: 'Events',
  untaken: 'Until taken',
  owner: 'Owner',
  closed: 'Closed',
  closeReason: 'Why closed',
  askedBy: 'Asked by',
  reason: 'Reason',
  decision: 'Decision',
  decidedBy: 'Decided by',
  decided: 'Decided',
  waited: 'Waited',
  note: 'Why',
  zone: 'Zone',
  speed: 'Speed',
  late: 'Late',
};

export const decisions: Readonly<Record<DecisionState, string>> = {
  pending: 'Waits',
  approved: 'Approved',
  refused: 'Refused',
  withdrawn: 'Withdrawn',
  expired: 'Ran out',
};

export const cutReasons: Readonly<Record<CutReason, string>> = {
  stolen: 'Stolen',
  misuse: 'Used without permission',
  lease_ended: 'Lease ended',
  unsafe: 'Not safe to drive',
  driver: 'Driver asked for it',
  test: 'Test',
  other: 'Another reason',
};
