// What rules notify of besides events of vehicles: occurrences that the service itself records of a device. Data.
import { kindsTexts as texts } from '../../../build/words/kinds/en.ts';

export type OccurrenceKind = keyof typeof texts;

/** In the order in which the documentation lists them. */
export const occurrenceKinds = Object.keys(texts) as readonly OccurrenceKind[];

/** The kind of that name; null for none. */
export function parseKind(name: string | null): OccurrenceKind | null {
  return name !== null && Object.hasOwn(texts, name) ? (name as OccurrenceKind) : null;
}

/** For people. */
export function kindText(kind: OccurrenceKind): string {
  return texts[kind];
}

/** Those that depend on how long a rule waits for a device that is offline. */
export const absenceKinds: readonly OccurrenceKind[] = ['device_offline', 'device_online'];

/** The kind that ends an episode of this one; null when none does. */
export function endOf(kind: OccurrenceKind): OccurrenceKind | null {
  if (kind === 'device_offline') return 'device_online';
  return kind === 'device_online' ? 'device_offline' : null;
}
