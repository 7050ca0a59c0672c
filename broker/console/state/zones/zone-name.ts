// The name of a geozone. Every screen has it; shapes of zones are only where they are drawn. Pure.
import type { Geozone } from '../../api/operations.ts';

/** Its id where it has no name. */
export const zoneName = (zone: Pick<Geozone, 'geozoneDisplayName' | 'geozoneID'>): string =>
  zone.geozoneDisplayName || zone.geozoneID;
