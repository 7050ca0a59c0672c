// A place that has no name of its own, in words. What makes the words is loaded after the rest of a screen.
import { Suspense } from 'react';
import { withWords } from '../../words/word-set.ts';
import { placeText } from '../texts.tsx';
import { lazyPart } from '../use.ts';

const Spot = lazyPart(async () => (await withWords(import('./spot.tsx'))).Spot);

interface PlaceProps {
  readonly latitude: number;
  readonly longitude: number;
  /** Without the coordinates, where there is no room for them. */
  readonly isShort?: boolean;
}

export function Place({ latitude, longitude, isShort = false }: PlaceProps) {
  return (
    <Suspense fallback={<bdi>{placeText(latitude, longitude)}</bdi>}>
      <Spot latitude={latitude} longitude={longitude} isShort={isShort} />
    </Suspense>
  );
}
