// The ways that the vehicles of a fleet have driven, for its maps.
import { mapOperations } from '../../api/service/maps.ts';
import { feature } from '../feature.ts';
import { ways as slice } from './way-maker.ts';
import { wayTables } from './way-tables.ts';
import { wayOperations } from './way-tiles.ts';

export const ways = feature({ tables: wayTables, operations: wayOperations, follows: mapOperations, slice });
