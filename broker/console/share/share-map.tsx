// The map of a share: the mark where the vehicle was last, and its way. It follows until it is moved by a person.
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { SharePageTexts } from '../../../build/words/sharePage/en.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { useFleetMap } from '../components/use-fleet-map.ts';
import type { FleetMap } from '../map/map.ts';
import { worldCredit } from '../state/base-map.ts';
import { type SharedPosition, wayOf } from '../state/shares/shared-view.ts';

interface ShareMapProps {
  /** At least one, oldest first. */
  readonly positions: readonly SharedPosition[];
  readonly isTrip: boolean;
  readonly texts: SharePageTexts;
}

const firstZoom = 12;

const dark = matchMedia('(prefers-color-scheme: dark)');

/** The theme of the browser, which the map is painted in. */
const useTheme = (): string =>
  useSyncExternalStore(
    (listener) => {
      dark.addEventListener('change', listener);
      return () => dark.removeEventListener('change', listener);
    },
    () => (dark.matches ? 'dark' : 'light'),
  );

function Tool({ icon, text, onClick }: { readonly icon: IconName; readonly text: string; onClick(): void }) {
  return (
    <button type="button" className="button square" aria-label={text} title={text} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

function useMark(map: FleetMap | null, { positions, isTrip }: ShareMapProps, isFollowed: boolean): void {
  const way = useMemo(() => wayOf(positions), [positions]);
  useEffect(() => {
    map?.showTrack(way);
    if (isTrip) map?.fitTrack();
  }, [map, way, isTrip]);
  const last = positions.at(-1);
  useEffect(() => {
    if (last === undefined) return;
    const { longitude, latitude, speed, heading } = last;
    map?.showReplay({
      place: [longitude, latitude],
      // The end of a trip, or where it is now.
      speed: isTrip ? 0 : speed,
      heading,
      isMissing: false,
      isFollowed: isFollowed && !isTrip,
    });
  }, [map, last, isFollowed, isTrip]);
}

export function ShareMap(props: ShareMapProps) {
  const { positions, isTrip, texts } = props;
  const [isFollowed, setFollowed] = useState(true);
  const last = positions.at(-1);
  const handlers = {
    place: last === undefined ? null : { ...last, zoom: firstZoom },
    onSelect: () => undefined,
    onSeveral: () => undefined,
    onMove: () => setFollowed(false),
  };
  const { host, map, isImpossible } = useFleetMap(handlers, texts.map, useTheme());
  useMark(map, props, isFollowed);
  if (isImpossible) {
    return (
      <div className="empty">
        <Icon name="map" />
        <strong>{texts.noWebgl}</strong>
      </div>
    );
  }
  return (
    <div className="map" dir="ltr">
      <div className="map-host" ref={host} />
      <div className="float tools">
        <Tool icon="plus" text={texts.zoomIn} onClick={() => map?.zoom(1)} />
        <Tool icon="minus" text={texts.zoomOut} onClick={() => map?.zoom(-1)} />
        {isTrip ? (
          <Tool icon="maximize" text={texts.fit} onClick={() => map?.fitTrack()} />
        ) : (
          <Tool icon="truck" text={texts.show} onClick={() => setFollowed(true)} />
        )}
      </div>
      <small className="float credit">{worldCredit}</small>
    </div>
  );
}
