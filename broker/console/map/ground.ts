// The layer below the vehicles of one map: base map, language, and the state of its style in MapLibre.
import type { FeatureCollection, Point } from 'geojson';
import type { StyleSpecification } from 'maplibre-gl';
import { BaseMapFault } from '../state/base-map.ts';
import { type BaseMap, useParts } from './base-map.ts';
import { coloursOf } from './colours.ts';
import { styleOf } from './style.ts';

export interface Ground {
  /** In the theme that is shown. */
  style(): StyleSpecification;
  /** The address that MapLibre asks for in place of this one. */
  address(url: string): string;
  /** @returns true when the style has to be set again. */
  set(base: BaseMap | null, language: string): boolean;
  /** MapLibre has taken the style. */
  taken(): void;
  /** An error of MapLibre. @returns false when it is none of the base map's. */
  fail(error: { readonly message: string }): boolean;
  /** False: the base map covers the world that ships. */
  hasWorld(): boolean;
  /** Of the labels. */
  language(): string;
  /** Towns that the base map does not name itself. */
  ownTowns(towns: FeatureCollection<Point>): FeatureCollection<Point>;
  end(): void;
}

export function createGround(host: HTMLElement): Ground {
  let base: BaseMap | null = null;
  let parts: ReturnType<typeof useParts> | null = null;
  let language = 'en';
  let isTaken = true;
  return {
    style: () => styleOf(coloursOf(host), base, language),
    address: (url) => parts?.address(url) ?? url,
    set(wanted, spoken) {
      const isSame = wanted === base && (wanted === null || spoken === language);
      language = spoken;
      if (isSame) return false;
      if (wanted !== base) {
        parts?.end();
        parts = wanted === null ? null : useParts(wanted);
        base = wanted;
      }
      isTaken = false;
      return true;
    },
    taken() {
      isTaken = true;
    },
    fail(error) {
      if (base === null) return false;
      // Reports a style that MapLibre refuses; readers report missing parts.
      if (!isTaken) base.fail(new BaseMapFault('bad-style', base.name, error.message));
      return true;
    },
    hasWorld: () => base === null || base.bounds !== null,
    language: () => language,
    ownTowns(towns) {
      const bounds = base?.bounds ?? null;
      if (bounds === null) return towns;
      const [west, south, east, north] = bounds;
      const isInside = ([x = 0, y = 0]: readonly number[]): boolean =>
        x >= west && x <= east && y >= south && y <= north;
      return {
        ...towns,
        features: towns.features.filter(({ geometry }) => !isInside(geometry.coordinates)),
      };
    },
    end: () => parts?.end(),
  };
}
