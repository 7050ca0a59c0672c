// The nearest town of a place and the direction from it, as text.
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { NearestTexts } from '../../../../build/words/nearest/en.ts';
import { nearestTown } from '../../map/world/nearest-town.ts';
import { bandsNear } from '../../map/world/town-bands.ts';
import { readTowns, townBands } from '../../map/world/towns.ts';

/** A place within so many km of a town's middle is in it. */
const withinKm = 2;

/** Null: no town is near, or they are not read yet. */
export function useNearText(
  { latitude, longitude }: { readonly latitude: number; readonly longitude: number },
  { at, near }: Pick<NearestTexts['nearest'], 'at' | 'near'>,
  /** A length in km with its unit. */
  lengthText: (km: number) => string,
): string | null {
  const known = useSyncExternalStore(townBands.subscribe, townBands.get);
  const wanted = bandsNear({ latitude, longitude }).join();
  useEffect(() => void readTowns(wanted.split(',').map(Number)), [wanted]);
  const town = useMemo(() => {
    const near = wanted.split(',').map((band) => known[Number(band)]);
    // A nearer one may stand in a band that is not read yet.
    if (near.some((towns) => towns === undefined)) return null;
    return nearestTown(
      near.flatMap((towns) => towns ?? []),
      { latitude, longitude },
    );
  }, [known, wanted, latitude, longitude]);
  if (town === null) return null;
  const { name, distanceKm, direction } = town;
  if (distanceKm < withinKm) return at({ name });
  return near({ distance: lengthText(distanceKm), direction, name });
}
