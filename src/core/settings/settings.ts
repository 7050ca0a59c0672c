// Settings of a vehicle that may change while it runs. Each table has limits and a default for every member, so a vehicle works
// without any. The installer's file gives the first values, a signed configuration of the broker may change them. Safety is not
// configured here: the interlock's limits are in the agent's `interlock-rules.ts`, the installer's own choices (wiring, modes
// of the cut-off) in the file.
import { type Static, type TObject, Type } from 'typebox';
import { Create, Errors } from 'typebox/value';
import type { ErrorDetail } from '../errors.ts';
import { alarmSettingsSchema } from './alarms.ts';
import { diagnosticsSchema } from './diagnostics.ts';
import { driverSettingsSchema } from './driver.ts';
import { fuelSettingsSchema } from './fuel.ts';
import { linkSchema } from './link.ts';
import { reportingSchema } from './reporting.ts';
import { zonesSchema } from './zones.ts';

/** One table per subject; a table holds plain members only, none of them optional without a default unless it may be absent. */
export const settingsSchema = Type.Object({
  reporting: reportingSchema,
  link: linkSchema,
  fuel: fuelSettingsSchema,
  zones: zonesSchema,
  alarms: alarmSettingsSchema,
  diagnostics: diagnosticsSchema,
  driver: driverSettingsSchema,
});

export type Settings = Static<typeof settingsSchema>;

/** Defaults. */
export const standardSettings: Settings = Create(settingsSchema);

type Table = Readonly<Record<string, unknown>>;
const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export type SettingsVerdict =
  | { readonly kind: 'ok'; readonly settings: Settings }
  | { readonly kind: 'faults'; readonly faults: readonly ErrorDetail[] };

/**
 * Lays some values over a whole set. `change` holds tables with any of their members. An unknown table or member is a fault,
 * never ignored, and so is a value outside of its limits. Faults name the place as a JSON pointer.
 */
export function overlaySettings(base: Settings, change: unknown): SettingsVerdict {
  if (!isTable(change)) return { kind: 'faults', faults: [{ pointer: '', message: 'must be an object' }] };
  const faults: ErrorDetail[] = [];
  const merged: Record<string, unknown> = { ...base };
  for (const [name, table] of Object.entries(change)) {
    const schema: TObject | undefined = Object.hasOwn(settingsSchema.properties, name)
      ? settingsSchema.properties[name as keyof Settings]
      : undefined;
    if (schema === undefined) {
      faults.push({ pointer: `/${name}`, message: `there is no table "${name}"` });
    } else if (!isTable(table)) {
      faults.push({ pointer: `/${name}`, message: 'must be an object' });
    } else {
      for (const key of Object.keys(table)) {
        if (!Object.hasOwn(schema.properties, key))
          faults.push({ pointer: `/${name}/${key}`, message: `there is no member "${key}"` });
      }
      merged[name] = { ...base[name as keyof Settings], ...table };
    }
  }
  if (faults.length > 0) return { kind: 'faults', faults };
  for (const error of Errors(settingsSchema, merged))
    faults.push({ pointer: error.instancePath, message: error.message });
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'ok', settings: merged as Settings };
}
