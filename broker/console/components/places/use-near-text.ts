// The nearest town of a place and the direction from it, as text.
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { NearestTexts } from '../../../../build/words/nearest/en.ts';
import { nearestTown } from '../../map/world/nearest-town.ts';
import { readTowns, towns } from '../../map/world/towns.ts';

/** A place within so many km of a town's middle is in it. */
const withinKm = 2;

/** Null: no town is near, or they are not read yet. */
export function useNearText(
  { latitude, longitude }: { readonly latitude: number; readonly longitude: number },
  { at, near }: Pick<NearestTexts['nearest'], 'at' | 'near'>,
  /** A length in km with its unit. */
  lengthText: (km: number) => string,
): string | null {
  const known = useSyncExternalStore(towns.subscribe, towns.get);
  useEffect(() => void readTowns(), []);
  const town = useMemo(() => nearestTown(known, { latitude, longitude }), [known, latitude, longitude]);
  if (town === null) return null;
  const { name, distanceKm, direction } = town;
  if (distanceKm < withinKm) return at({ name });
  return near({ distance: lengthText(distanceKm), direction, name });
}
