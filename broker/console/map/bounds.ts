// The smallest box around places, in the form that MapLibre takes. Pure.

export type Corners = [southWest: [number, number], northEast: [number, number]];

/** Null: there is no place. @param places longitude and latitude of each. */
export function boundsOf(places: Iterable<readonly number[]>): Corners | null {
  const [southWest, northEast]: Corners = [
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
  ];
  for (const [longitude = 0, latitude = 0] of places) {
    southWest[0] = Math.min(southWest[0], longitude);
    southWest[1] = Math.min(southWest[1], latitude);
    northEast[0] = Math.max(northEast[0], longitude);
    northEast[1] = Math.max(northEast[1], latitude);
  }
  return southWest[0] > northEast[0] ? null : [southWest, northEast];
}
