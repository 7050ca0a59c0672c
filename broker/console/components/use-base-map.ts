// The base map of this computer's choice under a map: opened when it is chosen, taken away when it cannot be drawn.
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import type { Result } from '../api/operations.ts';
import type { OnFault, OpenedMap } from '../map/base-map.ts';
import type { FleetMap } from '../map/map.ts';
import { call } from '../service/call.ts';
import { returns } from '../service/live.ts';
import { baseMapChoice } from '../service/maps/base-maps.ts';
import { readMapPart } from '../service/maps/map-parts.ts';
import { type BaseMapChoice, BaseMapFault, choiceText } from '../state/base-map.ts';
import { loadPart } from '../words/parts.ts';
import { language } from '../words/word-set.ts';
import { useValue } from './use.ts';

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
export function useBaseMap(map: FleetMap | null): ShownBaseMap {
  const choice = useValue(baseMapChoice);
  const spoken = useValue(language);
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<State>(nothing);
  const { data, isError } = useQuery({
    queryKey: ['maps'],
    queryFn: ({ signal }) => call('getMaps', { signal }),
    staleTime: 60_000,
  });
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
