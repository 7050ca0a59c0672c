// The map of the last picture: where the vehicles were, over the world that ships.
import { useEffect } from 'react';
import { Icon, type IconName } from '../components/icon.tsx';
import { Empty } from '../components/texts.tsx';
import { useValue, useWords } from '../components/use.ts';
import { useFleetMap } from '../components/use-fleet-map.ts';
import { shownTheme } from '../shell/theme.ts';
import { type Picture, vehiclesOf } from '../state/offline/picture.ts';
import { offlineWords } from '../words/offline/words.ts';

function Tool({ icon, text, onClick }: { readonly icon: IconName; readonly text: string; onClick(): void }) {
  return (
    <button type="button" className="button square" aria-label={text} title={text} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

export function OfflineMap({ picture }: { readonly picture: Picture }) {
  const { offline: texts } = useWords(offlineWords);
  const handlers = {
    place: null,
    onSelect: () => undefined,
    onSeveral: () => undefined,
    onMove: () => undefined,
  };
  const { host, map, isImpossible } = useFleetMap(handlers, texts.map, useValue(shownTheme));
  useEffect(() => map?.show(vehiclesOf(picture), null), [map, picture]);
  if (isImpossible) return <Empty icon="map" title={texts.noMap} />;
  return (
    <div className="map offline-map">
      <div className="map-host" ref={host} dir="ltr" />
      <div className="float tools">
        <Tool icon="plus" text={texts.zoomIn} onClick={() => map?.zoom(1)} />
        <Tool icon="minus" text={texts.zoomOut} onClick={() => map?.zoom(-1)} />
        <Tool icon="maximize" text={texts.fit} onClick={() => map?.fit()} />
      </div>
      <small className="float credit">Natural Earth, © GeoNames</small>
    </div>
  );
}
