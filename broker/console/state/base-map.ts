// Choice of the base map: the shipped world, a map file of the service, or the map of another host. Pure.

export type BaseMapChoice =
  | { readonly kind: 'world' }
  | { readonly kind: 'file'; readonly name: string }
  | { readonly kind: 'style' };

const filePrefix = 'file:';

export const worldChoice: BaseMapChoice = { kind: 'world' };

/** Credit of the shipped world: names, which are the same in every language. */
export const worldCredit = 'Natural Earth, © GeoNames';

/** The choice as text for the storage of this computer, and as the key of its row in a menu. */
export const choiceText = (choice: BaseMapChoice): string =>
  choice.kind === 'file' ? `${filePrefix}${choice.name}` : choice.kind;

/** An invalid choice counts as the shipped world. */
export function parseChoice(text: string | null): BaseMapChoice {
  if (text === 'style') return { kind: 'style' };
  if (text?.startsWith(filePrefix) === true && /^[\w.-]{1,128}\.pmtiles$/.test(text.slice(filePrefix.length)))
    return { kind: 'file', name: text.slice(filePrefix.length) };
  return worldChoice;
}

/** The name of a map file as people read it. */
export const fileTitle = (name: string): string => name.replace(/\.pmtiles$/, '');

/**
 * Reasons why a map is not drawn completely:
 * - `gone`: the service has no such file, or no style any more;
 * - `truncated`: the file ends before its last tile;
 * - `not-pmtiles`: it is no PMTiles archive of version 3;
 * - `not-vector`: its tiles are pictures, or packed in a way that browsers cannot read;
 * - `not-base-map`: it lacks the layers of a Protomaps base map;
 * - `unreachable`: no answer, or one that is no map;
 * - `bad-style`: what was answered is no MapLibre style;
 * - `host`: a part of the style lies at a host that is not allowed. The rest is drawn.
 */
export type BaseMapFaultCode =
  | 'gone'
  | 'truncated'
  | 'not-pmtiles'
  | 'not-vector'
  | 'not-base-map'
  | 'unreachable'
  | 'bad-style'
  | 'host';

/** A map that cannot be drawn. The message is for the log; screens make their words from the code. */
export class BaseMapFault extends Error {
  readonly code: BaseMapFaultCode;
  /** Name of the file, or host. */
  readonly source: string;
  constructor(code: BaseMapFaultCode, source: string, detail = '') {
    super(detail === '' ? `${source}: ${code}` : `${source}: ${code}: ${detail}`);
    this.code = code;
    this.source = source;
  }
}

/** Bytes of a map file. */
export interface MapRange {
  readonly offset: number;
  readonly length: number;
}

/** Part of a map file as the service gives it. */
export interface MapPart {
  readonly data: ArrayBuffer;
  readonly etag: string;
  /** Bytes of the whole file. */
  readonly size: number;
}

/** @throws BaseMapFault `gone` without such a file, `truncated` without such bytes, `unreachable` without an answer. */
export type ReadMapPart = (name: string, range: MapRange, signal?: AbortSignal) => Promise<MapPart>;

/** The text of an attribution, which may be HTML: a map's host must not bring markup into the page. */
export function creditText(html: unknown): string {
  if (typeof html !== 'string') return '';
  const text = html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&copy;/gi, '©')
    .replace(/&nbsp;/gi, ' ')
    .replace(/&amp;/gi, '&');
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}
