// The map of another host: a MapLibre style that the browser reads there. It asks only configured hosts and sends nothing of this
// session. It uses only the style's sources, layers and pictures.
import type { LayerSpecification, SourceSpecification } from 'maplibre-gl';
import { BaseMapFault, creditText } from '../state/base-map.ts';
import { createValue, type Value } from '../state/value.ts';
import { type BaseMap, baseName, type OnFault, type OpenedMap } from './base-map.ts';
import { withLocalLabels } from './labels.ts';

export interface StyleSetting {
  readonly url: string;
  readonly origins: readonly string[];
}

/** Bytes of a style, and of one of its parts. */
const bytesMost = { style: 4 * 1024 * 1024, part: 16 * 1024 * 1024 } as const;
const layersMost = 2000;
const sourcesMost = 100;
/** A host that has not answered by then counts as unreachable, ms. */
const patienceMs = 20_000;
/** So many failures, and not one answer: the host cannot be reached. */
const failuresMost = 3;

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url.slice(0, 80));

/** Nothing of this session: no cookie, no token, no address of the page. */
async function ask(url: string, most: number, signal?: AbortSignal): Promise<ArrayBuffer> {
  const patience = AbortSignal.timeout(patienceMs);
  const answer = await fetch(url, {
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    signal: signal === undefined ? patience : AbortSignal.any([signal, patience]),
  });
  // A tile that does not exist: many hosts leave out those of the sea.
  if (tilePattern.test(url) && (answer.status === 404 || answer.status === 204)) return new ArrayBuffer(0);
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  if (Number(answer.headers.get('content-length') ?? 0) > most) throw new Error(`more than ${most} bytes`);
  const data = await answer.arrayBuffer();
  if (data.byteLength > most) throw new Error(`more than ${most} bytes`);
  return data;
}

/** What has zoom, column and row in its address. */
const tilePattern = /\/\d+\/\d+\/\d+/;

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An address in a style may be relative to it; the braces of tiles stay as they are. */
const absolute = (text: string, base: string): string =>
  /^[a-z][a-z0-9+.-]*:/i.test(text)
    ? text
    : new URL(text, base).href.replaceAll('%7B', '{').replaceAll('%7D', '}');

function sourceOf(source: Json, base: string): SourceSpecification {
  const { url, tiles, data } = source;
  return {
    ...source,
    ...(typeof url === 'string' ? { url: absolute(url, base) } : {}),
    ...(typeof data === 'string' ? { data: absolute(data, base) } : {}),
    ...(Array.isArray(tiles) ? { tiles: tiles.map((tile) => absolute(String(tile), base)) } : {}),
  } as unknown as SourceSpecification;
}

function spriteOf(sprite: unknown, base: string): BaseMap['sprite'] {
  if (typeof sprite === 'string') return absolute(sprite, base);
  if (!Array.isArray(sprite)) return undefined;
  return sprite.filter(isObject).map(({ id, url }) => ({ id: String(id), url: absolute(String(url), base) }));
}

interface Style {
  readonly sources: Readonly<Record<string, SourceSpecification>>;
  readonly layers: readonly LayerSpecification[];
  readonly sprite: BaseMap['sprite'];
  readonly credits: readonly string[];
}

/** @throws BaseMapFault `bad-style`. What is wrong inside of a layer or source is MapLibre's to find. */
function parseStyle({ url }: StyleSetting, bytes: ArrayBuffer): Style {
  const bad = (detail: string): BaseMapFault => new BaseMapFault('bad-style', hostOf(url), detail);
  let style: unknown;
  try {
    style = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw bad('it is no JSON');
  }
  if (!isObject(style) || style['version'] !== 8) throw bad('it has no version 8');
  const { sources, layers, sprite } = style;
  if (!isObject(sources) || Object.keys(sources).length > sourcesMost) throw bad('its sources');
  if (!Array.isArray(layers) || layers.length > layersMost) throw bad('its layers');
  const rows: readonly unknown[] = layers;
  if (!rows.every(isObject) || !Object.values(sources).every(isObject)) throw bad('its layers or sources');
  const named = rows.map(({ id, source, ...rest }) => ({
    ...rest,
    id: baseName(typeof id === 'string' ? id : ''),
    ...(typeof source === 'string' ? { source: baseName(source) } : {}),
  })) as unknown as LayerSpecification[];
  const own = Object.entries(sources as Readonly<Record<string, Json>>);
  const credits = own.map(([, { attribution }]) => creditText(attribution)).filter((text) => text !== '');
  const pictures = spriteOf(sprite, url);
  return {
    sources: Object.fromEntries(own.map(([id, source]) => [baseName(id), sourceOf(source, url)])),
    layers: withLocalLabels(named, pictures !== undefined),
    sprite: pictures,
    credits,
  };
}

interface ReaderOptions {
  readonly setting: StyleSetting;
  /** Its pictures. */
  readonly sprite: BaseMap['sprite'];
  readonly onFault: OnFault;
  /** Credit in a part. */
  onCredit(text: string): void;
}

/** The attribution in the description of a source (TileJSON). */
function attributionIn(data: ArrayBuffer): string {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(data));
    return isObject(value) ? creditText(value['attribution']) : '';
  } catch {
    return '';
  }
}

/** Reads parts of the style at hosts that are allowed, and judges whether its host answers at all. */
function createReader({ setting, sprite, onFault, onCredit }: ReaderOptions): BaseMap['read'] {
  const sprites = typeof sprite === 'string' ? [sprite] : (sprite ?? []).map(({ url }) => url);
  const refused = new Set<string>();
  let failures = 0;
  let hasAnswered = false;
  const refuse = (url: string): BaseMapFault => {
    const host = hostOf(url);
    const fault = new BaseMapFault('host', host, url.slice(0, 200));
    if (!refused.has(host)) onFault(fault);
    refused.add(host);
    return fault;
  };
  /** Without the description of a source none of its tiles is known. */
  const fail = (isDescription: boolean, detail: string): void => {
    const before = failures;
    failures += isDescription ? failuresMost : 1;
    if (!hasAnswered && before < failuresMost && failures >= failuresMost)
      onFault(new BaseMapFault('unreachable', hostOf(setting.url), detail));
  };
  return async (url, signal) => {
    if (!URL.canParse(url) || !setting.origins.includes(new URL(url).origin)) throw refuse(url);
    const isTile = tilePattern.test(url);
    const isDescription = !isTile && !sprites.some((one) => url.startsWith(one));
    try {
      const data = await ask(url, bytesMost.part, signal);
      hasAnswered ||= isTile;
      if (isDescription) onCredit(attributionIn(data));
      return data;
    } catch (thrown) {
      if (!signal.aborted) fail(isDescription, String(thrown));
      throw thrown;
    }
  };
}

const withCredit = (credit: Value<string>, text: string): void => {
  const known = credit.get();
  if (text !== '' && !known.includes(text)) credit.set(known === '' ? text : `${known} · ${text}`);
};

/**
 * Reads the style.
 * @param onFault called with a later fault: `host` while the rest is drawn, otherwise nothing can be drawn.
 * @throws BaseMapFault when it cannot be drawn.
 */
export async function openStyleMap(setting: StyleSetting, onFault: OnFault): Promise<OpenedMap> {
  const host = hostOf(setting.url);
  const bytes = await ask(setting.url, bytesMost.style).catch((thrown: unknown) => {
    throw new BaseMapFault('unreachable', host, String(thrown));
  });
  const { sources, layers, sprite, credits } = parseStyle(setting, bytes);
  const credit = createValue('');
  const onCredit = (text: string): void => withCredit(credit, text);
  for (const text of credits) onCredit(text);
  const base: BaseMap = {
    name: host,
    sources,
    ...(sprite === undefined ? {} : { sprite }),
    bounds: null,
    hasOpenData: false,
    layers: () => layers,
    isOwn: (url) => /^[a-z][a-z0-9+.-]*:/i.test(url) && !/^(data|blob):/.test(url),
    read: createReader({ setting, sprite, onFault, onCredit }),
    fail: onFault,
  };
  return { base, credit };
}
