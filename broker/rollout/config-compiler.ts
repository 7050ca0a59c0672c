// Makes what a vehicle is sent: the settings chosen for it and its account's geozones as one canonical text, hashed,
// deflated and cut. Vehicles with the same choice share the work; what is kept for that is bounded, and long lists are read
// in pieces, so that nothing here holds up the vehicles.
import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync } from 'node:zlib';
import { canonicalJson } from '../../src/core/canonical-json.ts';
import type { SettingsChange } from '../../src/core/settings/change.ts';
import { configLimits, packedBytesMost, splitPacked } from '../../src/core/wire/config-message.ts';
import type { Database } from '../../src/ports.ts';
import { type GeozoneRow, listGeozones } from '../store/geozones/geozones.ts';
import type { EncodeZones } from './config-zones.ts';

/** A configuration ready to be signed for a vehicle. */
export interface CompiledConfig {
  readonly kind: 'ok';
  readonly sha256: string;
  /** Base64 of the deflated text in parts. */
  readonly slices: readonly string[];
  /** True when it says nothing: no setting chosen, no zone. */
  readonly isEmpty: boolean;
}

export type CompileVerdict = CompiledConfig | { readonly kind: 'fault'; readonly fault: string };

const pageRows = 500;
/** A text that is longer is deflated on another thread. */
const atOnceBytes = 64 * 1024;
/** Texts of zones, and finished configurations, that are kept. */
const keptTexts = 8;
const keptConfigs = 64;
/** Base64 characters of all configurations that are kept. */
const keptCharacters = 16 * 1024 * 1024;

const deflateLater = promisify(deflateRaw);

interface ZonesRequest {
  readonly accountID: string;
  /** A geozone as it is to be, in place of the one of that id. */
  readonly instead?: GeozoneRow;
}

/** The account's zones as canonical JSON, read page by page. */
export async function readZonesText(
  db: Database,
  encode: EncodeZones,
  request: ZonesRequest,
): Promise<string> {
  const { accountID, instead } = request;
  const texts: string[] = [];
  const add = (rows: readonly GeozoneRow[]): void => {
    for (const zone of encode(rows)) texts.push(canonicalJson(zone));
  };
  let after = '';
  for (;;) {
    const rows = await listGeozones(db, { accountID, after, limit: pageRows });
    add(rows.filter(({ geozoneID }) => geozoneID !== instead?.geozoneID));
    after = rows.at(-1)?.geozoneID ?? '';
    if (rows.length < pageRows) break;
    await turn();
  }
  if (instead !== undefined) add([instead]);
  return `[${texts.join(',')}]`;
}

const kib = (bytes: number): string => `${Math.ceil(bytes / 1024)} KiB`;

/**
 * Hashes, deflates and cuts a configuration; a fault as text when it is too long for a vehicle.
 * @param spareBytes that are to be left below the limits.
 */
export async function packConfig(
  settings: SettingsChange,
  zonesText: string,
  spareBytes = 0,
): Promise<CompileVerdict> {
  const settingsText = canonicalJson(settings);
  const text = Buffer.from(`{"settings":${settingsText},"zones":${zonesText}}`);
  if (text.length + spareBytes > configLimits.wholeBytes) {
    const fault = `the configuration of a vehicle would have ${kib(text.length)}; ${kib(configLimits.wholeBytes)} is the most`;
    return { kind: 'fault', fault };
  }
  const packed = text.length <= atOnceBytes ? deflateRawSync(text) : await deflateLater(text);
  if (packed.length + spareBytes > packedBytesMost) {
    const fault = `the configuration of a vehicle would have ${kib(packed.length)} packed; ${kib(packedBytesMost)} is the most`;
    return { kind: 'fault', fault };
  }
  return {
    kind: 'ok',
    sha256: createHash('sha256').update(text).digest('hex'),
    slices: splitPacked(packed.toString('base64')),
    isEmpty: settingsText === '{}' && zonesText === '[]',
  };
}

/** Keeps the values used last. */
function createKept<T>(most: number) {
  const values = new Map<string, T>();
  return {
    get(key: string): T | undefined {
      const value = values.get(key);
      if (value === undefined) return undefined;
      values.delete(key);
      values.set(key, value);
      return value;
    },
    put(key: string, value: T): void {
      values.delete(key);
      values.set(key, value);
      const [oldest] = values.keys();
      if (values.size > most && oldest !== undefined) values.delete(oldest);
    },
    clear: (): void => values.clear(),
  };
}

export interface ConfigCompiler {
  /** @param revision of everything that the account's vehicles are sent, read before the call. */
  compile(
    account: { readonly accountID: string; readonly revision: number },
    settings: SettingsChange,
  ): Promise<CompileVerdict>;
}

/** A compiler with nothing kept yet. */
export function createConfigCompiler(db: Database, encode: EncodeZones): ConfigCompiler {
  const zoneTexts = createKept<string>(keptTexts);
  const configs = createKept<CompileVerdict>(keptConfigs);
  let characters = 0;
  const zonesTextOf = async (accountID: string, revision: number): Promise<string> => {
    const key = `${accountID} ${revision}`;
    const kept = zoneTexts.get(key);
    if (kept !== undefined) return kept;
    const text = await readZonesText(db, encode, { accountID });
    zoneTexts.put(key, text);
    return text;
  };
  return {
    async compile({ accountID, revision }, settings) {
      const key = `${accountID} ${revision} ${canonicalJson(settings)}`;
      const kept = configs.get(key);
      if (kept !== undefined) return kept;
      const verdict = await packConfig(settings, await zonesTextOf(accountID, revision));
      characters += verdict.kind === 'ok' ? verdict.slices.reduce((sum, slice) => sum + slice.length, 0) : 0;
      if (characters > keptCharacters) {
        configs.clear();
        characters = 0;
      }
      configs.put(key, verdict);
      return verdict;
    },
  };
}
