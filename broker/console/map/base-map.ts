// A base map that replaces the shipped world, and the only reader of its parts. MapLibre's worker forwards requests of our
// scheme, so the page makes every request: with the token for our files, without one for other hosts.
import type {
  AddProtocolAction,
  LayerSpecification,
  SourceSpecification,
  SpriteSpecification,
} from 'maplibre-gl';
import type { BaseMapFault } from '../state/base-map.ts';
import type { Value } from '../state/value.ts';
import type { Colours } from './vehicles/colour-names.ts';

/** West, south, east, north in degrees. */
export type Bounds = readonly [number, number, number, number];

export interface BaseMap {
  /** Name of its file, or its host. */
  readonly name: string;
  readonly sources: Readonly<Record<string, SourceSpecification>>;
  readonly sprite?: SpriteSpecification;
  /** Bounds in which it names the towns itself; null: it covers the world and replaces the shipped one. */
  readonly bounds: Bounds | null;
  /** It holds data of OpenStreetMap. */
  readonly hasOpenData: boolean;
  /** Below zones and vehicles, in the colours of the theme where it has none of its own. @param language as in `html lang`. */
  layers(colours: Colours, language: string): readonly LayerSpecification[];
  /** Reads what a source asks for. @throws BaseMapFault, Error */
  read(url: string, signal: AbortSignal): Promise<ArrayBuffer>;
  /** True for addresses that must go through `read`. */
  isOwn(url: string): boolean;
  /** It cannot be drawn, or a part of it; what screens then say and do is theirs. */
  fail(fault: BaseMapFault): void;
}

export interface OpenedMap {
  readonly base: BaseMap;
  /** Credit of its makers; '' unless it has one. Some parts have one when they are first read. */
  readonly credit: Value<string>;
}

/** Called with a fault of an open map. */
export type OnFault = (fault: BaseMapFault) => void;

const scheme = 'base-map';
const opened = new Map<string, BaseMap>();
let lastID = 0;

/** The names of a base map cannot meet those of the console's own sources and layers. */
export const baseName = (name: string): string => `base ${name}`;

interface BaseMapUse {
  /** The address that MapLibre asks for in place of this one. */
  address(url: string): string;
  end(): void;
}

/** Opens the door for the parts of a base map. */
export function useParts(base: BaseMap): BaseMapUse {
  lastID += 1;
  const id = String(lastID);
  opened.set(id, base);
  return {
    address: (url) => (base.isOwn(url) ? `${scheme}://${id}/${url}` : url),
    end: () => void opened.delete(id),
  };
}

/** For MapLibre: reads a part of a map. */
export const partReader: { readonly scheme: string; readonly read: AddProtocolAction } = {
  scheme,
  async read({ url, type }, { signal }) {
    const [, id = '', address = ''] = /^[a-z-]+:\/\/(\d+)\/(.*)$/s.exec(url) ?? [];
    const base = opened.get(id);
    if (base === undefined) throw new DOMException('This map was replaced by another', 'AbortError');
    const data = await base.read(address, signal);
    return { data: type === 'json' ? (JSON.parse(new TextDecoder().decode(data)) as object) : data };
  },
};
