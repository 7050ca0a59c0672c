// What every map has over it: zoom, fit, the choice of the base map, what is wrong with it, and whose data it is.

import { useQuery } from '@tanstack/react-query';
import { Suspense, useCallback, useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { mapWords } from '../../../build/words/map.ts';
import type { Result } from '../api/operations.ts';
import type { OnFault, OpenedMap } from '../map/base-map.ts';
import type { FleetMap } from '../map/map.ts';
import { call } from '../service/call.ts';
import { returns } from '../service/live.ts';
import { baseMapChoice } from '../service/maps/base-maps.ts';
import { readMapPart } from '../service/maps/map-parts.ts';
import { readWays } from '../service/maps/ways.ts';
import {
  type BaseMapChoice,
  BaseMapFault,
  choiceText,
  parseChoice,
  worldChoice,
  worldCredit,
} from '../state/base-map.ts';
import { createValue } from '../state/value.ts';
import { loadPart } from '../words/parts.ts';
import { language, withWords } from '../words/word-set.ts';
import { Icon } from './icon.tsx';
import { Notice } from './texts.tsx';
import { lazyPart, useValue, useWords } from './use.ts';

// The base map of this computer's choice under a map: opened when it is chosen, taken away when it cannot be drawn.

type Offer = Result<'getMaps'>;

/** The code that draws a map is loaded when one is chosen. @throws BaseMapFault */
async function openMap(
  choice: BaseMapChoice,
  style: Offer['style'],
  onFault: OnFault,
): Promise<OpenedMap | null> {
  if (choice.kind === 'world') return null;
  if (choice.kind === 'file') {
    const { openFileMap } = await loadPart(import('../map/file-map.ts'));
    return openFileMap(choice.name, readMapPart, onFault);
  }
  if (style === null) throw new BaseMapFault('gone', '');
  const { openStyleMap } = await loadPart(import('../map/style-map.ts'));
  return openStyleMap(style, onFault);
}

export interface ShownBaseMap {
  /** Null until the service has said what there is. */
  readonly offer: Offer | null;
  readonly choice: BaseMapChoice;
  /** What is drawn; null: the world that ships. */
  readonly opened: OpenedMap | null;
  /** Why it is not, or not all of it; null: nothing is wrong. */
  readonly fault: BaseMapFault | null;
  retry(): void;
}

interface State {
  readonly opened: OpenedMap | null;
  readonly fault: BaseMapFault | null;
}

const nothing: State = { opened: null, fault: null };

/** A fault after which nothing is drawn takes the map away. */
const withFault = (before: State, fault: BaseMapFault): State =>
  fault.code === 'host' ? { ...before, fault } : { opened: null, fault };

/** @param map null: not loaded yet. */
function useBaseMap(map: FleetMap | null): ShownBaseMap {
  const own = useValue(baseMapChoice);
  const spoken = useValue(language);
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<State>(nothing);
  const { data, isError } = useQuery({
    queryKey: ['maps'],
    queryFn: ({ signal }) => call('getMaps', { signal }),
    staleTime: 60_000,
  });
  const choice = own ?? (data === undefined ? worldChoice : parseChoice(data.chosen));
  const chosen = choiceText(choice);
  // A list that was read anew is another object; the address of the style is what counts.
  const styleURL = data?.style?.url ?? null;
  const mustWait = choice.kind === 'style' && data === undefined && !isError;
  const isWanted = map !== null && !mustWait;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the texts stand for the objects, and an attempt opens all anew
  useEffect(() => {
    if (!isWanted) return undefined;
    let isGone = false;
    const fail = (fault: BaseMapFault): void => {
      if (!isGone) setState((before) => withFault(before, fault));
    };
    const open = async (): Promise<void> => {
      const opened = await openMap(choice, data?.style ?? null, fail);
      if (!isGone) setState({ opened, fault: null });
    };
    open().catch((thrown: unknown) =>
      fail(thrown instanceof BaseMapFault ? thrown : new BaseMapFault('unreachable', chosen, String(thrown))),
    );
    return () => {
      isGone = true;
    };
  }, [isWanted, chosen, styleURL, attempt]);
  const { opened, fault } = state;
  useEffect(() => map?.showWays(readWays), [map]);
  useEffect(() => map?.showBase(opened?.base ?? null, spoken), [map, opened, spoken]);
  const retry = useCallback(() => setAttempt((count) => count + 1), []);
  useEffect(() => {
    return returns.subscribe(() => {
      // Parts that were asked for meanwhile are missing.
      if (fault?.code === 'unreachable') retry();
      else if (opened !== null) map?.repaint();
    });
  }, [fault, opened, map, retry]);
  return { offer: data ?? null, choice, opened, fault, retry };
}

// The choice of the base map, what is wrong with it, and whose data is drawn: over every map.

const osmCopyright = 'https://www.openstreetmap.org/copyright';
const noCredit = createValue('');

const BaseMapMenu = lazyPart(async () => (await withWords(import('./base-map-menu.tsx'))).BaseMapMenu);

/** Why the chosen map is not drawn, or not all of it. */
function BaseMapNotice({ shown: { fault, retry } }: { readonly shown: ShownBaseMap }) {
  const { baseMap, common } = useWords(mapWords);
  return (
    <div className="map-notice" role="status">
      {fault === null ? null : (
        <Notice
          tone="look"
          icon="triangle-alert"
          title={baseMap.faults[fault.code]({ name: fault.source, hasName: fault.source !== '' })}
        >
          {fault.code === 'host' ? baseMap.restDrawn : baseMap.worldInstead}{' '}
          <Button className="button small" onPress={retry}>
            {common.retry}
          </Button>
        </Notice>
      )}
    </div>
  );
}

/** Whose data is drawn. A map of OpenStreetMap's data has to say so wherever it is shown (ODbL 1.0, 4.3). */
function MapCredit({ shown: { opened } }: { readonly shown: ShownBaseMap }) {
  const { baseMap } = useWords(mapWords);
  const own = useValue(opened?.credit ?? noCredit);
  if (opened === null) return <p className="float credit">{worldCredit}</p>;
  const { bounds, name, hasOpenData } = opened.base;
  if (bounds === null) return <p className="float credit always">{own === '' ? name : own}</p>;
  return (
    <p className="float credit always">
      {hasOpenData ? (
        <>
          <a href={osmCopyright} target="_blank" rel="noopener noreferrer">
            {baseMap.osm}
          </a>
          {' · '}
        </>
      ) : null}
      {own === '' || /openstreetmap/i.test(own) ? '' : `${own} · `}
      {worldCredit}
    </p>
  );
}

interface MapToolsProps {
  readonly map: FleetMap | null;
  /** Null: nothing can be pressed, and the map is that of this computer or account. */
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
        <Suspense>{fitText === null ? null : <BaseMapMenu shown={shown} />}</Suspense>
      </div>
      <BaseMapNotice shown={shown} />
      <MapCredit shown={shown} />
    </>
  );
}
