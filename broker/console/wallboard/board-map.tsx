// The map of the board: it shows all vehicles by itself, unless a person has moved it.
import { useEffect, useRef } from 'react';
import { wallboardWords } from '../../../build/words/wallboard.ts';
import { BaseMapMenu, BaseMapNotice, MapCredit } from '../components/base-map.tsx';
import { Empty } from '../components/texts.tsx';
import { useValue, useWords } from '../components/use.ts';
import { useBaseMap } from '../components/use-base-map.ts';
import { useFleetMap } from '../components/use-fleet-map.ts';
import { shownTheme } from '../shell/theme.ts';
import type { Vehicle } from '../state/fleet.ts';

/** From this width on the style sheet scales the map up, so that its names are read from afar. */
const isLarge = matchMedia('(min-width: 1200px)');
const magnified = 2;

const fitMs = 30_000;
/** A place that a person has chosen is kept so long. */
const keptMs = 600_000;

export function BoardMap({ vehicles }: { readonly vehicles: readonly Vehicle[] }) {
  const { wallboard: texts } = useWords(wallboardWords);
  const movedMs = useRef(0);
  const handlers = {
    place: null,
    magnified: isLarge.matches ? magnified : 1,
    onSelect: () => undefined,
    onSeveral: () => undefined,
    onMove: () => {
      movedMs.current = Date.now();
    },
  };
  const { host, map, isImpossible } = useFleetMap(handlers, texts.map, useValue(shownTheme));
  const base = useBaseMap(map);
  useEffect(() => map?.show(vehicles, null), [map, vehicles]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (Date.now() - movedMs.current > keptMs) map?.fit();
    }, fitMs);
    return () => clearInterval(timer);
  }, [map]);
  return (
    <div className="map board-map">
      {isImpossible ? (
        <Empty icon="map" title={texts.noMap} />
      ) : (
        <>
          <div className="map-host" ref={host} dir="ltr" />
          <div className="float tools">
            <BaseMapMenu shown={base} />
          </div>
          <BaseMapNotice shown={base} />
          <MapCredit shown={base} />
        </>
      )}
    </div>
  );
}
