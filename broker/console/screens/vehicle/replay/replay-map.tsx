// The way of the period on the map, and where the vehicle was at the moment of the replay.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { tabWords } from '../../../../../build/words/tab.ts';
import { MapTools } from '../../../components/map-tools.tsx';
import { Empty } from '../../../components/texts.tsx';
import { useValue, useWords } from '../../../components/use.ts';
import { useFleetMap } from '../../../components/use-fleet-map.ts';
import { shownTheme } from '../../../shell/theme.ts';
import { parsePlace, placeText } from '../../../state/map-place.ts';
import { linesOf, momentAt, type ReplayTrack } from '../../../state/replay.ts';
import type { Value } from '../../../state/value.ts';
import { isInMiles } from '../../../words/measures.ts';

interface ReplayMapProps {
  readonly track: ReplayTrack;
  readonly time: Value<number>;
  readonly isFollowed: boolean;
}

export function ReplayMap({ track, time, isFollowed }: ReplayMapProps) {
  const { replay } = useWords(tabWords);
  const navigate = useNavigate({ from: '/vehicle/$deviceID' });
  const { at } = useSearch({ from: '/shell/vehicle/$deviceID' });
  const place = parsePlace(at);
  const hasPlace = place !== null;
  const { host, map, isImpossible } = useFleetMap(
    {
      place,
      isInMiles: isInMiles(),
      onSelect: () => undefined,
      onSeveral: () => undefined,
      onMove: (to) =>
        void navigate({ search: (before) => ({ ...before, at: placeText(to) }), replace: true }),
    },
    replay.map,
    useValue(shownTheme),
  );
  const lines = useMemo(() => linesOf(track), [track]);
  useEffect(() => {
    map?.showTrack(lines.prompt, lines.late);
    if (!hasPlace) map?.fitTrack();
  }, [map, lines, hasPlace]);
  useEffect(() => {
    if (map === null) return undefined;
    const show = (): void => {
      const { place: to, heading, speed, isMissing } = momentAt(track, time.get());
      map.showReplay(to === null ? null : { place: to, speed, heading, isMissing, isFollowed });
    };
    show();
    return time.subscribe(show);
  }, [map, track, time, isFollowed]);
  return (
    <div className="map">
      {isImpossible ? (
        <Empty icon="map" title={replay.noWebgl} />
      ) : (
        <>
          <div className="map-host" ref={host} dir="ltr" />
          <MapTools map={map} fitText={replay.fit} onFit={() => map?.fitTrack()} />
        </>
      )}
    </div>
  );
}
