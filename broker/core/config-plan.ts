// Which version a vehicle's configuration has: it grows exactly when the content changes, and never falls behind what the
// vehicle holds, so that a broker which was restored from a backup is not refused for ever. Pure.

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
  // Who does not say which content it holds is believed by the version alone.
  const isSilent = held.sha256 === '' && isWanted && held.version === wanted.version;
  const isHeld = held.version > 0 && (held.sha256 === made.sha256 || isSilent);
  if (isHeld && held.version >= wanted.version) return held.version;
  if (isWanted && wanted.version > held.version) return wanted.version;
  return Math.max(wanted.version, held.version) + 1;
}
