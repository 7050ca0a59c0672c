// The way of a vehicle as lines. Pure.

interface Fix {
  readonly timestamp?: number;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly isPositionValid?: boolean;
}

type Place = readonly [longitude: number, latitude: number];

/** A longer time without a position is a break, s. */
const breakS = 600;

/** Lines of at least two places, broken where nothing was reported for long. @param fixes by time of the vehicle. */
export function trackOf(fixes: readonly Fix[]): readonly (readonly Place[])[] {
  const lines: Place[][] = [];
  let lastS = Number.NEGATIVE_INFINITY;
  for (const { timestamp = 0, latitude, longitude, isPositionValid } of fixes) {
    if (isPositionValid !== true || latitude === undefined || longitude === undefined) continue;
    if (timestamp - lastS > breakS) lines.push([]);
    lines.at(-1)?.push([longitude, latitude]);
    lastS = timestamp;
  }
  return lines.filter((line) => line.length > 1);
}
