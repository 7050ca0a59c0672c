// Routes: corridors that vehicles are planned to keep to.
import { geozoneQueryOperations } from '../../api/geozones/geozone-queries.ts';
import { feature } from '../feature.ts';
import { routeTables } from './route-tables.ts';
import { routeOperations } from './routes.ts';

export const routes = feature({
  tables: routeTables,
  clearedTables: [['routes', 'route_no']],
  operations: routeOperations,
  follows: geozoneQueryOperations,
});
