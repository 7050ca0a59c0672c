// Content of a vehicle's configuration: chosen settings, and the zones of the vehicle. Parsed completely or not at all: one unknown member, or one
// out of its limits, refuses the whole. It can change settings and zones only.
import { type ErrorDetail, messageOf } from '../errors.ts';
import { overlaySettings, type Settings } from '../settings/settings.ts';

/** Converts zones from their wire form; it must not throw. */
export type DecodeZones<Zone> = (
  zones: readonly unknown[],
) =>
  | { readonly kind: 'ok'; readonly zones: readonly Zone[] }
  | { readonly kind: 'faults'; readonly faults: readonly ErrorDetail[] };

export type ContentVerdict<Zone> =
  | {
      readonly kind: 'ok';
      /** All settings: the installer's, overridden by the chosen ones. */
      readonly settings: Settings;
      readonly zones: readonly Zone[];
      /** `table.member` of every member of the configuration. */
      readonly chosen: readonly string[];
    }
  | { readonly kind: 'faults'; readonly faults: readonly ErrorDetail[] };

const fault = (pointer: string, message: string): ContentVerdict<never> => ({
  kind: 'faults',
  faults: [{ pointer, message }],
});

function chosenIn(settings: unknown): readonly string[] {
  return Object.entries(settings as object).flatMap(([table, members]) =>
    Object.keys(members as object).map((member) => `${table}.${member}`),
  );
}

function read<Zone>(text: string, given: ReadOptions<Zone>): ContentVerdict<Zone> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fault('', 'must be an object');
  const unknown = Object.keys(value).find((name) => name !== 'settings' && name !== 'zones');
  if (unknown !== undefined) return fault(`/${unknown}`, `there is no member "${unknown}"`);
  const { settings = {}, zones = [] } = value as { settings?: unknown; zones?: unknown };
  if (!Array.isArray(zones)) return fault('/zones', 'must be a list');
  const laid = overlaySettings(given.base, settings);
  if (laid.kind === 'faults') {
    const faults = laid.faults.map(({ pointer, message }) => ({ pointer: `/settings${pointer}`, message }));
    return { kind: 'faults', faults };
  }
  const decoded = given.decodeZones(zones as readonly unknown[]);
  if (decoded.kind === 'faults') {
    const faults = decoded.faults.map(({ pointer, message }) => ({ pointer: `/zones${pointer}`, message }));
    return { kind: 'faults', faults };
  }
  return { kind: 'ok', settings: laid.settings, zones: decoded.zones, chosen: chosenIn(settings) };
}

interface ReadOptions<Zone> {
  /** Settings of the installer. */
  readonly base: Settings;
  readonly decodeZones: DecodeZones<Zone>;
}

/** Reads a configuration; faults name the place as a JSON pointer. Never throws. */
export function readConfigContent<Zone>(text: string, given: ReadOptions<Zone>): ContentVerdict<Zone> {
  try {
    return read(text, given);
  } catch (thrown) {
    return fault('', `cannot be read: ${messageOf(thrown)}`);
  }
}
