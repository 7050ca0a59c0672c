// A change of settings: tables with any of their members, as saved for an account or a device and as sent to a
// vehicle. A missing member keeps the value of the vehicle's own file. Pure.
import { type TObject, Type } from 'typebox';
import { type Settings, settingsSchema } from './settings.ts';

/** Some members of some tables. */
export type SettingsChange = {
  readonly [Table in keyof Settings]?: Readonly<Partial<Settings[Table]>>;
};

type Tables = Readonly<Record<string, TObject>>;

function partial(tables: Tables) {
  const choices = Object.entries(tables).map(
    ([name, table]) => [name, Type.Optional(Type.Partial(table, { additionalProperties: false }))] as const,
  );
  return Type.Object(Object.fromEntries(choices), {
    additionalProperties: false,
    description: 'Tables of settings with the members that were chosen',
  });
}

/** The schema of a choice, made from the tables: a new table is in it by being there. */
export const settingsChangeSchema = Type.Unsafe<SettingsChange>(partial(settingsSchema.properties));

/** Lays one choice over another, member by member. */
export function mergeChanges(under: SettingsChange, over: SettingsChange): SettingsChange {
  const names = [...new Set([...Object.keys(under), ...Object.keys(over)])] as (keyof Settings)[];
  const merged = names.map((name) => [name, { ...under[name], ...over[name] }] as const);
  return Object.fromEntries(merged.filter(([, table]) => Object.keys(table).length > 0));
}
