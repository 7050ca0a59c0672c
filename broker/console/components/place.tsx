// A place that has no name of its own: the nearest town and the direction from it, and the coordinates, which can be copied and opened in
// the reader's map.
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { nearestWords } from '../../../build/words/nearest.ts';
import { readTowns, towns } from '../service/maps/towns.ts';
import { nearestTown } from '../state/nearest-town.ts';
import type { WordsWith } from '../words/word-set.ts';
import { Icon } from './icon.tsx';
import { numberText, placeText } from './texts.tsx';
import { useValue, useWords } from './use.ts';

/** A place within so many km of a town's middle is in it. */
const withinKm = 2;

interface Spot {
  readonly latitude: number;
  readonly longitude: number;
}

/** Null: no town is near, or they are not read yet. */
function useNearest(spot: Spot, { nearest }: WordsWith<[typeof nearestWords]>): string | null {
  const known = useValue(towns);
  useEffect(() => void readTowns(), []);
  const town = nearestTown(known, spot);
  if (town === null) return null;
  const { name, distanceKm, direction } = town;
  if (distanceKm < withinKm) return nearest.at({ name });
  return nearest.near({ km: numberText(distanceKm), direction, name });
}

/** In words, where there is no room for more; the coordinates where no town is near. */
export function PlaceWords(spot: Spot) {
  const words = useWords(nearestWords);
  const coordinates = placeText(spot.latitude, spot.longitude, 4);
  return <bdi title={coordinates}>{useNearest(spot, words) ?? coordinates}</bdi>;
}

export function Place(spot: Spot) {
  const words = useWords(nearestWords);
  const near = useNearest(spot, words);
  const [isCopied, setCopied] = useState(false);
  const { nearest } = words;
  const coordinates = placeText(spot.latitude, spot.longitude);
  return (
    <span className="place">
      {near === null ? null : <bdi>{near}</bdi>}{' '}
      <span className="nowrap">
        {/* Plain HTTP has no clipboard. */}
        {window.isSecureContext ? (
          <Button
            className="link-button"
            aria-label={nearest.copy({ coordinates })}
            onPress={() => void navigator.clipboard.writeText(coordinates).then(() => setCopied(true))}
          >
            <bdi>{coordinates}</bdi> <Icon name={isCopied ? 'circle-check' : 'copy'} />
          </Button>
        ) : (
          <bdi>{coordinates}</bdi>
        )}{' '}
        {/* RFC 5870: the reader's own map, and no host of others. */}
        <a href={`geo:${coordinates.replace(' ', '')}`} aria-label={nearest.open({ coordinates })}>
          <Icon name="map" />
        </a>
      </span>
      <span className="hidden" role="status">
        {isCopied ? nearest.copied : ''}
      </span>
    </span>
  );
}
