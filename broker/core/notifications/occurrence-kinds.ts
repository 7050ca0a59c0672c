// What rules notify of besides events of vehicles: occurrences that the service itself records of a device. Data.

const texts = {
  device_offline: 'Device offline',
  device_online: 'Device online again',
  command_expired: 'Command expired',
  command_refused: 'Command refused',
  approval_requested: 'Cut waits for approval',
  approval_granted: 'Cut approved',
  approval_refused: 'Cut not approved',
  approval_expired: 'Approval expired',
  update_failed: 'Update failed',
  device_enrolled: 'Device enrolled',
  clone_suspected: 'Two units seem to have one identity',
  data_unreadable: 'Data of a unit cannot be read',
  certificate_expiring: 'Certificate expires soon',
} as const;

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
