// What every map has over it: zoom, fit, the choice of the base map, what is wrong with it, and whose data it is.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import {
  Button,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  Text,
} from 'react-aria-components';
import { mapWords } from '../../../build/words/map.ts';
import type { Result } from '../api/operations.ts';
import type { OnFault, OpenedMap } from '../map/base-map.ts';
import type { FleetMap } from '../map/map.ts';
import { call } from '../service/call.ts';
import { returns } from '../service/live.ts';
import { baseMapChoice, chooseBaseMap } from '../service/maps/base-maps.ts';
import { readMapPart } from '../service/maps/map-parts.ts';
import { readWays } from '../service/maps/ways.ts';
import { useRole } from '../service/role.ts';
import { session } from '../service/session.ts';
import {
  type BaseMapChoice,
  BaseMapFault,
  choiceText,
  fileTitle,
  parseChoice,
  worldChoice,
} from '../state/base-map.ts';
import { createValue } from '../state/value.ts';
import { loadPart } from '../words/parts.ts';
import { language, type WordsWith } from '../words/word-set.ts';
import { Icon } from './icon.tsx';
import { Notice } from './texts.tsx';
import { useValue, useWords } from './use.ts';

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

interface ShownBaseMap {
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

interface Row {
  readonly key: string;
  readonly title: string;
  /** What the choice means beyond this service; '': nothing. */
  readonly hint: string;
}

/** The world, the files, the style, and what was chosen although it is no longer offered. */
function rowsOf({ offer, choice }: ShownBaseMap, { baseMap }: WordsWith<[typeof mapWords]>): readonly Row[] {
  const rows: Row[] = [{ key: choiceText(worldChoice), title: baseMap.world, hint: '' }];
  for (const { name } of offer?.maps ?? [])
    rows.push({ key: choiceText({ kind: 'file', name }), title: fileTitle(name), hint: '' });
  const style = offer?.style ?? null;
  if (style !== null) {
    const { host } = new URL(style.url);
    rows.push({
      key: choiceText({ kind: 'style' }),
      title: baseMap.style({ host }),
      hint: baseMap.hostLearns({ host }),
    });
  }
  const chosen = choiceText(choice);
  if (choice.kind === 'file' && !rows.some(({ key }) => key === chosen))
    rows.push({ key: chosen, title: fileTitle(choice.name), hint: '' });
  return rows;
}

/** What is chosen here for every user of the account who chooses nothing; for administrators. */
function useForAll() {
  const queries = useQueryClient();
  const accountID = useValue(session)?.accountID ?? '';
  return useMutation({
    mutationFn: (baseMap: string) => call('updateAccount', { body: { accountID, baseMap } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['maps'] }),
  });
}

const forAll = 'for-all';

/** A button that opens the list of maps; nothing while there is nothing to choose from. */
function BaseMapMenu({ shown }: { readonly shown: ShownBaseMap }) {
  const words = useWords(mapWords);
  const { baseMap } = words;
  const rows = rowsOf(shown, words);
  const role = useRole();
  const setForAll = useForAll();
  const chosen = choiceText(shown.choice);
  const isForAll = chosen === choiceText(parseChoice(shown.offer?.chosen ?? null));
  if (rows.length < 2) return null;
  return (
    <MenuTrigger>
      <Button className="button square base-map" aria-label={baseMap.choose}>
        <Icon name="layers" />
      </Button>
      <Popover className="menu" placement="bottom end">
        <Menu
          aria-label={baseMap.choose}
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[chosen]}
          onAction={(key) => {
            if (key === forAll) setForAll.mutate(chosen);
          }}
          onSelectionChange={(keys) => {
            for (const key of new Set<unknown>(keys))
              if (key !== forAll) chooseBaseMap(parseChoice(String(key)));
          }}
        >
          <MenuSection>
            <Header>{baseMap.choose}</Header>
            {rows.map(({ key, title, hint }) => (
              <MenuItem key={key} id={key} textValue={title}>
                <bdi>{title}</bdi>
                {hint === '' ? null : <Text slot="description">{hint}</Text>}
              </MenuItem>
            ))}
          </MenuSection>
          {role === 'admin' && !isForAll ? (
            <MenuSection selectionMode="none" aria-label={baseMap.forAll}>
              <MenuItem id={forAll}>{baseMap.forAll}</MenuItem>
            </MenuSection>
          ) : null}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

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
  const { live, baseMap } = useWords(mapWords);
  const own = useValue(opened?.credit ?? noCredit);
  if (opened === null) return <p className="float credit">{live.credit}</p>;
  const { bounds, name, hasOpenData } = opened.base;
  if (bounds === null) return <p className="float credit always">{own === '' ? name : own}</p>;
  return (
    <p className="float credit always">
      {hasOpenData ? (
        <a href={osmCopyright} target="_blank" rel="noopener noreferrer">
          {baseMap.osm}
        </a>
      ) : null}
      {[own === '' || /openstreetmap/i.test(own) ? '' : own, live.credit]
        .filter((text) => text !== '')
        .map((text, at) => (at > 0 || hasOpenData ? ` · ${text}` : text))}
    </p>
  );
}

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
