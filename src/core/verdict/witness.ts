// Witnesses of standstill and of an engine at rest: their names, and the states that a vehicle reports.

/** Sensors that measure the vehicle (gnss, motion) or its engine (ignition, rpm, voltage); append only. */
export const witnessNames = ['gnss', 'motion', 'ignition', 'rpm', 'voltage'] as const;
export type WitnessName = (typeof witnessNames)[number];

/**
 * `absent`: not fitted. `unproven`: never seen to change in step with an independent witness. `proven`. `stale`: was proven, but may have missed a
 * drive since. `contradicted`: an independent witness disagreed since. `suspended`: proven, but its present claim does not count until it was seen
 * active (after a restart, a lost board, a common-cause loss, chatter).
 */
export const witnessStates = ['absent', 'unproven', 'proven', 'stale', 'contradicted', 'suspended'] as const;
export type WitnessState = (typeof witnessStates)[number];

export type WitnessStates = Readonly<Record<WitnessName, WitnessState>>;

/** Witnesses of a hello message; null: incomplete or invalid. */
export function witnessesFrom(value: unknown): WitnessStates | null {
  if (typeof value !== 'object' || value === null) return null;
  const known = value as Readonly<Record<string, unknown>>;
  const entries = witnessNames.map(
    (name) => [name, witnessStates.find((state) => state === known[name])] as const,
  );
  return entries.some(([, state]) => state === undefined)
    ? null
    : (Object.fromEntries(entries) as unknown as WitnessStates);
}
