// The map of zones and routes: the vehicles, and the shape that is selected or drawn.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Zone } from '../../../../src/core/geo/geozone.ts';
import { useWorstFirst } from '../../components/rows/use-worst-first.ts';
import { useValue } from '../../components/use.ts';
import { useFleetMap } from '../../components/use-fleet-map.ts';
import { shownTheme } from '../../shell/theme.ts';
import { parsePlace, placeText } from '../../state/map-place.ts';
import { isInMiles } from '../../words/measures.ts';
import type { DraftEdit } from './use-draft.ts';

interface ShapeMap {
  /** Name of the map. */
  readonly name: string;
  readonly edit: DraftEdit;
  readonly isEditing: boolean;
  /** Text of the drawn shape and of the place in the address. */
  readonly shape: string | undefined;
  readonly at: string | undefined;
  /** Undefined: none is selected, or it is not there. */
  readonly selected: { readonly id: string; readonly shape: Zone } | undefined;
  /** Puts the place into the address. */
  onPlace(text: string): void;
}

export function useShapeMap({ name, edit, isEditing, shape, at, selected, onPlace }: ShapeMap) {
  const navigate = useNavigate();
  const sorted = useWorstFirst();
  const opened = useFleetMap(
    {
      place: parsePlace(at),
      isInMiles: isInMiles(),
      onSelect: (deviceID) => void navigate({ to: '/vehicle/$deviceID', params: { deviceID } }),
      onSeveral: () => undefined,
      onMove: (place) => onPlace(placeText(place)),
    },
    name,
    useValue(shownTheme),
  );
  const { map } = opened;
  const { id, shape: shown = null } = selected ?? {};
  const handlers = useRef(edit);
  handlers.current = edit;
  useEffect(() => map?.show(sorted, null), [map, sorted]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text of the address is what is drawn, and its shape another object each time
  useEffect(() => {
    map?.showDraft(isEditing ? handlers.current.draft : shown);
  }, [map, shown, isEditing, shape]);
  useEffect(() => {
    if (map === null || !isEditing) return undefined;
    void map.draw({
      onAdd: (point) => handlers.current.add(point),
      onMove: (index, point) => handlers.current.move(index, point),
      onUndo: () => handlers.current.undo(),
    });
    return () => void map.draw(null);
  }, [map, isEditing]);
  const wentTo = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (map === null || id === undefined || wentTo.current === id) return;
    // A selection that came with the address keeps the place that the address says.
    if (wentTo.current !== undefined || parsePlace(at) === null) map.fitDraft();
    wentTo.current = id;
  }, [map, id, at]);
  return opened;
}
