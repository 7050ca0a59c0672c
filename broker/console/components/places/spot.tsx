// A place that has no name of its own: the nearest town and the direction from it, and the coordinates, which can be copied and opened in
// the reader's map.
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { nearestWords } from '../../../../build/words/nearest.ts';
import { Icon } from '../icon.tsx';
import { amountText, placeText } from '../texts.tsx';
import { useWords } from '../use.ts';
import { useNearText } from './use-near-text.ts';

interface SpotProps {
  readonly latitude: number;
  readonly longitude: number;
  readonly isShort: boolean;
}

export function Spot(spot: SpotProps) {
  const words = useWords(nearestWords);
  const { nearest } = words;
  const near = useNearText(spot, nearest, (km) => amountText(km, 'km', words));
  const [isCopied, setCopied] = useState(false);
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
