// A map in an element of the page: loaded when it is shown, painted anew when the theme changes.
import { useEffect, useRef, useState } from 'react';
import type { FleetMap } from '../map/map.ts';
import type { Place } from '../state/here.ts';
import type { MapPlace } from '../state/map-place.ts';
import { loadPart, PartNotLoaded } from '../words/parts.ts';

interface MapHandlers {
  /** Where it begins; null: at the place of what it shows. */
  readonly place: MapPlace | null;
  /** As in `MapOptions`. */
  readonly magnified?: number;
  readonly isInMiles?: boolean;
  onSelect(deviceID: string): void;
  /** Pressed were several vehicles at one place. */
  onSeveral(places: readonly Place[]): void;
  onMove(place: MapPlace): void;
}

/**
 * The map of this host element; null until it is loaded, or without WebGL.
 * @param title names the map for a screen reader.
 * @param theme the theme that is drawn.
 */
export function useFleetMap(
  { onSelect, onSeveral, onMove, place, magnified = 1, isInMiles = false }: MapHandlers,
  title: string,
  theme: string,
) {
  const host = useRef<HTMLDivElement>(null);
  const [map, setMap] = useState<FleetMap | null>(null);
  const [isImpossible, setImpossible] = useState(false);
  const handlers = useRef({ onSelect, onSeveral, onMove });
  handlers.current = { onSelect, onSeveral, onMove };
  const first = useRef({ place, magnified, isInMiles });
  const name = useRef(title);
  const painted = useRef<string | null>(null);
  useEffect(() => {
    let made: FleetMap | null = null;
    let isGone = false;
    const begin = async (): Promise<void> => {
      const { createFleetMap, loadWorker } = await loadPart(import('../map/map.ts'));
      await loadPart(loadWorker());
      if (isGone || host.current === null) return;
      made = createFleetMap({
        host: host.current,
        ...first.current,
        title: name.current,
        onSelect: (id) => handlers.current.onSelect(id),
        onSeveral: (places) => handlers.current.onSeveral(places),
        onMove: (to) => handlers.current.onMove(to),
      });
      setMap(made);
    };
    // That a part is gone says nothing of what this browser can draw; the shell says it.
    begin().catch((thrown: unknown) => setImpossible(!(thrown instanceof PartNotLoaded)));
    return () => {
      isGone = true;
      made?.remove();
    };
  }, []);
  useEffect(() => {
    if (map === null) return;
    if (painted.current !== null && painted.current !== theme) map.repaint();
    painted.current = theme;
  }, [map, theme]);
  return { host, map, isImpossible };
}
