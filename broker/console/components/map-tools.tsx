// What every map has over it: zoom, fit, the choice of the base map, what is wrong with it, and whose data it is.
import { Button } from 'react-aria-components';
import { mapWords } from '../../../build/words/map.ts';
import type { FleetMap } from '../map/map.ts';
import { BaseMapMenu, BaseMapNotice, MapCredit } from './base-map.tsx';
import { Icon } from './icon.tsx';
import { useWords } from './use.ts';
import { useBaseMap } from './use-base-map.ts';

interface MapToolsProps {
  readonly map: FleetMap | null;
  /** Null: there is nothing but the choice of the map. */
  readonly fitText?: string | null;
  onFit?(): void;
}

export function MapTools({ map, fitText = null, onFit = () => undefined }: MapToolsProps) {
  const { live } = useWords(mapWords);
  const shown = useBaseMap(map);
  return (
    <>
      <div className="float tools">
        {fitText === null ? null : (
          <>
            <Button className="button square" aria-label={live.zoomIn} onPress={() => map?.zoom(1)}>
              <Icon name="plus" />
            </Button>
            <Button className="button square" aria-label={live.zoomOut} onPress={() => map?.zoom(-1)}>
              <Icon name="minus" />
            </Button>
            <Button className="button square" aria-label={fitText} onPress={onFit}>
              <Icon name="maximize" />
            </Button>
          </>
        )}
        <BaseMapMenu shown={shown} />
      </div>
      <BaseMapNotice shown={shown} />
      <MapCredit shown={shown} />
    </>
  );
}
