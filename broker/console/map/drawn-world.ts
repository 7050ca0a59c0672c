// Draws the world and the fleet's ways below the vehicles, once these stand.
import type { Map as LibreMap } from 'maplibre-gl';
import { coloursOf } from './colours.ts';
import type { Ground } from './ground.ts';
import { setData, sourceOf } from './sources.ts';

/** What is no land is drawn as sea once the land is there: a map that is still empty is no ocean. */
function drawSea(map: LibreMap, host: HTMLElement): void {
  const draw = (): void => {
    const isThere = (['countries-far', 'countries'] as const).every(
      (name) => sourceOf(map, name) === undefined || map.isSourceLoaded(name),
    );
    if (!isThere) return;
    map.off('sourcedata', draw);
    if (map.getLayer('land') !== undefined)
      map.setPaintProperty('water', 'background-color', coloursOf(host)['map-water']);
  };
  map.on('sourcedata', draw);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

async function drawWorld(map: LibreMap, ground: Ground, host: HTMLElement): Promise<void> {
  if (!ground.hasWorld()) return;
  const { worldData } = await import('./world/world.ts');
  for (const [name, data] of worldData(ground)) {
    setData(map, name, await data);
    if (name === 'countries') drawSea(map, host);
    // Lets what people do meanwhile come first.
    await pause(0);
  }
}

/** Longest wait for the map to rest, ms. */
const restMostMs = 2000;

/** Resolves when the map rests. A map with thousands of moving vehicles never does, so it waits for a bounded time only. */
const rest = (map: LibreMap): Promise<unknown> => Promise.race([map.once('idle'), pause(restMostMs)]);

/** The world and the fleet's ways. */
export function createWorld(map: LibreMap, host: HTMLElement, ground: Ground, ways: { show(): void }) {
  let styles = 0;
  return {
    /** With each new style of the map. Vehicles come first: the world is drawn once they stand. */
    async begin(): Promise<void> {
      const ofStyle = ++styles;
      await rest(map);
      if (ofStyle !== styles) return;
      host.dataset['isDrawn'] = 'true';
      ways.show();
      await drawWorld(map, ground, host).catch(() => undefined);
    },
    end() {
      styles += 1;
      delete host.dataset['isDrawn'];
    },
  };
}
