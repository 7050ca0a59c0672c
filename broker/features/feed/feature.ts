// Feeds: the events of an account into an MQTT broker of others, and nothing back.
import { mapOperations } from '../../api/service/maps.ts';
import { feature } from '../feature.ts';
import { feedTables } from './feed-tables.ts';
import { feeders } from './feeder.ts';
import { feedOperations } from './feeds.ts';

export const feed = feature({
  tables: feedTables,
  operations: feedOperations,
  follows: mapOperations,
  slice: feeders,
});
