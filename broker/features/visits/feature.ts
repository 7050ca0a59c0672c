// Which vehicles were at a place: an index of space and time beside the events, and the question that it answers.
import { eventOperations } from '../../api/events/events.ts';
import { feature } from '../feature.ts';
import { visitIndex } from './visit-index.ts';
import { visitTables } from './visit-tables.ts';
import { visitOperations } from './visits.ts';

export const visits = feature({
  tables: visitTables,
  clearedTables: [['visit_cells', 'account_no, hour, cell, device_no']],
  operations: visitOperations,
  follows: eventOperations,
  slice: visitIndex,
});
