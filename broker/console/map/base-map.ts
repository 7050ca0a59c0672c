// What a map draws in place of the world that ships, and the one door by which its parts are read. MapLibre's worker passes on what begins with
// our scheme, so that every request is made by the page: with the token for our files, without one for other hosts.
import type {
  AddProtocolAction,
  LayerSpecification,
  SourceSpecification,
  SpriteSpecification,
} from 'maplibre-gl';
import type { BaseMapFault } from '../state/base-map.ts';
import type { Value } from '../state/value.ts';
import type { Colours } from './colour-names.ts';

/** West, south, east, north in degrees. */
export type Bounds = readonly [number, number, number, number];

export interface BaseMap {
  /** Name of its file, or its host. */
  readonly name: string;
  readonly sources: Readonly<Record<string, SourceSpecification>>;
  readonly sprite?: SpriteSpecification;
  /** Where it names the towns itself; null: it covers the world, and the one that ships is not drawn below it. */
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
  /** Who has made it, as it says itself; '' unless it does. Some parts say so when they are first read. */
  readonly credit: Value<string>;
}

/** Told what is wrong with a map after it was opened. */
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
