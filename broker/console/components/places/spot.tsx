// A place that has no name of its own: the nearest town and the direction from it, and the coordinates, which can be copied and opened in
// the reader's map.
import { useEffect, useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { nearestWords } from '../../../../build/words/nearest.ts';
import { nearestTown } from '../../map/world/nearest-town.ts';
import { readTowns, towns } from '../../map/world/towns.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { Icon } from '../icon.tsx';
import { amountText, placeText } from '../texts.tsx';
import { useValue, useWords } from '../use.ts';

/** A place within so many km of a town's middle is in it. */
const withinKm = 2;

interface SpotProps {
  readonly latitude: number;
  readonly longitude: number;
  readonly isShort: boolean;
}

/** Null: no town is near, or they are not read yet. */
function useNearest(spot: SpotProps, words: WordsWith<[typeof nearestWords]>): string | null {
  const { nearest } = words;
  const known = useValue(towns);
  useEffect(() => void readTowns(), []);
  const { latitude, longitude } = spot;
  const town = useMemo(() => nearestTown(known, { latitude, longitude }), [known, latitude, longitude]);
  if (town === null) return null;
  const { name, distanceKm, direction } = town;
  if (distanceKm < withinKm) return nearest.at({ name });
  return nearest.near({ distance: amountText(distanceKm, 'km', words), direction, name });
}

export function Spot(spot: SpotProps) {
  const words = useWords(nearestWords);
  const near = useNearest(spot, words);
  const [isCopied, setCopied] = useState(false);
  const { nearest } = words;
  const coordinates = placeText(spot.latitude, spot.longitude);
  if (spot.isShort) return <bdi title={coordinates}>{near ?? coordinates}</bdi>;
  return (
    <span className="place">
      {near === null ? null : <bdi>{near}</bdi>}{' '}
      <span className="nowrap">
        {/* Plain HTTP has no clipboard. */}
        {window.isSecureContext ? (
          <Button
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
