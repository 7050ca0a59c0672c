// The frame of the screens of zones and of routes: the list, the map, and the panel or the editor beside them.
import { type ReactNode } from 'react';
import { mapWords } from '../../../../build/words/map.ts';
import { MapTools } from '../../components/map-tools.tsx';
import { Empty } from '../../components/texts.tsx';
import { useTitle, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import type { useShapeMap } from './use-shape-map.ts';

interface ShapeFrameProps {
  readonly titleID: string;
  readonly texts: {
    readonly title: string;
    readonly fit: string;
    missing(a: { readonly name: string }): string;
  };
  readonly opened: ReturnType<typeof useShapeMap>;
  readonly isLoaded: boolean;
  readonly error: Error | null;
  readonly list: ReactNode;
  /** Of the address; `isFound` when it is one of the list. */
  readonly selected: string | undefined;
  readonly isFound: boolean;
  /** The editor or the panel; null when nothing is selected or drawn. */
  readonly side: ReactNode;
}

export function ShapeFrame(props: ShapeFrameProps) {
  const { titleID, texts, opened, isLoaded, error, list, selected, isFound, side } = props;
  const { live } = useWords(mapWords);
  const { host, map, isImpossible } = opened;
  useTitle(texts.title);
  return (
    <main className={side === null ? 'live alone' : 'live'} id="main">
      <h1 className="hidden">{texts.title}</h1>
      <section className="vehicles" aria-labelledby={titleID}>
        <View error={error} isLoaded={isLoaded} empty={null}>
          {list}
        </View>
      </section>
      <div className="map">
        {isImpossible ? (
          <Empty icon="map" title={live.noWebgl} />
        ) : (
          <>
            <div className="map-host" ref={host} dir="ltr" />
            <MapTools
              map={map}
              fitText={isFound ? texts.fit : live.fit}
              onFit={() => (isFound ? map?.fitDraft() : map?.fit())}
            />
          </>
        )}
      </div>
      {side}
      {isLoaded && selected !== undefined && !isFound ? (
        <p className="hidden" role="status">
          {texts.missing({ name: selected })}
        </p>
      ) : null}
    </main>
  );
}
