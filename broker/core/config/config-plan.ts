// The version of a vehicle's configuration: it grows exactly when the content changes, and never falls behind the
// vehicle's, so that vehicles accept a broker that was restored from a backup. Pure.

export interface PlanFacts {
  /** What the vehicle was to hold so far; version 0: nothing was ever chosen. */
  readonly wanted: { readonly version: number; readonly sha256: string };
  /** What it says that it holds. */
  readonly held: { readonly version: number; readonly sha256: string };
  /** What was made for it now. */
  readonly made: { readonly sha256: string; readonly isEmpty: boolean };
}

/** The version of what was made. */
export function nextConfig({ wanted, held, made }: PlanFacts): number {
  // Nothing chosen, and never was: the installer's file is all there is.
  if (made.isEmpty && wanted.version === 0 && held.version === 0) return 0;
  const isWanted = wanted.version > 0 && wanted.sha256 === made.sha256;
  // A device that reports no content hash is matched by version only.
  const isSilent = held.sha256 === '' && isWanted && held.version === wanted.version;
  const isHeld = held.version > 0 && (held.sha256 === made.sha256 || isSilent);
  if (isHeld && held.version >= wanted.version) return held.version;
  if (isWanted && wanted.version > held.version) return wanted.version;
  return Math.max(wanted.version, held.version) + 1;
}
